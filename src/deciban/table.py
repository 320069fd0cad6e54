"""One block's sums: a table of classes by cells that adds up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.exact import ExactSum
from deciban.labels import Positions

FloatArray = NDArray[np.float64]
Sum = FloatArray | ExactSum


@dataclass(frozen=True, eq=False)
class Table:
    """The sums of one block of columns: each (classes, cells), and the rows behind them."""

    family: str
    cells: Cells
    rows: FloatArray
    sums: Mapping[str, Sum]

    def aligned(self, at: Positions, n_classes: int, cells: Cells) -> Table:
        """The same sums on wider axes; class i of this table is class ``at[i]`` there."""
        where = self.cells.positions(cells)
        shape = (n_classes, cells.size)
        sums = {name: _scatter(part, shape, at, where) for name, part in self.sums.items()}
        rows = np.zeros(n_classes)
        rows[at] = self.rows
        return Table(self.family, cells, rows, sums)

    def selected(self, classes: NDArray[Any], cells: NDArray[np.bool_]) -> Table:
        """Only some classes and cells."""
        sums = {name: _take(part, classes, cells) for name, part in self.sums.items()}
        return Table(self.family, self.cells.select(cells), self.rows[classes], sums)

    def used(self) -> NDArray[np.bool_]:
        """The cells in which something was counted."""
        return np.any([_nonzero(part).any(axis=0) for part in self.sums.values()], axis=0)

    def mapped(self, change: Callable[[Any], Any]) -> Table:
        """The same table with every sum changed."""
        sums = {name: change(part) for name, part in self.sums.items()}
        return Table(self.family, self.cells, change(self.rows), sums)

    def combined(self, other: Table | None, combine: Callable[[Any, Any], Any]) -> Table:
        """Sum by sum with another table of the same classes and cells; None is all zeros."""
        if other is None:
            return self.mapped(lambda part: combine(part, part * 0.0))
        sums = {name: combine(part, other.sums[name]) for name, part in self.sums.items()}
        return Table(self.family, self.cells, combine(self.rows, other.rows), sums)


def _nonzero(part: Sum) -> NDArray[np.bool_]:
    return part.nonzero() if isinstance(part, ExactSum) else part != 0


def _scatter(part: Sum, shape: tuple[int, int], rows: Positions, cells: Positions) -> Sum:
    """The sums at their places in a larger table of zeros; places of -1 are left out."""
    keep = cells >= 0
    where = np.ix_(rows, cells[keep])
    if isinstance(part, ExactSum):
        digits = np.zeros((*shape, part.digits.shape[-1]), dtype=np.int64)
        digits[where] = part.digits[:, keep]
        return ExactSum(digits, part.base)
    out = np.zeros(shape)
    out[where] = part[:, keep]
    return out


def _take(part: Sum, classes: NDArray[Any], cells: NDArray[np.bool_]) -> Sum:
    if isinstance(part, ExactSum):
        return ExactSum(np.ascontiguousarray(part.digits[classes][:, cells]), part.base)
    return np.ascontiguousarray(part[classes][:, cells])
