"""Gradient descent with backtracking: the textbook's method, to hold the others against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.descent import Solution, line_search, negligible
from deciban.logistic.solvers.problem import LogisticPoint, Problem

FloatArray = NDArray[np.float64]

#: Where rounding hides any further descent, so small a steepness is as good as none.
ROUNDING_STEEPNESS = 1e-7


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """Step against the gradient; the size doubles after a step and halves until one succeeds."""
    point, size = problem.at(start), 1.0 / max(1.0, problem.total)
    for n_iter in range(max_iter):
        if problem.steepness(point) <= tol:
            return Solution(point, n_iter, True)
        direction = -point.gradient
        new = line_search(problem, point, direction, 2 * size, slack=0.0)
        if new is None or negligible(point, new.W - point.W):
            close = problem.steepness(point) <= max(tol, ROUNDING_STEEPNESS)
            return Solution(point, n_iter, close)
        size = float(np.vdot(new.W - point.W, direction) / np.vdot(direction, direction))
        point = new
    return Solution(point, max_iter, problem.steepness(point) <= tol)
