"""One block's sums: a table of classes by cells that adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deciban.errors import InputError
from deciban.labels import Positions
from deciban.stats import rounding
from deciban.stats.cells import Cells
from deciban.stats.statistic import FloatArray, Statistic
from deciban.stats.sums import Mask, Sum


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
        if cells is self.cells and np.array_equal(at, np.arange(n_classes)):
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
