"""Sums of (classes, cells): the one protocol that dense, exact and sparse sums obey.

Conventions
-----------
- A sum is an immutable array of numbers, one for every class and cell.
- ``+`` and ``*`` are those of numbers. ``subtract`` is exact for whole weights, and zero where
  only the rounding of fractional weights is left; it may fall below zero.
- ``place`` spreads a sum over wider axes, ``select`` and ``between`` take parts of it.
- ``to_arrays`` gives what a file holds, by suffix of the sum's name; the statistic that a sum
  belongs to takes it out of the :class:`Stored` arrays of a file again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Array, Positions
from deciban.stats import rounding

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Stored(Protocol):
    """The arrays of a file; each is checked when it is taken, and must be what is asked for."""

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of an array of so many axes; zeros if there is no such array."""

    def amounts(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """Take floats >= 0 of that shape, whose sums are finite."""

    def integers(self, name: str, shape: tuple[int, ...], dtype: type = np.int64) -> Array:
        """Take whole numbers of that shape."""


class Sum(Protocol):
    """Numbers for every class and cell that add up."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and cells."""

    def __add__(self, other: Self) -> Self: ...

    def __mul__(self, factor: float) -> Self: ...

    def subtract(self, other: Self) -> Self:
        """The difference; zero where only rounding is left."""

    def equals(self, other: Self) -> bool:
        """Whether both are equal, up to the rounding of fractional weights."""

    def scale_classes(self, factors: FloatArray) -> Self:
        """Every class's numbers times its factor."""

    def place(self, rows: Positions, cells: Positions, shape: tuple[int, int]) -> Self:
        """The numbers at their places in a larger array of zeros; cells at -1 are left out."""

    def select(self, classes: Mask, cells: Mask) -> Self:
        """Some classes and cells."""

    def between(self, start: int, stop: int) -> Self:
        """Consecutive cells."""

    def used(self) -> Mask:
        """The cells that are not zero in some class."""

    def to_arrays(self) -> dict[str, Array]:
        """What a file holds, by suffix of the sum's name."""


@dataclass(frozen=True, eq=False)
class DenseSum:
    """Sums kept in full, as float64, (classes, cells).

    >>> (DenseSum(np.array([[2.0, 0.0]])) + DenseSum(np.array([[1.0, 3.0]]))).values
    array([[3., 3.]])
    """

    values: FloatArray

    #: numpy leaves ``number * sum`` to this class.
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Classes and cells."""
        return self.values.shape

    def __add__(self, other: DenseSum) -> DenseSum:
        return DenseSum(self.values + other.values)

    def __mul__(self, factor: float) -> DenseSum:
        return DenseSum(self.values * factor)

    def subtract(self, other: DenseSum) -> DenseSum:
        """The difference; zero where only rounding is left."""
        return DenseSum(rounding.difference(self.values, other.values))

    def equals(self, other: DenseSum) -> bool:
        """Whether both are equal up to rounding."""
        return rounding.same(self.values, other.values)

    def scale_classes(self, factors: FloatArray) -> DenseSum:
        """Every class's numbers times its factor."""
        return DenseSum(self.values * factors[:, None])

    def place(self, rows: Positions, cells: Positions, shape: tuple[int, int]) -> DenseSum:
        """The numbers at their places in a larger array of zeros; cells at -1 are left out."""
        out = np.zeros(shape)
        place(self.values, out, rows, cells)
        return DenseSum(out)

    def select(self, classes: Mask, cells: Mask) -> DenseSum:
        """Some classes and cells."""
        return DenseSum(self.values[np.ix_(classes, cells)])

    def between(self, start: int, stop: int) -> DenseSum:
        """Consecutive cells."""
        return DenseSum(np.ascontiguousarray(self.values[:, start:stop]))

    def used(self) -> Mask:
        """The cells that are not zero in some class."""
        return np.asarray(self.values.any(axis=0))

    def to_arrays(self) -> dict[str, Array]:
        """The array itself."""
        return {"": self.values}


def place(part: Array, out: Array, rows: Positions, cells: Positions) -> None:
    """Add (classes, cells, ...) numbers to their places in a larger array; -1 is left out."""
    if np.array_equal(cells, np.arange(len(cells))):
        out[rows, : len(cells)] = part
        return
    keep = cells >= 0
    where = np.ix_(rows, cells[keep])
    if keep.all() and np.all(cells[1:] > cells[:-1]):
        out[where] = part
        return
    np.add.at(out, where, part if keep.all() else part[:, keep])  # cells of a grid may meet
