"""Cells: what a table counts, besides the class.

A column of numbers or one word of a bag is a single cell; a column of
categories has one cell per value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels, Positions


@dataclass(frozen=True, eq=False)
class Cells:
    """Labelled cells, column after column.

    >>> cells = Cells.of_values(["size", "colour"], [np.array(["S", "M"]), np.array(["red"])])
    >>> cells.size, cells.offsets.tolist()
    (3, [0, 2, 3])
    """

    columns: Labels
    values: tuple[Labels, ...] | None = None

    @classmethod
    def of_columns(cls, columns: Labels | int) -> Cells:
        """One cell a column; a number stands for the columns 0, 1, ..."""
        return cls(np.arange(columns) if isinstance(columns, int) else columns)

    @classmethod
    def of_values(cls, columns: Sequence[Hashable] | Labels, values: Sequence[Labels]) -> Cells:
        """One cell a value of each column."""
        names = columns if isinstance(columns, np.ndarray) else labels.label_array(list(columns))
        return cls(names, tuple(values))

    @cached_property
    def offsets(self) -> Positions:
        """Where each column's cells start, and the end of the last."""
        if self.values is None:
            return np.arange(len(self.columns) + 1, dtype=np.intp)
        return np.cumsum([0, *map(len, self.values)], dtype=np.intp)

    @cached_property
    def coded(self) -> bool:
        """Whether the values of every column are the codes 0, 1, 2, ..."""
        return self.values is not None and all(
            v.dtype.kind in "iu" and bool(np.all(v == np.arange(len(v)))) for v in self.values
        )

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self.offsets[-1])

    def same(self, other: Cells) -> bool:
        """Whether both have the same cells in the same order."""
        if self is other:
            return True
        if not labels.same(self.columns, other.columns):
            return False
        if self.values is None or other.values is None:
            return self.values is other.values
        return all(labels.same(a, b) for a, b in zip(self.values, other.values, strict=True))

    def union(self, other: Cells) -> Cells:
        """The cells of both."""
        if self.same(other):
            return self
        columns = labels.union(self.columns, other.columns)
        if self.values is None or other.values is None:
            return Cells(columns)
        none: Labels = np.empty(0, dtype=object)
        values = [*self.values, *[none] * (len(columns) - len(self.columns))]
        for j, at in enumerate(labels.positions(other.columns, columns)):
            values[at] = labels.union(values[at], other.values[j])
        return Cells(columns, tuple(values))

    def positions(self, within: Cells) -> Positions:
        """Where each cell stands in ``within``; -1 where it does not."""
        at = labels.positions(self.columns, within.columns)
        if self.values is None or within.values is None:
            return at
        out = [
            np.full(len(values), -1, dtype=np.intp)
            if at[j] < 0
            else _shifted(labels.positions(values, within.values[at[j]]), within.offsets[at[j]])
            for j, values in enumerate(self.values)
        ]
        return np.concatenate([np.empty(0, dtype=np.intp), *out])

    def column_of(self, cell: int) -> Any:
        """The name of the column that a cell belongs to."""
        return self.columns[int(np.searchsorted(self.offsets, cell, side="right")) - 1]

    def select(self, keep: NDArray[np.bool_]) -> Cells:
        """Only the cells that are kept; a column stays while it has one."""
        if self.values is None:
            return Cells(self.columns[keep])
        parts = np.split(keep, self.offsets[1:-1]) if len(self.columns) else []
        left = [values[part] for values, part in zip(self.values, parts, strict=True)]
        some = np.array([len(values) > 0 for values in left], dtype=bool)
        return Cells(self.columns[some], tuple(values for values in left if len(values)))

    def one(self, column: int) -> Cells:
        """The cells of one column."""
        at = slice(column, column + 1)
        return Cells(self.columns[at], None if self.values is None else self.values[at])

    def only(self, columns: NDArray[np.bool_]) -> Cells:
        """Only some columns, with all the cells they still have."""
        if len(self.columns) != len(columns):
            return self
        values = None if self.values is None else _kept(self.values, columns)
        return Cells(self.columns[columns], values)


def _kept(items: tuple[Labels, ...], keep: NDArray[np.bool_]) -> tuple[Labels, ...]:
    return tuple(item for item, kept in zip(items, keep, strict=True) if kept)


def _shifted(at: Positions, offset: int) -> Positions:
    return np.where(at < 0, at, at + offset)
