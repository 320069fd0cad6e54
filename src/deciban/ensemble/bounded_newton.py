"""Newton's method for a few numbers that may not fall below zero.

Of a convex function: numbers at zero that would fall below it stay there, the others take the
Newton step as if these were fixed (Bertsekas, 1982), halved until the function falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Five or six are the rule.
MAX_STEPS = 100
#: A step is no shorter than this share of Newton's.
MIN_STEP_SHARE = 2.0**-30
#: The share of the decrease that the slope promises by which the function must fall.
MIN_DECREASE_SHARE = 1e-4


class Derivatives(NamedTuple):
    """The value of a function, its gradient, (n,), and its Hessian, (n, n)."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


def newton_above_zero(
    derivatives: Callable[[FloatArray], Derivatives], start: FloatArray, min_decrease: float
) -> FloatArray:
    """Where a convex function is least among numbers that are not below zero.

    Ends with the step that promises to lower the function by no more than ``min_decrease``.

    >>> def bowl(x):                                         # least at 1 and -1
    ...     residual = x - np.array([1.0, -1.0])
    ...     return Derivatives(float(residual @ residual) / 2, residual, np.eye(2))
    >>> newton_above_zero(bowl, np.ones(2), 1e-12)
    array([1., 0.])
    """
    x, at = start, derivatives(start)
    for _ in range(MAX_STEPS):
        free = (x > 0) | (at.gradient < 0)
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(at.hessian[np.ix_(free, free)], at.gradient[free])
        if -float(step @ at.gradient) <= min_decrease:
            return np.maximum(x + step, 0.0)
        x, at = _descend(derivatives, x, at, step)
    return x


def _descend(
    derivatives: Callable[[FloatArray], Derivatives],
    x: FloatArray,
    at: Derivatives,
    step: FloatArray,
) -> tuple[FloatArray, Derivatives]:
    """The point after as much of a step as lowers the function, and its derivatives there."""
    share = 1.0
    while share >= MIN_STEP_SHARE:
        new = np.maximum(x + share * step, 0.0)
        there = derivatives(new)
        if there.value <= at.value + MIN_DECREASE_SHARE * float(at.gradient @ (new - x)):
            return new, there
        share /= 2
    return x, at
