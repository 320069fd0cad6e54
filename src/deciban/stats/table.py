"""One block's sums: a table of classes by cells that adds up, and what its sums are.

Dense, exact and sparse sums obey one protocol, :class:`Sum`.

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.labels import Array, Positions
from deciban.stats import rounding
from deciban.stats.cells import Cells

if TYPE_CHECKING:
    from deciban.stats.statistic import Statistic

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


@dataclass(frozen=True, eq=False)
class Table:
    """The sums of one block of columns: each (classes, cells), and the rows behind them.

    >>> from deciban.stats.amounts import AMOUNTS
    >>> X, y = np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([0, 1])
    >>> cells = Cells.of_columns(2)
    >>> table = Table(AMOUNTS, cells, np.ones(2), AMOUNTS.count(X, y, 2, None, cells))
    >>> table.align(np.array([0, 2]), 3, Cells.of_columns(3)).sums["amount"].values
    array([[2., 0., 0.],
           [0., 0., 0.],
           [0., 3., 0.]])
    """

    statistic: Statistic
    cells: Cells
    rows: FloatArray
    sums: Mapping[str, Sum]

    @classmethod
    def empty(cls, statistic: Statistic, cells: Cells, n_classes: int) -> Table:
        """A table of these cells in which nothing is counted."""
        none, sums = statistic.empty(cells.columns, 0)
        at, where = np.empty(0, dtype=np.intp), none.positions(cells)
        shape = (n_classes, cells.size)
        zeros = {name: part.place(at, where, shape) for name, part in sums.items()}
        return cls(statistic, cells, np.zeros(n_classes), zeros)

    def align(self, at: Positions, n_classes: int, cells: Cells) -> Table:
        """These sums on wider axes; class i of this table is class ``at[i]`` there."""
        if np.array_equal(at, np.arange(n_classes)) and cells.same(self.cells):
            return self
        where = self.cells.positions(cells)
        lost = np.flatnonzero((where < 0) & self.used()) if np.any(where < 0) else where[:0]
        if len(lost):
            raise InputError(
                f"column {self.cells.column_of(int(lost[0]))!s} has counts that would be lost.",
                hint="name every column and value that was counted",
            )
        shape = (n_classes, cells.size)
        sums = {name: part.place(at, where, shape) for name, part in self.sums.items()}
        rows = np.zeros(n_classes)
        rows[at] = self.rows
        return Table(self.statistic, cells, rows, sums)

    def select(self, classes: Mask, cells: Mask) -> Table:
        """Some classes and cells."""
        if classes.all() and cells.all():
            return self
        sums = {name: part.select(classes, cells) for name, part in self.sums.items()}
        return Table(self.statistic, self.cells.select(cells), self.rows[classes], sums)

    def select_columns(self, names: list[str]) -> Table:
        """The cells of some columns, in the order of the table; the columns stay without cells."""
        columns = self.cells.columns.tolist()
        chosen = set(names)
        unknown = chosen.difference(columns)
        if unknown:
            raise InputError(f"the counts have no column {unknown.pop()!r}.")
        wanted = np.array([name in chosen for name in columns], dtype=bool)
        if wanted.all():
            return self
        single = self.cells.values is None
        keep = wanted if single else np.repeat(wanted, np.diff(self.cells.offsets))
        classes = np.ones(len(self.rows), dtype=bool)
        sums = {name: part.select(classes, keep) for name, part in self.sums.items()}
        return Table(self.statistic, self.cells.only(wanted), self.rows, sums)

    def column(self, number: int) -> Table:
        """The cells of one column."""
        start, stop = self.cells.offsets[number : number + 2]
        sums = {name: part.between(start, stop) for name, part in self.sums.items()}
        return Table(self.statistic, self.cells.one(number), self.rows, sums)

    def used(self) -> Mask:
        """The cells in which something was counted."""
        return np.asarray(np.any([part.used() for part in self.sums.values()], axis=0))

    def scale_classes(self, factors: FloatArray) -> Table:
        """Every class's rows times its factor."""
        sums = {name: part.scale_classes(factors) for name, part in self.sums.items()}
        return Table(self.statistic, self.cells, self.rows * factors, sums)

    def subtract(self, other: Table) -> Table:
        """What is left without a table of the same classes and cells; it may be below zero."""
        rows = rounding.difference(self.rows, other.rows)
        sums = self.statistic.subtract(self.sums, other.sums)
        return Table(self.statistic, self.cells, rows, sums)

    def equals(self, other: Table) -> bool:
        """Whether a table of the same classes and cells holds equal sums, up to rounding."""
        return rounding.same(self.rows, other.rows) and self.statistic.equals(self.sums, other.sums)

    def __add__(self, other: Table) -> Table:
        """Sum by sum with a table of the same classes and cells."""
        sums = {name: part + other.sums[name] for name, part in self.sums.items()}
        return Table(self.statistic, self.cells, self.rows + other.rows, sums)

    def __mul__(self, factor: float) -> Table:
        sums = {name: part * factor for name, part in self.sums.items()}
        return Table(self.statistic, self.cells, self.rows * factor, sums)


def place(part: Array, out: Array, rows: Positions, cells: Positions) -> None:
    """Add (classes, cells, ...) numbers to their places in a larger array; -1 is left out."""
    if np.array_equal(cells, np.arange(len(cells))):
        out[rows, : len(cells)] = part
        return
    keep = cells >= 0
    if keep.all() and np.all(cells[1:] > cells[:-1]):
        for row, numbers in zip(rows.tolist(), part, strict=True):  # faster than both axes at once
            out[row, cells] = numbers
        return
    where = np.ix_(rows, cells[keep])
    np.add.at(out, where, part if keep.all() else part[:, keep])  # cells of a grid may meet
