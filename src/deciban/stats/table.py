"""One block's sums: a table of classes by cells that adds up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.labels import Positions
from deciban.stats.cells import Cells
from deciban.stats.exact import ExactSum
from deciban.stats.sparse import SparseSum

FloatArray = NDArray[np.float64]
#: Sums per class and cell: an array of floats, exact, or sparse.
Sum = Any


@dataclass(frozen=True, eq=False)
class Table:
    """The sums of one block of columns: each (classes, cells), and the rows behind them.

    >>> amounts = {"amount": np.array([[2.0, 0.0], [0.0, 3.0]])}
    >>> table = Table("multinomial", Cells.of_columns(2), np.array([1.0, 1.0]), amounts)
    >>> table.aligned(np.array([0, 2]), 3, Cells.of_columns(3)).sums["amount"]
    array([[2., 0., 0.],
           [0., 0., 0.],
           [0., 3., 0.]])
    """

    family: str
    cells: Cells
    rows: FloatArray
    sums: Mapping[str, Sum]

    def aligned(self, at: Positions, n_classes: int, cells: Cells) -> Table:
        """The same sums on wider axes; class i of this table is class ``at[i]`` there."""
        where = self.cells.positions(cells)
        lost = np.flatnonzero((where < 0) & self.used()) if np.any(where < 0) else where[:0]
        if len(lost):
            raise InputError(
                f"column {self.cells.column_of(int(lost[0]))!s} has counts that would be lost.",
                hint="name every column and value that was counted",
            )
        shape = (n_classes, cells.size)
        sums = {name: _scatter(part, shape, at, where) for name, part in self.sums.items()}
        rows = np.zeros(n_classes)
        rows[at] = self.rows
        return Table(self.family, cells, rows, sums)

    def selected(self, classes: NDArray[np.bool_], cells: NDArray[np.bool_]) -> Table:
        """Only some classes and cells."""
        if classes.all() and cells.all():
            return self
        sums = {name: _take(part, classes, cells) for name, part in self.sums.items()}
        return Table(self.family, self.cells.select(cells), self.rows[classes], sums)

    def column(self, number: int) -> Table:
        """The cells of one column."""
        start, stop = self.cells.offsets[number : number + 2]
        sums = {name: _between(part, start, stop) for name, part in self.sums.items()}
        return Table(self.family, self.cells.one(number), self.rows, sums)

    def used(self) -> NDArray[np.bool_]:
        """The cells in which something was counted."""
        return np.asarray(np.any([_nonzero(part) for part in self.sums.values()], axis=0))

    def mapped(self, change: Callable[[Any], Any]) -> Table:
        """The same table with every sum changed."""
        sums = {name: change(part) for name, part in self.sums.items()}
        return Table(self.family, self.cells, change(self.rows), sums)

    def __add__(self, other: Table) -> Table:
        """Sum by sum with a table of the same classes and cells."""
        sums = {name: part + other.sums[name] for name, part in self.sums.items()}
        return Table(self.family, self.cells, self.rows + other.rows, sums)


def _nonzero(part: Sum) -> NDArray[np.bool_]:
    """The cells that are not zero in some class."""
    if isinstance(part, SparseSum):
        return part.used()
    return np.asarray(
        part.nonzero().any(axis=0) if isinstance(part, ExactSum) else part.any(axis=0)
    )


def _scatter(part: Sum, shape: tuple[int, int], rows: Positions, cells: Positions) -> Sum:
    """The sums at their places in a larger table of zeros; places of -1 are left out."""
    if isinstance(part, SparseSum):
        return part.placed(rows, cells, shape)
    if isinstance(part, ExactSum):
        digits = np.zeros((*shape, part.digits.shape[-1]), dtype=np.int64)
        _place(part.digits, digits, rows, cells)
        return ExactSum(digits, part.base)
    out = np.zeros(shape)
    _place(part, out, rows, cells)
    return out


def _place(part: NDArray[Any], out: NDArray[Any], rows: Positions, cells: Positions) -> None:
    if np.array_equal(cells, np.arange(len(cells))):
        out[rows, : len(cells)] = part
        return
    keep = cells >= 0
    where = np.ix_(rows, cells[keep])
    if keep.all() and np.all(cells[1:] > cells[:-1]):
        out[where] = part
        return
    np.add.at(out, where, part if keep.all() else part[:, keep])  # cells of a grid may meet


def _between(part: Any, start: int, stop: int) -> Any:
    """Consecutive cells of a sum."""
    if isinstance(part, SparseSum | ExactSum):
        return part.between(start, stop)
    return np.ascontiguousarray(part[:, start:stop])


def _take(part: Sum, classes: NDArray[np.bool_], cells: NDArray[np.bool_]) -> Sum:
    if isinstance(part, SparseSum):
        return part.selected(classes, cells)
    where = np.ix_(classes, cells)
    if isinstance(part, ExactSum):
        return ExactSum(part.digits[where], part.base)
    return part[where]
