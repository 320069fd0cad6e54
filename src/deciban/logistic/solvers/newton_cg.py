"""Newton's method with conjugate gradients: the Hessian is never held.

The direction is found by conjugate gradients on ``H step = -g``, which end as soon as another
product would not lower the quadratic model much (Nash and Sofer's rule). They are preconditioned
by the Hessian's diagonal, or by whatever inverse a caller has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.conjugate_gradient import Operator, Progress, conjugate_gradient
from deciban.logistic.solvers.descent import Solution, minimise
from deciban.logistic.solvers.problem import LogisticPoint, Problem

FloatArray = NDArray[np.float64]
#: Makes an approximate inverse of the Hessian at a point.
Preconditioner = Callable[[Problem, LogisticPoint], Operator]

#: The products with the Hessian that one direction may take.
MAX_PRODUCTS = 200
#: Another product must lower the model by this share of the mean decrease so far.
MIN_DECREASE_SHARE = 0.1


def diagonal_preconditioner(problem: Problem, point: LogisticPoint) -> Operator:
    """Division by the Hessian's diagonal."""
    diagonal = problem.hessian_diagonal(point)
    inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
    return lambda r: r * inverse


def solve(
    problem: Problem,
    start: FloatArray,
    tol: float,
    max_iter: int,
    preconditioner: Preconditioner = diagonal_preconditioner,
) -> Solution[LogisticPoint]:
    """Step by an approximate ``-H**-1 g`` until the gradient vanishes."""

    def direction(point: LogisticPoint) -> FloatArray:
        return newton_direction(problem, point, preconditioner(problem, point))

    return minimise(problem, start, tol, max_iter, direction)


def newton_direction(problem: Problem, point: LogisticPoint, precondition: Operator) -> FloatArray:
    """An approximate ``-H**-1 g``; the preconditioned gradient where that finds no curvature."""

    def product(p: FloatArray) -> FloatArray:
        return problem.hessian_product(point, p)

    b = -point.gradient
    step = conjugate_gradient(product, b, precondition, gains_little, MAX_PRODUCTS)
    return step if step.any() else precondition(b)


def gains_little(at: Progress) -> bool:
    """Nash and Sofer's rule: the last decrease is small beside the mean of all."""
    return at.n_iter > 0 and at.n_iter * at.decrease <= MIN_DECREASE_SHARE * at.total
