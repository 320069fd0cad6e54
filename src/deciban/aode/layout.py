"""Where pairs of values are counted.

All values of all columns stand in one list of *cells*, column after column,
the first cell of each column being "missing". The pairs of a cell u and all
cells v of later columns are the lines ``start[u] + v`` of a table with a
number for each class: no pair is there twice, and none of a column with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.labels import Labels, positions
from deciban.stats.cells import Cells

FloatArray = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """The cells of columns that have ``sizes`` values, and the lines of their pairs.

    >>> layout = Layout((2, 1))                     # and "missing" in both
    >>> layout.first.tolist(), layout.n_pairs
    ([0, 3, 5], 6)
    """

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, cells: Cells) -> Layout:
        """The layout of some columns of categories."""
        return cls(tuple(np.diff(cells.offsets).tolist()))

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.sizes)

    @cached_property
    def first(self) -> Places:
        """The cell "missing" of each column, and the end of the last column."""
        return np.cumsum([0, *(size + 1 for size in self.sizes)], dtype=np.int64)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return int(self.first[-1])

    @cached_property
    def column(self) -> Places:
        """The column of every cell."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.first))

    @cached_property
    def start(self) -> Places:
        """Cell v of a later column is counted with cell u in line ``start[u] + v``."""
        later = self.first[self.column + 1]
        width = self.n_cells - later
        return np.asarray(np.cumsum(width) - width - later, dtype=np.int64)

    @cached_property
    def n_pairs(self) -> int:
        """How many lines the table of pairs has."""
        sizes = [size + 1 for size in self.sizes]
        return (sum(sizes) ** 2 - sum(size * size for size in sizes)) // 2

    def lines(self, i: int, j: int) -> Places:
        """The lines of the pairs of two columns, ``i < j``: (cells of i, cells of j).

        >>> Layout((1, 1, 2)).lines(1, 2)
        array([[10, 11, 12],
               [13, 14, 15]])
        """
        u = np.arange(self.first[i], self.first[i + 1])
        v = np.arange(self.first[j], self.first[j + 1])
        return np.asarray(self.start[u, None] + v)

    def columns(self) -> Iterator[tuple[int, int]]:
        """All pairs of columns."""
        return ((i, j) for i in range(self.n_columns) for j in range(i + 1, self.n_columns))


def bytes_needed(layout: Layout, n_classes: int) -> int:
    """What counting and scoring hold at once: the pairs, a copy while they grow, and the totals.

    >>> bytes_needed(Layout((9,) * 10), 2)
    163200
    """
    numbers = 2 * layout.n_pairs + layout.n_cells * (layout.n_columns + 2)
    return 8 * n_classes * numbers


def check_memory(cells: Cells, n_classes: int, limit: int) -> None:
    """Refuse tables that will not fit, before they are made."""
    layout = Layout.of(cells)
    need = bytes_needed(layout, n_classes)
    if need <= limit:
        return
    widest = int(np.argmax(layout.sizes))
    raise InputError(
        f"counting pairs needs {_readable(need)} ({layout.n_pairs:,} pairs of values, {n_classes} "
        f"classes), more than the limit of {_readable(limit)}.",
        hint=f"column {cells.columns[widest]!s} alone has {layout.sizes[widest]:,} values: leave "
        f"such columns out, take fewer bins, or set memory_limit={need}",
    )


def _readable(size: int) -> str:
    """Bytes as people say them.

    >>> _readable(3 << 29)
    '1.5 GiB'
    """
    amount, units = float(size), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.4g} {units[0]}"


def spread(pairs: FloatArray, old: tuple[Labels, Cells], new: tuple[Labels, Cells]) -> FloatArray:
    """The pairs on other classes and cells; what has no place there must be empty."""
    (classes, cells), (wider, among) = old, new
    here, there = Layout.of(cells), Layout.of(among)
    if here == there and len(classes) == len(wider) and _same(old, new):
        return pairs
    out = np.zeros((there.n_pairs, len(wider)))
    if not pairs.size:
        return out
    kept = positions(classes, wider)
    where = _places(cells, among, there)
    at = positions(cells.columns, among.columns)
    for i, j in here.columns():
        if at[i] < 0 or at[j] < 0:
            continue
        lines = _lines(there, (int(at[i]), int(at[j])), where[i], where[j])
        _put(out, lines, pairs[here.lines(i, j)], kept)
    return out


def _same(old: tuple[Labels, Cells], new: tuple[Labels, Cells]) -> bool:
    alike = np.array_equal(positions(old[0], new[0]), np.arange(len(new[0])))
    return alike and old[1].same(new[1])


def _places(cells: Cells, among: Cells, there: Layout) -> list[Places]:
    """The new cell of every old cell of each column, "missing" included; -1 is nowhere."""
    at = positions(cells.columns, among.columns)
    values, wider = cells.values or (), among.values or ()
    out = []
    for j, known in enumerate(values):
        found = positions(known, wider[at[j]]) if at[j] >= 0 else np.full(len(known), -1)
        cell = np.where(found < 0, -1, found + 1 + there.first[max(at[j], 0)])
        out.append(np.concatenate([[there.first[max(at[j], 0)]], cell]).astype(np.int64))
    return out


def _lines(there: Layout, columns: Sequence[int], u: Places, v: Places) -> Places:
    """The new lines of two columns' pairs, in whatever order the columns are now."""
    low, high = (u[:, None], v[None, :]) if columns[0] < columns[1] else (v[None, :], u[:, None])
    return np.where((low < 0) | (high < 0), -1, there.start[low] + high)


def _put(out: FloatArray, lines: Places, part: FloatArray, kept: Places) -> None:
    some = lines >= 0
    known = np.flatnonzero(kept >= 0)
    out[lines[some][:, None], kept[known]] = part[some][:, known]
