"""Sums of (classes, cells): the one protocol that dense, exact and sparse sums obey.

Conventions
-----------
- A sum is an immutable array of numbers, one for every class and cell.
- ``+`` and ``*`` are those of numbers. ``subtract`` is exact for whole weights, and zero where
  only the rounding of fractional weights is left; it may fall below zero.
- ``place`` spreads a sum over wider axes, ``select`` and ``between`` take parts of it.
- ``to_arrays`` gives what a file holds, by suffix of the sum's name; ``from_arrays`` takes it out
  of the arrays of a file, checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_NUMBER
from deciban.errors import ModelFileError
from deciban.labels import Array, Positions
from deciban.stats import rounding

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]
#: Arrays of a file, by name; whoever reads one takes it out.
Arrays = dict[str, Array]


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

    @classmethod
    def from_arrays(
        cls, arrays: Arrays, name: str, shape: tuple[int, int], *, signed: bool
    ) -> Self:
        """The sum that a file holds under that name, checked; its arrays are taken out."""


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

    @classmethod
    def from_arrays(
        cls, arrays: Arrays, name: str, shape: tuple[int, int], *, signed: bool
    ) -> DenseSum:
        """The array of a file: finite numbers, none below zero."""
        return cls(amounts(arrays, name, shape))


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


def take_array(arrays: Arrays, name: str, dtype: type, shape: tuple[int, ...]) -> Array:
    """Take the array of that name, type and shape out of those of a file."""
    values = arrays.pop(name, None)
    if values is None:
        raise ModelFileError(f"array {name!r} is missing.")
    if values.dtype != dtype or values.shape != shape:
        raise ModelFileError(
            f"array {name!r} must be {dtype.__name__} of shape {shape}, "
            f"got {values.dtype} of shape {values.shape}."
        )
    return values


def amounts(arrays: Arrays, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Take an array of numbers >= 0, whose sums are finite, out of those of a file."""
    values = take_array(arrays, name, np.float64, shape)
    bad = values[~((values >= 0) & (values <= MAX_NUMBER))]
    if bad.size:
        raise ModelFileError(f"{name!r} must be finite and not below zero, got {bad[0]}.")
    return values
