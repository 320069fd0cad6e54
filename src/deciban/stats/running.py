"""Moments that take one value at a time, exactly: whole numbers times a power of two.

``n``, ``sum w x`` and ``sum w x**2`` of a column in one class, as :mod:`deciban.stats.moments` has
them of tables: nothing is rounded until mean and spread are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from deciban.stats.exact import ExactSum

__all__ = ["Dyadic", "RunningMoments"]

#: After a decay a number keeps so many bits: else each decay would add 53.
MAX_DECAYED_BITS = 512


class Dyadic(NamedTuple):
    """``mantissa * 2**exponent``.

    >>> Dyadic.of(0.75) + Dyadic.of(2.0), (Dyadic.of(0.75) * Dyadic.of(2.0)) / Dyadic.of(0.5)
    (Dyadic(mantissa=11, exponent=-2), 3.0)
    """

    mantissa: int
    exponent: int

    @classmethod
    def of(cls, x: float) -> Dyadic:
        """A finite float as it is."""
        mantissa, power = x.as_integer_ratio()
        return cls(mantissa, 1 - power.bit_length())

    def __add__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        shift = self.exponent - other.exponent
        if shift <= 0:
            return Dyadic(self.mantissa + (other.mantissa << -shift), self.exponent)
        return Dyadic((self.mantissa << shift) + other.mantissa, other.exponent)

    def __neg__(self) -> Dyadic:
        return Dyadic(-self.mantissa, self.exponent)

    def __mul__(self, other: Dyadic) -> Dyadic:  # type: ignore[override]
        return Dyadic(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __truediv__(self, other: Dyadic) -> float:
        """The nearest float of the quotient; infinite where none is."""
        shift = self.exponent - other.exponent
        try:
            if shift >= 0:
                return (self.mantissa << shift) / other.mantissa
            return self.mantissa / (other.mantissa << -shift)
        except OverflowError:
            return float("inf")

    def round(self) -> Dyadic:
        """The number in no more bits than stay after a decay."""
        extra = self.mantissa.bit_length() - MAX_DECAYED_BITS
        return self if extra <= 0 else Dyadic(self.mantissa >> extra, self.exponent + extra)


@dataclass
class RunningMoments:
    """``n``, ``sum w x`` and ``sum w x**2`` of some values.

    >>> moments = RunningMoments(*[Dyadic(0, 0)] * 3)
    >>> for x in (1e9 + 1, 1e9 + 2, 1e9 + 3):
    ...     moments.add(Dyadic.of(x), Dyadic.of(1.0))
    >>> moments.mean_and_spread()
    (3.0, 1000000002.0, 2.0)
    """

    n: Dyadic
    total: Dyadic
    squares: Dyadic

    def add(self, x: Dyadic, weight: Dyadic) -> None:
        """Count a value."""
        product = weight * x
        self.n += weight
        self.total += product
        self.squares += product * x

    def decay(self, factor: Dyadic) -> None:
        """Multiply the weight of all values."""
        self.n, self.total, self.squares = (
            (part * factor).round() for part in (self.n, self.total, self.squares)
        )

    def mean_and_spread(self) -> tuple[float, float, float]:
        """How many values, their mean, and the sum of squared deviations; zeros of none."""
        n, total = self.n, self.total
        if not n.mantissa:
            return 0.0, 0.0, 0.0
        deviation = self.squares * n + -(total * total)
        return n / Dyadic(1, 0), total / n, deviation / n


def exact_numbers(sums: ExactSum) -> list[list[Dyadic]]:
    """The numbers of a table of sums, (classes, columns), as they are."""
    return [
        [
            Dyadic(sum(int(d) << (32 * i) for i, d in enumerate(digits)), 32 * sums.base)
            for digits in line
        ]
        for line in sums.digits.tolist()
    ]
