"""Cells: what a table counts, besides the class.

A column of numbers or one word of a bag is a single cell; a column of
categories has one cell per value. The values of a numeric histogram are keys, and its cells a
:class:`Grid`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.kernels import histogram as kernel
from deciban.labels import Labels, Positions

#: A column of numbers has no more keys than this.
MAX_GRID_KEYS = 4096


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

    def ordered(self) -> tuple[Cells, Positions] | None:
        """The cells with the values of each column in their own order, and where each cell goes.

        None where they are in order.

        >>> cells, at = Cells.of_values(["size"], [np.array(["S", "L", "M"])]).ordered()
        >>> cells.values, at
        ((array(['L', 'M', 'S'], dtype='<U1'),), array([2, 0, 1]))
        """
        orders = [_order(values) for values in self.values or ()]
        if all(order is None for order in orders):
            return None
        pairs = list(zip(self.values or (), orders, strict=True))
        values = tuple(column if order is None else column[order] for column, order in pairs)
        places = [
            start + (np.arange(len(column)) if order is None else np.argsort(order))
            for (column, order), start in zip(pairs, self.offsets, strict=False)
        ]
        return Cells(self.columns, values), np.concatenate(places)

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
        """Only some columns, with all their cells."""
        values = None if self.values is None else _kept(self.values, columns)
        return Cells(self.columns[columns], values)


def _order(values: Labels) -> Positions | None:
    """The order of values; None where they are in it, or have none."""
    try:
        if len(values) < 2 or bool(np.all(values[:-1] <= values[1:])):
            return None
        return np.argsort(values, kind="stable")
    except TypeError:
        return None


def _kept(items: tuple[Labels, ...], keep: NDArray[np.bool_]) -> tuple[Labels, ...]:
    return tuple(item for item, kept in zip(items, keep, strict=True) if kept)


def _shifted(at: Positions, offset: int) -> Positions:
    return np.where(at < 0, at, at + offset)


@dataclass(frozen=True, eq=False)
class Grid(Cells):
    """Cells whose values are int64 keys in order; ``drop`` bits are dropped in each column.

    A key is the float's own bits, sorted like the floats, with the lowest ``drop`` bits dropped
    (``kernels/histogram.pyx``); a column drops bits only while it has more than
    ``MAX_GRID_KEYS`` keys. The grid of a column depends on the set of its values alone: grids of
    parts, united in any order, are the grid of the whole. Taking values away does not make a grid
    finer again.

    >>> grid = Grid.of([np.array([1.0, 2.0]), np.array([0.5])], ["a", "b"])
    >>> grid.floats(0), grid.size
    (array([1., 2.]), 3)
    """

    drop: tuple[int, ...] = ()

    @classmethod
    def of(cls, columns: list[NDArray[np.float64]], names: list[object]) -> Grid:
        """The grid of some columns of values; NaN has no key."""
        counted = [
            kernel.count(
                np.ascontiguousarray(x),
                np.zeros(len(x), dtype=np.intp),
                None,
                1,
                0,
                MAX_GRID_KEYS,
            )
            for x in columns
        ]
        return cls(
            labels.label_array(names),
            tuple(keys for _, keys, _ in counted),
            tuple(drop for drop, _, _ in counted),
        )

    def floats(self, column: int) -> NDArray[np.float64]:
        """The least float of each key of a column."""
        return kernel.floats(self._keys()[column], self.drop[column])

    def all_floats(self) -> list[NDArray[np.float64]]:
        """The least float of each key, column by column."""
        return [kernel.floats(k, d) for k, d in zip(self._keys(), self.drop, strict=True)]

    def all_middles(self, columns: Sequence[int] | None = None) -> list[NDArray[np.float64]]:
        """A value of each key, column by column, of all columns or of some."""
        return [self.middles(j) for j in (range(len(self.drop)) if columns is None else columns)]

    def middles(self, column: int) -> NDArray[np.float64]:
        """A value of each key of a column: itself, or the middle of what it stands for."""
        keys, drop = self._keys()[column], self.drop[column]
        return kernel.floats(2 * keys + 1, drop - 1) if drop else kernel.floats(keys, 0)

    def all_ends(self) -> list[NDArray[np.float64]]:
        """The least float of each key, and the least beyond it, (2, keys), column by column."""
        pairs = zip(self._keys(), self.drop, strict=True)
        return [np.stack([kernel.floats(k, d), kernel.floats(k + 1, d)]) for k, d in pairs]

    def _keys(self) -> tuple[Labels, ...]:
        return self.values or ()

    def same(self, other: Cells) -> bool:
        """Whether both have the same keys of the same width."""
        return isinstance(other, Grid) and self.drop == other.drop and super().same(other)

    def union(self, other: Cells) -> Grid:
        """The keys of both, as fine as the number of keys allows."""
        if not isinstance(other, Grid):
            raise TypeError("a grid can be united with a grid only")
        if self.same(other):
            return self
        columns = labels.union(self.columns, other.columns)
        sides = [(side, labels.positions(columns, side.columns)) for side in (self, other)]
        joined = [
            _unite([(side._keys()[at[j]], side.drop[at[j]]) for side, at in sides if at[j] >= 0])
            for j in range(len(columns))
        ]
        return Grid(columns, tuple(keys for keys, _ in joined), tuple(drop for _, drop in joined))

    def positions(self, within: Cells) -> Positions:
        """The cell of ``within`` that each cell falls into; -1 where there is none."""
        if not isinstance(within, Grid):
            raise TypeError("a grid can be placed within a grid only")
        at = labels.positions(self.columns, within.columns)
        out = [np.empty(0, dtype=np.intp)]
        for j, keys in enumerate(self._keys()):
            finer = at[j] >= 0 and within.drop[at[j]] >= self.drop[j]
            out.append(
                _places(keys, self.drop[j], within, at[j]) if finer else np.full(len(keys), -1)
            )
        return np.concatenate(out)

    def select(self, keep: NDArray[np.bool_]) -> Grid:
        """Only the keys that are kept; columns stay, they keep the width of their keys."""
        parts = np.split(keep, self.offsets[1:-1]) if len(self.columns) else []
        left = tuple(keys[part] for keys, part in zip(self._keys(), parts, strict=True))
        return Grid(self.columns, left, self.drop)

    def ordered(self) -> None:
        """Keys are in order."""

    def one(self, column: int) -> Grid:
        """The keys of one column."""
        at = slice(column, column + 1)
        return Grid(self.columns[at], self._keys()[at], self.drop[at])

    def only(self, columns: NDArray[np.bool_]) -> Grid:
        """Some columns."""
        pairs = zip(self._keys(), self.drop, strict=True)
        kept = [pair for pair, keep in zip(pairs, columns, strict=True) if keep]
        keys, drop = tuple(k for k, _ in kept), tuple(d for _, d in kept)
        return Grid(self.columns[columns], keys, drop)


def _unite(sides: list[tuple[Labels, int]]) -> tuple[Labels, int]:
    """The keys of some grids of one column, and the bits they drop."""
    drop = max(drop for _, drop in sides)
    keys = _unique([keys >> (drop - d) for keys, d in sides])
    first, d = sides[0]
    if d == drop and len(keys) == len(first):
        return first, drop  # the other side has none besides: the array itself says so
    while len(keys) > MAX_GRID_KEYS:
        drop += 1
        keys = _unique([keys >> 1])
    return keys, drop


def _unique(sides: list[Labels]) -> Labels:
    """The keys of some sides in order: each is in order itself, so that sorting is merging."""
    keys = np.sort(np.concatenate(sides), kind="stable")
    new = np.concatenate([[True], keys[1:] != keys[:-1]])
    return np.asarray(keys[new[: len(keys)]])


def _places(keys: Labels, drop: int, within: Grid, column: int) -> Positions:
    known = within._keys()[column]
    if keys is known and drop == within.drop[column]:
        return np.arange(within.offsets[column], within.offsets[column + 1])
    coarse = keys >> (within.drop[column] - drop)
    at = np.minimum(np.searchsorted(known, coarse), max(len(known) - 1, 0))
    there = known[at] == coarse if len(known) else np.zeros(len(keys), dtype=bool)
    return np.where(there, at + within.offsets[column], -1)
