"""Newton's method with a Cholesky factor: few iterations, each with the whole Hessian."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from deciban.logistic.solvers.problem import Point, Problem
from deciban.logistic.solvers.stopping import Solution, stepped

FloatArray = NDArray[np.float64]
Solve = Callable[[FloatArray], FloatArray]

#: Less curvature than this share is rounding.
FLAT = 1e-9
#: A Hessian is kept for another step while the last one left less than this share of the gradient.
KEPT = 0.1


def solve(problem: Problem, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """Step by ``H**-1 g`` until the gradient vanishes.

    Near the optimum a Hessian hardly changes, and one of a point before serves as well.
    """
    steep = 0.0
    kept: Solve | None = None

    def step(point: Point) -> FloatArray:
        nonlocal steep, kept
        before, steep = steep, problem.steepness(point)
        if kept is None or steep > KEPT * before:
            kept = inverse(problem, point)
        return -kept(point.gradient)

    return stepped(problem, start, tol, max_iter, step)


def inverse(problem: Problem, point: Point) -> Solve:
    """The inverse of the Hessian, as a function.

    Directions in which the objective is flat (the same amount added to the
    score of every class, or coefficients that no row and no penalty speaks of)
    are given some curvature: the gradient has no part in them.
    """
    shape = point.W.shape
    hessian = _without_flat_directions(problem.hessian(point), shape)
    diagonal = np.einsum("ii->i", hessian)
    unit = np.sqrt(np.maximum(diagonal, np.finfo(np.float64).tiny))
    hessian /= unit[:, None]
    hessian /= unit
    factor = _factor(hessian)
    return lambda g: (cho_solve(factor, g.ravel() / unit) / unit).reshape(shape)


def _without_flat_directions(hessian: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Add curvature where all classes of a column move together: softmax does not see it."""
    width, m = shape
    if m > 1:
        blocks = hessian.reshape(width, m, width, m)
        for j in range(width):
            block = blocks[j, :, j, :]
            if block.sum() <= FLAT * np.trace(block):
                block += np.trace(block) / m**2
    return hessian


def _factor(hessian: FloatArray) -> tuple[FloatArray, bool]:
    ridge = 0.0
    while True:
        try:
            factor: tuple[FloatArray, bool] = cho_factor(hessian, check_finite=False)
            # A factor without rank is no use, though LAPACK may let it pass.
            if np.min(np.diagonal(factor[0]), initial=1.0) > 1e-8:
                return factor
        except LinAlgError:
            pass
        more = max(1e-10, 10 * ridge)
        np.einsum("ii->i", hessian)[:] += more - ridge
        ridge = more
