"""When a solver may stop, and how far it goes along a direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.problem import Point, Problem

FloatArray = NDArray[np.float64]

#: An expected decrease of this share of the objective cannot be told from rounding.
ROUNDING = 1e-15
#: The least share of the decrease that the gradient promises (Armijo's rule).
SUFFICIENT = 1e-4
MOST_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Solution:
    """Where a solver ended, after how many iterations, and whether that is the optimum."""

    point: Point
    n_iter: int
    converged: bool


def promised(point: Point, step: FloatArray) -> float:
    """The decrease that the gradient promises along a step."""
    return -float(np.vdot(point.gradient, step))


def negligible(point: Point, step: FloatArray) -> bool:
    """Whether a step promises no more than rounding."""
    return promised(point, step) <= ROUNDING * abs(point.value)


def advance(
    problem: Problem,
    point: Point,
    step: FloatArray,
    size: float = 1.0,
    slack: float = 10 * ROUNDING,
) -> Point | None:
    """The first point along the step that is sufficiently lower, halving; None if there is none.

    ``slack``, a share of the objective, is what rounding may add to it.

    >>> from deciban.logistic.solvers import Prior
    >>> from deciban.logistic.solvers.dense import Dense
    >>> flat = Problem(Dense(np.ones((1, 1))), np.array([0]), Prior.l2(1.0, 1, 1))
    >>> start = flat.at(np.zeros((2, 1)))
    >>> advance(flat, start, -start.gradient).value < start.value
    True
    """
    slope = promised(point, step)
    for _ in range(MOST_HALVINGS):
        new = problem.at(point.W + size * step)
        if new.value <= point.value - SUFFICIENT * size * slope + slack * abs(point.value):
            return new
        size /= 2
    return None


def stepped(
    problem: Problem,
    start: FloatArray,
    tol: float,
    max_iter: int,
    step: Callable[[Point], FloatArray],
) -> Solution:
    """Go step by step until the gradient vanishes, or a step promises no more than rounding."""
    point = problem.at(start)
    for n_iter in range(max_iter):
        if problem.steepness(point) <= tol:
            return Solution(point, n_iter, True)
        along = step(point)
        if negligible(point, along):
            return Solution(point, n_iter, True)
        new = advance(problem, point, along)
        if new is None:
            return Solution(point, n_iter, False)
        point = new
    return Solution(point, max_iter, problem.steepness(point) <= tol)
