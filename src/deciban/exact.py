"""Sums of floats that never round.

An :class:`ExactSum` is an array of wide fixed-point numbers (see
``kernels/exact.pyx``). Adding and subtracting them is integer arithmetic, so
the sums do not depend on the order of the rows, and what was added can be
taken away again without a trace, at any scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import exact as kernel

Digits = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExactSum:
    """Wide numbers: ``sum_i digits[..., i] * 2**(32 * (base + i))``.

    >>> big, small = ExactSum.of([1e300]), ExactSum.of([1e-300])
    >>> (big + small - big).floats()
    array([1.e-300])
    """

    digits: Digits
    base: int

    @classmethod
    def of(cls, values: object) -> ExactSum:
        """The exact value of finite floats or integers."""
        floats = np.ascontiguousarray(values, dtype=np.float64)
        digits, base = kernel.from_floats(floats.ravel())
        return cls(digits.reshape(*floats.shape, -1), base).carried()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of numbers."""
        return self.digits.shape[:-1]

    def carried(self) -> ExactSum:
        """The same numbers in as few digits as they need; all but the last in 0 .. 2**32 - 1."""
        length = self.digits.shape[-1]
        digits = np.zeros((*self.shape, length + 2), dtype=np.int64)
        digits[..., :length] = self.digits
        flat = digits.reshape(-1, length + 2)
        kernel.carried(flat)
        used = np.flatnonzero(flat.any(axis=0))
        if not len(used):
            return ExactSum(np.zeros((*self.shape, 1), dtype=np.int64), 0)
        first, last = int(used[0]), int(used[-1])
        while last > first and np.all(np.abs(digits[..., last]) <= 1):
            digits[..., last - 1] += digits[..., last] << 32
            last -= 1
        return ExactSum(np.ascontiguousarray(digits[..., first : last + 1]), self.base + first)

    def _combined(self, other: ExactSum, sign: int) -> ExactSum:
        base = min(self.base, other.base)
        end = max(x.base + x.digits.shape[-1] for x in (self, other))
        digits = np.zeros((*self.shape, end - base), dtype=np.int64)
        for term, factor in ((self, 1), (other, sign)):
            start = term.base - base
            digits[..., start : start + term.digits.shape[-1]] += factor * term.digits
        return ExactSum(digits, base).carried()

    def __add__(self, other: ExactSum) -> ExactSum:
        return self._combined(other, 1)

    def __sub__(self, other: ExactSum) -> ExactSum:
        return self._combined(other, -1)

    def __mul__(self, factor: float) -> ExactSum:
        """Scaled, and rounded to the nearest float."""
        return ExactSum.of(self.floats() * factor)

    def total(self) -> ExactSum:
        """The sum over the first axis."""
        return ExactSum(self.digits.sum(axis=0), self.base).carried()

    def floats(self) -> NDArray[np.float64]:
        """The nearest floats (the last bit may differ)."""
        flat = self.digits.reshape(-1, self.digits.shape[-1])
        return np.asarray(kernel.to_floats(flat, self.base)).reshape(self.shape)

    def negative(self) -> NDArray[np.bool_]:
        """Where a number is below zero."""
        return self.digits[..., -1] < 0

    def nonzero(self) -> NDArray[np.bool_]:
        """Where a number is not zero."""
        return self.digits.any(axis=-1)


def deviation(n: ExactSum, total: ExactSum, squares: ExactSum) -> NDArray[np.float64]:
    """``n * squares - total**2``, exactly, then rounded once.

    >>> x = np.array([1e9 + 1, 1e9 + 2, 1e9 + 3])
    >>> n, total, squares = ExactSum.of(3), ExactSum.of(x).total(), ExactSum.of(x * x).total()
    >>> float(ExactSum.of(3.0).floats())
    3.0
    """
    flat = [part.digits.reshape(-1, part.digits.shape[-1]) for part in (n, total, squares)]
    out = kernel.spread(flat[0], n.base, flat[1], total.base, flat[2], squares.base)
    return np.asarray(out).reshape(n.shape)
