"""Newton's method whose step is found by conjugate gradients: no Hessian is held.

The step is cut short as soon as another product would not lower the quadratic
model much (Nash and Sofer's rule), and the search is preconditioned: by the
Hessian's diagonal, or by whatever inverse a caller has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.newton import Solve
from deciban.logistic.solvers.problem import Point, Problem
from deciban.logistic.solvers.stopping import Solution, stepped

FloatArray = NDArray[np.float64]
Preconditioner = Callable[[Problem, Point], Solve]

#: The products that one step may take.
MOST_PRODUCTS = 200
#: Another product must lower the model by this share of the mean decrease so far.
WORTH = 0.1


def solve(
    problem: Problem,
    start: FloatArray,
    tol: float,
    max_iter: int,
    preconditioner: Preconditioner | None = None,
) -> Solution:
    """Step by an approximate ``H**-1 g`` until the gradient vanishes."""

    def step(point: Point) -> FloatArray:
        return newton_step(problem, point, (preconditioner or by_diagonal)(problem, point))

    return stepped(problem, start, tol, max_iter, step)


def by_diagonal(problem: Problem, point: Point) -> Solve:
    """Division by the Hessian's diagonal."""
    diagonal = problem.diagonal(point)
    inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
    return lambda g: g * inverse


def newton_step(problem: Problem, point: Point, precondition: Solve) -> FloatArray:
    """Conjugate gradients on ``H step = -g``."""
    step = np.zeros_like(point.W)
    left = -point.gradient
    search = precondition(left)
    size = float(np.vdot(left, search))
    model = 0.0
    for n in range(1, MOST_PRODUCTS + 1):
        bent = problem.product(point, search)
        curvature = float(np.vdot(search, bent))
        if curvature <= 0:  # flat to rounding
            return search if n == 1 else step
        along = size / curvature
        step += along * search
        left -= along * bent
        gain = along * size / 2
        model += gain
        if n * gain <= WORTH * model:
            break
        turned = precondition(left)
        size, before = float(np.vdot(left, turned)), size
        search = turned + (size / before) * search
    return step
