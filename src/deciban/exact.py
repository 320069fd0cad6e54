"""Sums of floats that never round.

An :class:`ExactSum` is an array of wide fixed-point numbers (see
``kernels/exact.pyx``). Adding and subtracting them is integer arithmetic, so
the sums do not depend on the order of the rows, and what was added can be
taken away again without a trace, at any scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import MissingValueError
from deciban.kernels import exact as kernel

Digits = NDArray[np.int64]

#: After a decay a number keeps this many digits of 32 bits: else each decay would add two.
LONGEST = 16


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
    def of(cls, values: ArrayLike) -> ExactSum:
        """The exact value of finite floats.

        >>> ExactSum.of([float("inf")])
        Traceback (most recent call last):
        ...
        deciban.errors.MissingValueError: a sum is of finite numbers, got inf. Hint: leave it out.
        """
        floats = np.asarray(values, dtype=np.float64, order="C")
        bad = floats[~np.isfinite(floats)]
        if bad.size:
            raise MissingValueError(
                f"a sum is of finite numbers, got {bad.item(0)}.", hint="leave it out"
            )
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
        kernel.carry(flat)
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
        """Scaled: exactly by a power of two, otherwise to about 500 bits.

        >>> x = ExactSum.of([1e9, 1.0])
        >>> (x * 0.1 - ExactSum.of([1e8, 0.1])).floats()      # 0.1 is not one tenth
        array([5.55111512e-09, 0.00000000e+00])
        """
        part, power = math.frexp(abs(factor))
        mantissa = int(math.ldexp(part, 53))
        jump, shift = divmod(power - 53, 32)
        product = self.carried()._times(mantissa << shift, jump, -1 if factor < 0 else 1)
        return product if part == 0.5 else product._rounded()

    def _times(self, factor: int, jump: int, sign: int) -> ExactSum:
        """Times ``sign * factor * 2**(32 * jump)``, by pieces of 16 bits: products fit 64."""
        pieces = [factor >> at & 0xFFFF for at in range(0, max(factor.bit_length(), 1), 16)]
        length = self.digits.shape[-1]
        out = np.zeros((*self.shape, length + len(pieces) // 2 + 1), dtype=np.int64)
        for k, piece in enumerate(pieces):
            start, half = divmod(k, 2)
            product = sign * piece * self.digits
            if half:
                out[..., start + 1 : start + 1 + length] += product >> 16
                product = (product & 0xFFFF) << 16
            out[..., start : start + length] += product
        return ExactSum(out, self.base + jump).carried()

    def _rounded(self) -> ExactSum:
        """Each number down to its first ``LONGEST`` digits."""
        length = self.digits.shape[-1]
        if length <= LONGEST:
            return self
        below_zero = self.negative()[..., None]
        leading = np.where(below_zero, self.digits != 0xFFFFFFFF, self.digits != 0)
        leading[..., -1] = self.digits[..., -1] != np.where(below_zero[..., 0], -1, 0)
        top = length - 1 - np.argmax(leading[..., ::-1], axis=-1)
        keep = np.arange(length) > top[..., None] - LONGEST
        return ExactSum(np.where(keep, self.digits, 0), self.base).carried()

    def between(self, start: int, stop: int) -> ExactSum:
        """Consecutive cells of a table of sums, (classes, cells).

        >>> ExactSum.of([[1.0, 2.0]]).between(1, 2).floats()
        array([[2.]])
        """
        return ExactSum(np.ascontiguousarray(self.digits[:, start:stop]), self.base)

    def total(self) -> ExactSum:
        """The sum over the first axis."""
        return ExactSum(self.digits.sum(axis=0), self.base).carried()

    def zeroed(self, where: NDArray[np.bool_]) -> ExactSum:
        """The same numbers, but zero where it says."""
        return ExactSum(np.where(where[..., None], 0, self.digits), self.base)

    def floats(self) -> NDArray[np.float64]:
        """The nearest floats (the last bit may differ)."""
        flat = self.digits.reshape(-1, self.digits.shape[-1])
        return np.asarray(kernel.to_floats(flat, self.base)).reshape(self.shape)

    def negative(self) -> NDArray[np.bool_]:
        """Where a number is below zero."""
        return np.asarray(self.digits[..., -1] < 0)

    def whole(self) -> NDArray[np.bool_]:
        """Where a number is an integer.

        >>> ExactSum.of([3.0, 0.5]).whole()
        array([ True, False])
        """
        return np.asarray(~self.digits[..., : max(-self.base, 0)].any(axis=-1))

    def nonzero(self) -> NDArray[np.bool_]:
        """Where a number is not zero."""
        return np.asarray(self.digits.any(axis=-1))


def deviation(n: ExactSum, total: ExactSum, squares: ExactSum) -> NDArray[np.float64]:
    """``n * squares - total**2``, exactly, then rounded once; ``n`` and ``squares`` are >= 0.

    Divided by ``n**2`` it is the variance, of which floats would leave nothing:

    >>> x = [1.0, 1.0 + 2.0**-26]                       # their squares fit a float
    >>> n, total, squares = (ExactSum.of([a**k for a in x]).total() for k in (0, 1, 2))
    >>> float(deviation(n, total, squares)) / 4 == 2.0**-54
    True
    """
    flat = [part.digits.reshape(-1, part.digits.shape[-1]) for part in (n, total, squares)]
    out = kernel.spread(flat[0], n.base, flat[1], total.base, flat[2], squares.base)
    return np.asarray(out).reshape(n.shape)
