"""Grids: the cells of numeric histograms, whose values are keys (``kernels/histogram.pyx``).

A key is the float's own bits, sorted like the floats, with the lowest ``drop``
bits dropped; a column drops bits only while it has more than ``MAX_GRID_KEYS`` keys.
The grid of a column depends on the set of its values alone: grids of parts,
united in any order, are the grid of the whole. Taking values away does not
make a grid finer again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.kernels import histogram as kernel
from deciban.labels import Labels, Positions
from deciban.stats.cells import Cells

#: A column has no more keys than this.
MAX_GRID_KEYS = 4096


@dataclass(frozen=True, eq=False)
class Grid(Cells):
    """Cells whose values are int64 keys in order; ``drop`` bits are dropped in each column.

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

    def all_middles(self) -> list[NDArray[np.float64]]:
        """A value of each key, column by column."""
        return [self.middles(j) for j in range(len(self.drop))]

    def middles(self, column: int) -> NDArray[np.float64]:
        """A value of each key of a column: itself, or the middle of what it stands for."""
        keys, drop = self._keys()[column], self.drop[column]
        return kernel.floats(2 * keys + 1, drop - 1) if drop else kernel.floats(keys, 0)

    def ends(self, column: int) -> NDArray[np.float64]:
        """The least float of each key of a column, and the least beyond it: (2, keys)."""
        keys, drop = self._keys()[column], self.drop[column]
        return np.stack([kernel.floats(keys, drop), kernel.floats(keys + 1, drop)])

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
    coarse = keys >> (within.drop[column] - drop)
    at = np.minimum(np.searchsorted(known, coarse), max(len(known) - 1, 0))
    there = known[at] == coarse if len(known) else np.zeros(len(keys), dtype=bool)
    return np.where(there, at + within.offsets[column], -1)
