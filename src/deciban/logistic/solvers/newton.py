"""Newton's method with a Cholesky factor: few iterations, each with the whole Hessian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from deciban.logistic.solvers.conjugate_gradient import Operator
from deciban.logistic.solvers.descent import Solution, minimise
from deciban.logistic.solvers.problem import LogisticPoint, Problem, too_large

FloatArray = NDArray[np.float64]

#: Curvature of less than this share of the largest is rounding.
FLAT_SHARE = 1e-9
#: A Hessian serves another step while the last one left less than this share of the steepness.
REUSE_SHARE = 0.1
#: The least diagonal of a Cholesky factor, of a matrix of unit diagonal, that has full rank.
MIN_FACTOR_DIAGONAL = 1e-8
#: The first ridge that is added to a Hessian without full rank.
FIRST_RIDGE = 1e-10


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """Step by ``-H**-1 g`` until the gradient vanishes.

    Near the optimum a Hessian hardly changes, and one of a point before serves as well.
    """
    steepness = 0.0
    inverse: Operator | None = None

    def direction(point: LogisticPoint) -> FloatArray:
        nonlocal steepness, inverse
        before, steepness = steepness, problem.steepness(point)
        if inverse is None or steepness > REUSE_SHARE * before:
            inverse = inverse_hessian(problem, point)
        return -inverse(point.gradient)

    return minimise(problem, start, tol, max_iter, direction)


def inverse_hessian(problem: Problem, point: LogisticPoint) -> Operator:
    """``H**-1`` as a function of matrices of the shape of W.

    Directions in which the objective is flat (one amount added to the logits of all classes,
    or coefficients that neither rows nor penalty determine) are given some curvature: the
    gradient has no part in them.
    """
    shape = point.W.shape
    hessian = _curve_shared_directions(problem.hessian(point), shape)
    diagonal = np.einsum("ii->i", hessian)
    unit = np.sqrt(np.maximum(diagonal, np.finfo(np.float64).tiny))
    hessian /= unit[:, None]
    hessian /= unit
    factor = _cholesky(hessian)
    return lambda g: (cho_solve(factor, g.ravel() / unit) / unit).reshape(shape)


def _curve_shared_directions(hessian: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Add curvature where all logits of a column move together: softmax is blind to it."""
    width, m = shape
    if m > 1:
        blocks = hessian.reshape(width, m, width, m)
        for j in range(width):
            block = blocks[j, :, j, :]
            if block.sum() <= FLAT_SHARE * np.trace(block):
                block += np.trace(block) / m**2
    return hessian


def _cholesky(hessian: FloatArray) -> tuple[FloatArray, bool]:
    """The factor of a matrix of unit diagonal, with as much ridge as it takes."""
    if not np.isfinite(hessian).all():  # no ridge is enough
        raise too_large()
    ridge = 0.0
    while True:
        try:
            factor: tuple[FloatArray, bool] = cho_factor(hessian, check_finite=False)
            # LAPACK may let a factor without full rank pass.
            if np.min(np.diagonal(factor[0]), initial=1.0) > MIN_FACTOR_DIAGONAL:
                return factor
        except LinAlgError:
            pass
        more = max(FIRST_RIDGE, 10 * ridge)
        np.einsum("ii->i", hessian)[:] += more - ridge
        ridge = more
