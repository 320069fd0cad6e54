"""Counts that are floats: exact while they are whole, up to rounding otherwise.

Whole numbers up to 2**53 add and subtract exactly. Fractional weights round in
the last bits, differently in every order of the rows; counts that differ by no
more than that are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Counts of fractional weights that differ by less than this share are the same.
ROUNDING = 1e-12


def difference(a: FloatArray, b: FloatArray) -> FloatArray:
    """``a - b``, zero where only rounding is left.

    >>> difference(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 2.0]))
    array([0., 1.])
    """
    out = a - b
    out[_rounded(a, b, out)] = 0.0
    return out


def same(a: FloatArray, b: FloatArray) -> bool:
    """Whether two arrays are equal up to rounding.

    >>> same(np.array([0.1 + 0.2]), np.array([0.3])), same(np.array([3e12]), np.array([3e12 + 1]))
    (True, False)
    """
    out = a - b
    return not out.any() or not out[~_rounded(a, b, out)].any()


def _rounded(a: FloatArray, b: FloatArray, difference: FloatArray) -> NDArray[np.bool_]:
    """Where a difference that is not zero may come from rounding alone."""
    tiny = np.abs(difference) <= ROUNDING * np.maximum(a, b)
    tiny &= difference != 0
    if tiny.any():
        tiny &= ~(_exact(a) & _exact(b))
    return tiny


def _exact(amount: FloatArray) -> NDArray[np.bool_]:
    return np.asarray((amount == np.floor(amount)) & (amount < 2.0**53))
