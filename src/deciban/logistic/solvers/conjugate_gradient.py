"""Preconditioned conjugate gradients: ``A x = b`` by products with A alone.

The symbols are the textbook's (Golub and Van Loan, "Matrix Computations", 11.5): x the
solution so far, r the residual ``b - A x``, z the preconditioned residual ``M**-1 r``, p the
search direction, alpha the step along it, beta how much of the last direction is kept.

A is symmetric and positive definite. So it need be only on a subspace that the preconditioner
maps residuals into: with a constraint preconditioner, the loop solves a saddle point system
(Gould, Hribar and Nocedal, 2001), given a start that satisfies the constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: A linear map as a function: the product with a matrix, or with an inverse.
Operator = Callable[[FloatArray], FloatArray]


class Progress(NamedTuple):
    """How far the iteration has come, for a stopping rule.

    ``decrease`` is what the last iteration, ``total`` what all of them took from the quadratic
    model ``1/2 x' A x - b' x``.
    """

    n_iter: int
    x: FloatArray
    r: FloatArray
    decrease: float
    total: float


def conjugate_gradient(
    product: Operator,
    b: FloatArray,
    precondition: Operator,
    stop: Callable[[Progress], bool],
    max_iter: int,
    start: FloatArray | None = None,
) -> FloatArray:
    """The x with ``A x = b``, of the shape of b, to the accuracy that ``stop`` asks for.

    ``product`` is A, ``precondition`` is ``M**-1``. Where rounding leaves a direction without
    curvature, x is what was reached before.

    >>> A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> conjugate_gradient(lambda v: A @ v, b, lambda r: r / 2, lambda at: False, 2).ravel()
    array([1., 2.])
    """
    x = np.zeros_like(b) if start is None else start
    r = b if start is None else b - product(start)
    p, rz = np.zeros_like(b), 1.0  # no direction before the first, so beta is of no effect then
    decrease = total = 0.0
    for n_iter in range(max_iter):
        if stop(Progress(n_iter, x, r, decrease, total)):
            break
        z = precondition(r)
        rz, before = dot(r, z), rz  # the squared residual, in the norm of M**-1
        if rz <= 0:  # solved: what is left of r are multipliers of constraints, and z has them
            return x + z
        beta = rz / before  # makes p conjugate to the directions before: p' A p_before = 0
        p = z + beta * p
        Ap = product(p)
        curvature = dot(p, Ap)
        if curvature <= 0:
            break
        alpha = rz / curvature  # the minimum of the quadratic model along p
        x = x + alpha * p
        r = r - alpha * Ap
        decrease = alpha * rz / 2
        total += decrease
    return x


def dot(a: FloatArray, b: FloatArray) -> float:
    """The sum of the products of two matrices, number by number.

    Without BLAS, which would wake its threads for so little.

    >>> dot(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    11.0
    """
    return float(np.einsum("ij,ij->", a, b))
