"""Descent: from point to point along directions, each step damped until it lowers the objective.

``minimise`` is Newton's method where the direction is ``-H**-1 g``, exactly or nearly: a caller
brings the objective and the direction. The step is the direction itself, halved until Armijo's
rule holds: a decrease of at least a small share of what the gradient predicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: A predicted decrease of this share of the objective cannot be told from rounding.
ROUNDING_SHARE = 1e-15
#: Armijo's constant: the share of the predicted decrease that a step must bring.
ARMIJO_SHARE = 1e-4
#: A step is halved no more often.
MAX_HALVINGS = 60


class Point(Protocol):
    """Where a descent is; an objective's points may hold more, such as what its Hessian needs."""

    @property
    def W(self) -> FloatArray:
        """The coefficients."""

    @property
    def value(self) -> float:
        """The objective there."""

    @property
    def gradient(self) -> FloatArray:
        """Its derivatives, shaped like W."""


P = TypeVar("P", bound=Point)


class Objective(Protocol[P]):
    """A smooth convex function of coefficients."""

    def at(self, W: FloatArray) -> P:
        """The function and its gradient at W."""

    def steepness(self, point: P) -> float:
        """How large the gradient is, in the unit of the tolerance."""


@dataclass(frozen=True, eq=False)
class Solution(Generic[P]):
    """Where a solver ended, after how many iterations, and whether that is the optimum."""

    point: P
    n_iter: int
    converged: bool


def minimise(
    objective: Objective[P],
    start: FloatArray,
    tol: float,
    max_iter: int,
    direction: Callable[[P], FloatArray],
    min_decrease: float = 0.0,
) -> Solution[P]:
    """Descend from ``start`` along ``direction(point)`` until the steepness is at most ``tol``.

    Other ends that count as the optimum: the predicted decrease is no more than rounding, or
    a step lowered the objective by less than ``min_decrease``.

    >>> from deciban.logistic.solvers import Prior, Problem
    >>> from deciban.logistic.solvers.dense import Dense
    >>> problem = Problem(Dense(np.array([[-1.0], [1.0]])), np.array([0, 1]), Prior.l2(1, 1, 1))
    >>> solution = minimise(problem, np.zeros((2, 1)), 1e-8, 50, lambda point: -point.gradient)
    >>> solution.converged, solution.point.W.round(4)[0]
    (True, array([0.6748]))
    """
    point = objective.at(start)
    for n_iter in range(max_iter):
        if objective.steepness(point) <= tol:
            return Solution(point, n_iter, True)
        step = direction(point)
        if negligible(point, step):
            return Solution(point, n_iter, True)
        new = line_search(objective, point, step)
        if new is None:
            return Solution(point, n_iter, False)
        decrease, point = point.value - new.value, new
        if decrease < min_decrease:
            return Solution(point, n_iter + 1, True)
    return Solution(point, max_iter, objective.steepness(point) <= tol)


def predicted_decrease(point: Point, step: FloatArray) -> float:
    """The decrease along a step if the objective went on as steeply as it begins: ``-g' step``."""
    return -float(np.vdot(point.gradient, step))


def negligible(point: Point, step: FloatArray) -> bool:
    """Whether the predicted decrease of a step is no more than rounding."""
    return predicted_decrease(point, step) <= ROUNDING_SHARE * abs(point.value)


def line_search(
    objective: Objective[P],
    point: P,
    direction: FloatArray,
    size: float = 1.0,
    slack: float = 10 * ROUNDING_SHARE,
) -> P | None:
    """The first of the steps ``size * direction`` by halves that satisfies Armijo's rule, or None.

    ``slack``, a share of the objective, is what rounding may add to it.

    >>> from deciban.logistic.solvers import Prior, Problem
    >>> from deciban.logistic.solvers.dense import Dense
    >>> problem = Problem(Dense(np.ones((1, 1))), np.array([0]), Prior.l2(1.0, 1, 1))
    >>> start = problem.at(np.zeros((2, 1)))
    >>> line_search(problem, start, -start.gradient).value < start.value
    True
    """
    predicted = predicted_decrease(point, direction)
    for _ in range(MAX_HALVINGS):
        new = objective.at(point.W + size * direction)
        if new.value <= point.value - ARMIJO_SHARE * size * predicted + slack * abs(point.value):
            return new
        size /= 2
    return None
