"""Gradient descent with backtracking: the textbook's method, to hold the others against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.problem import Problem
from deciban.logistic.solvers.stopping import Solution, advance, negligible

FloatArray = NDArray[np.float64]

#: Where rounding hides any further descent, so small a gradient is as good as none.
CLOSE = 1e-7


def solve(problem: Problem, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """Step against the gradient; the size doubles after a step and halves until one succeeds."""
    point, size = problem.at(start), 1.0 / max(1.0, problem.total)
    for n_iter in range(max_iter):
        if problem.steepness(point) <= tol:
            return Solution(point, n_iter, True)
        size *= 2
        new = advance(problem, point, -point.gradient, size, slack=0.0)
        if new is None or negligible(point, new.W - point.W):
            return Solution(point, n_iter, problem.steepness(point) <= max(tol, CLOSE))
        moved, along = new.W - point.W, -point.gradient
        size = float(np.vdot(moved, along) / np.vdot(along, along))
        point = new
    return Solution(point, max_iter, problem.steepness(point) <= tol)
