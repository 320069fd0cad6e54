"""Sums of floats that never round.

An :class:`ExactSum` is an array of wide fixed-point numbers (see
``kernels/exact.pyx``). Adding and subtracting them is integer arithmetic, so
the sums do not depend on the order of the rows, and what was added can be
taken away again without a trace, at any scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import MissingValueError, ModelFileError
from deciban.kernels import exact as kernel
from deciban.labels import Positions
from deciban.stats.rounding import ROUNDING
from deciban.stats.table import Mask, Stored, place

Digits = NDArray[np.int64]
FloatArray = NDArray[np.float64]
#: ``n``, mean and spread.
Measured = tuple[FloatArray, FloatArray, FloatArray]
#: ``n``, ``sum x`` and ``sum x**2``.
ThreeSums = tuple["ExactSum", "ExactSum", "ExactSum"]

#: After a decay a number keeps this many digits of 32 bits: else each decay would add two.
MAX_DECAYED_DIGITS = 16
#: Sums that should be equal differ by less than this share after many decays.
DECAY_ROUNDING = 2.0**-400
#: A file has no sums of more digits, and none whose digits lie farther from the point.
MAX_STORED_DIGITS = 512


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
        return cls(digits.reshape(*floats.shape, -1), base).carry()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of numbers."""
        return self.digits.shape[:-1]

    def carry(self) -> ExactSum:
        """Equal numbers in as few digits as they need; all but the last in 0 .. 2**32 - 1."""
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
        return ExactSum(digits, base).carry()

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
        product = self.carry()._times(mantissa << shift, jump, -1 if factor < 0 else 1)
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
        return ExactSum(out, self.base + jump).carry()

    def _rounded(self) -> ExactSum:
        """Each number down to its first ``MAX_DECAYED_DIGITS`` digits."""
        length = self.digits.shape[-1]
        if length <= MAX_DECAYED_DIGITS:
            return self
        below_zero = self.negative()[..., None]
        leading = np.where(below_zero, self.digits != 0xFFFFFFFF, self.digits != 0)
        leading[..., -1] = self.digits[..., -1] != np.where(below_zero[..., 0], -1, 0)
        top = length - 1 - np.argmax(leading[..., ::-1], axis=-1)
        keep = np.arange(length) > top[..., None] - MAX_DECAYED_DIGITS
        return ExactSum(np.where(keep, self.digits, 0), self.base).carry()

    # ------------------------------------------------------------------ sums of classes and cells

    def subtract(self, other: ExactSum) -> ExactSum:
        """The difference, exactly."""
        return self - other

    def equals(self, other: ExactSum) -> bool:
        """Whether both are the same numbers, exactly."""
        return not (self - other).nonzero().any()

    def scale_classes(self, factors: FloatArray) -> ExactSum:
        """Every class's numbers times its factor."""
        of = np.arange(len(factors))[:, None]
        total = self * 0.0
        for c, factor in enumerate(factors.tolist()):
            total = total + self.zero_where(of != c) * factor
        return total

    def place(self, rows: Positions, cells: Positions, shape: tuple[int, int]) -> ExactSum:
        """The numbers at their places in a larger array of zeros; cells at -1 are left out."""
        digits = np.zeros((*shape, self.digits.shape[-1]), dtype=np.int64)
        place(self.digits, digits, rows, cells)
        return ExactSum(digits, self.base)

    def select(self, classes: Mask, cells: Mask) -> ExactSum:
        """Some classes and cells."""
        return ExactSum(self.digits[np.ix_(classes, cells)], self.base)

    def used(self) -> Mask:
        """The cells that are not zero in some class."""
        return np.asarray(self.nonzero().any(axis=0))

    def between(self, start: int, stop: int) -> ExactSum:
        """Consecutive cells of a table of sums, (classes, cells).

        >>> ExactSum.of([[1.0, 2.0]]).between(1, 2).floats()
        array([[2.]])
        """
        return ExactSum(np.ascontiguousarray(self.digits[:, start:stop]), self.base)

    def total(self) -> ExactSum:
        """The sum over the first axis."""
        return ExactSum(self.digits.sum(axis=0), self.base).carry()

    def zero_where(self, where: NDArray[np.bool_]) -> ExactSum:
        """These numbers, but zero where it says."""
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

    # ------------------------------------------------------------------ files

    def to_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The digits, and where they begin; equal numbers give equal arrays."""
        numbers = self.carry()
        return {"": numbers.digits, ".base": np.array([numbers.base])}

    @classmethod
    def from_arrays(
        cls, arrays: Stored, name: str, shape: tuple[int, int], *, signed: bool = False
    ) -> ExactSum:
        """The sums of a file: all digits but the last in 0 .. 2**32 - 1, the last has the sign."""
        base, length = int(arrays.integers(f"{name}.base", (1,))[0]), arrays.shape(name, 3)[-1]
        digits = arrays.integers(name, (*shape, length))
        if not 1 <= length <= MAX_STORED_DIGITS or abs(base) > MAX_STORED_DIGITS:
            raise ModelFileError(f"{name!r} has {length} digits from place {base}.")
        last = digits[..., -1]
        if np.any(digits[..., :-1] >> 32) or np.any(np.abs(last) >> 33):
            raise ModelFileError(f"{name!r} has a digit that no sum has.")
        if not signed and np.any(last < 0):
            raise ModelFileError(f"{name!r} is below zero.")
        return cls(digits, base)


def carry_all(pairs: Iterable[tuple[Digits, int]]) -> list[ExactSum]:
    """Sums from digits and bases, each in as few digits as it needs."""
    return [ExactSum(digits, base).carry() for digits, base in pairs]


def pool(sums: Iterable[ExactSum]) -> list[ExactSum]:
    """The sums over the first axis, which is kept with length one."""
    totals = [part.total() for part in sums]
    return [ExactSum(total.digits[None], total.base) for total in totals]


def measure_and_pool(
    n: ExactSum, total: ExactSum, squares: ExactSum
) -> tuple[Measured, Measured, list[ExactSum]]:
    """Mean and spread of each class, those of all classes together, and the sums of these."""
    pooled = pool((n, total, squares))
    return mean_and_spread(n, total, squares), mean_and_spread(*pooled), pooled


def mean_and_spread(n: ExactSum, total: ExactSum, squares: ExactSum) -> Measured:
    """``n``, mean, and the sum of squared deviations from it; zeros where n is 0.

    >>> sums = (ExactSum.of([[sum(x**k for x in (1.0, 3.0))]]) for k in (0, 1, 2))
    >>> [part.item() for part in mean_and_spread(*sums)]
    [2.0, 2.0, 2.0]
    """
    amount = n.floats()
    some = np.where(amount > 0, amount, 1.0)
    spread = np.maximum(deviation(n, total, squares), 0.0) / some
    return amount, total.floats() / some, spread


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


def contradictions(sums: ThreeSums, whole: ThreeSums | None = None) -> tuple[FloatArray, Mask]:
    """``n``, and where sums are of less than no data, or have squares that no data have.

    ``whole`` is what they are left of, by whose rounding they may be off; where it is not known,
    a sum of zero leaves the most room.

    >>> sums = tuple(ExactSum.of([x, 0.0]) for x in (-1.0, 1.0, 1.0))
    >>> contradictions(sums)[1]
    array([ True, False])
    """
    n, total, squares = sums
    negative = n.negative() | squares.negative()
    empty = ~n.nonzero() & (total.nonzero() | squares.nonzero())
    n_data, of_squares = n.zero_where(negative), squares.zero_where(negative)
    spread, amount = deviation(n_data, total, of_squares), n.floats()
    room = n_data, total.zero_where(np.ones(total.shape, dtype=bool)), of_squares
    slack = ROUNDING * np.maximum(deviation(*(whole or room)), 0.0)
    slack += DECAY_ROUNDING * np.minimum(amount * squares.floats(), np.finfo(float).max)
    return amount, np.asarray(negative | empty | (spread < -slack))
