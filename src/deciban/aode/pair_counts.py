"""The counts of AODE: values, and pairs of values, by class.

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

from deciban import labels
from deciban.aode.cut_points import CutPoints
from deciban.errors import InputError, NegativeCountError
from deciban.labels import Labels, positions
from deciban.schema import Schema
from deciban.stats import rounding
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.table import DenseSum, Table

FloatArray = NDArray[np.float64]
Places = NDArray[np.int64]

#: The block of the counts that holds the values.
VALUES = "values"


def counted_columns(schema: Schema) -> tuple[str, ...]:
    """The columns that are counted: numbers, then categories."""
    return (*schema.numbers, *schema.categories)


def empty_counts(columns: Sequence[str], cut_points: CutPoints, classes: Labels) -> Counts:
    """The counts of no rows: all columns, all bins, these classes."""
    none: Labels = np.empty(0, dtype=object)
    values = [np.arange(len(cut_points[n]) + 1) if n in cut_points else none for n in columns]
    cells = Cells(labels.label_array(list(columns)), tuple(values))
    rows = np.zeros(len(classes))
    table = Table(
        CATEGORIES, cells, rows, {"count": DenseSum(np.zeros((len(classes), cells.size)))}
    )
    return Counts(classes, rows, {VALUES: table})


# ---------------------------------------------------------------------- the layout of the table


@dataclass(frozen=True)
class PairLayout:
    """The cells of columns that have ``sizes`` values, and the lines of their pairs.

    >>> layout = PairLayout((2, 1))                 # and "missing" in both
    >>> layout.first.tolist(), layout.n_pairs
    ([0, 3, 5], 6)
    """

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, cells: Cells) -> PairLayout:
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

        >>> PairLayout((1, 1, 2)).lines(1, 2)
        array([[10, 11, 12],
               [13, 14, 15]])
        """
        u = np.arange(self.first[i], self.first[i + 1])
        v = np.arange(self.first[j], self.first[j + 1])
        return np.asarray(self.start[u, None] + v)

    def column_pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs of columns."""
        return ((i, j) for i in range(self.n_columns) for j in range(i + 1, self.n_columns))

    def n_bytes(self, n_classes: int) -> int:
        """What counting and scoring hold at once: the pairs, a copy while they grow, and totals.

        >>> PairLayout((9,) * 10).n_bytes(2)
        163200
        """
        return 8 * n_classes * (2 * self.n_pairs + self.n_cells * (self.n_columns + 2))


def check_memory(cells: Cells, n_classes: int, limit: int) -> None:
    """Refuse a table of more than ``limit`` bytes, before it is made."""
    layout = PairLayout.of(cells)
    need = layout.n_bytes(n_classes)
    if need <= limit:
        return
    widest = int(np.argmax(layout.sizes))
    raise InputError(
        f"counting pairs needs {_readable(need)} ({layout.n_pairs:,} pairs of values, {n_classes} "
        f"classes), more than the limit of {_readable(limit)}.",
        hint=f"column {cells.columns[widest]!s} alone has {layout.sizes[widest]:,} values: leave "
        f"such columns out, take fewer bins, or set memory_limit={need}",
    )


def _readable(n_bytes: int) -> str:
    """Bytes as people write them.

    >>> _readable(3 << 29)
    '1.5 GiB'
    """
    amount, units = float(n_bytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.4g} {units[0]}"


# ---------------------------------------------------------------------- the counts


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The counts of the values of every column, and the weight of their pairs.

    ``pairs`` is (lines of the layout, classes). Whole weights are exact. The
    values of a numeric column are its bins: only counts of the same cut points
    can be compared or added.
    """

    cut_points: CutPoints
    counts: Counts
    pairs: FloatArray

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def empty(cls, columns: Sequence[str], cut_points: CutPoints, classes: Labels) -> PairCounts:
        """The pair counts of no rows."""
        counts = empty_counts(columns, cut_points, classes)
        n_pairs = PairLayout.of(counts.tables[VALUES].cells).n_pairs
        return cls(cut_points, counts, np.zeros((n_pairs, len(classes))))

    @property
    def cells(self) -> Cells:
        """The values of every column."""
        return self.counts.tables[VALUES].cells

    @property
    def weight(self) -> FloatArray:
        """The weight of the rows of each class."""
        return self.counts.weight

    @cached_property
    def layout(self) -> PairLayout:
        """Which line of ``pairs`` is which pair of values."""
        return PairLayout.of(self.cells)

    def pairs_on(self, counts: Counts) -> FloatArray:
        """The pairs laid out for the classes and cells of other counts."""
        old = self.counts.classes, self.cells
        return _rearrange(self.pairs, old, (counts.classes, counts.tables[VALUES].cells))

    def ordered(self) -> PairCounts:
        """These counts with the values of every column in their own order."""
        counts = self.counts.ordered()
        return PairCounts(self.cut_points, counts, self.pairs_on(counts))

    def select(self, names: Sequence[str]) -> PairCounts:
        """The counts of some columns and of their pairs."""
        table = self.counts.tables[VALUES].select_columns(list(names))
        counts = Counts(self.counts.classes, self.counts.weight, {VALUES: table})
        return PairCounts(self.cut_points, counts, self.pairs_on(counts))

    def widen(self, counts: Counts) -> PairCounts:
        """These counts, with room for the classes and values of others."""
        wide = self.counts + counts * 0.0
        return PairCounts(self.cut_points, wide, self.pairs_on(wide))

    def __add__(self, other: PairCounts) -> PairCounts:
        self._check_cut_points(other)
        counts = self.counts + other.counts
        return PairCounts(self.cut_points, counts, self.pairs_on(counts) + other.pairs_on(counts))

    def __sub__(self, other: PairCounts) -> PairCounts:
        self._check_cut_points(other)
        rest = self.counts - other.counts  # refuses what single values already show
        # Columns and bins stay when their last row goes, categories do not.
        rest = empty_counts(self.cells.columns.tolist(), self.cut_points, rest.classes) + rest
        whole = self.counts + other.counts
        pairs = rounding.difference(self.pairs_on(whole), other.pairs_on(whole))
        if np.any(pairs < 0):
            raise NegativeCountError(
                "some pair of values occurs more often in what is taken away.",
                hint="only rows that were added can be taken away",
            )
        pairs = PairCounts(self.cut_points, whole, pairs).pairs_on(rest)
        return PairCounts(self.cut_points, rest, pairs)

    def __mul__(self, factor: float) -> PairCounts:
        return PairCounts(self.cut_points, self.counts * factor, self.pairs * float(factor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        if self._column_cut_otherwise(other) is not None or self.counts != other.counts:
            return False
        both = self.counts + other.counts
        return rounding.same(self.pairs_on(both), other.pairs_on(both))

    def _check_cut_points(self, other: PairCounts) -> None:
        name = self._column_cut_otherwise(other)
        if name is not None:
            raise InputError(
                f"column {name!r} is cut into different bins in the two models.",
                hint="give the second the bins of the first: AODE(bins=first.bins_)",
            )

    def _column_cut_otherwise(self, other: PairCounts) -> str | None:
        """The first column whose cut points differ."""
        for name in {**self.cut_points, **other.cut_points}:
            mine, theirs = self.cut_points.get(name), other.cut_points.get(name)
            if mine is None or theirs is None or not np.array_equal(mine, theirs):
                return name
        return None


# ---------------------------------------------------------------------- pairs on another layout


def _rearrange(
    pairs: FloatArray, old: tuple[Labels, Cells], new: tuple[Labels, Cells]
) -> FloatArray:
    """The pairs on other classes and cells; those without a place there must be zero."""
    (classes, cells), (wider, among) = old, new
    here, there = PairLayout.of(cells), PairLayout.of(among)
    if here == there and len(classes) == len(wider) and _same(old, new):
        return pairs
    out = np.zeros((there.n_pairs, len(wider)))
    if not pairs.size:
        return out
    new_class, new_column = positions(classes, wider), positions(cells.columns, among.columns)
    new_cells = _new_cells(cells, among, there)
    for i, j in here.column_pairs():
        if new_column[i] < 0 or new_column[j] < 0:
            continue
        ends = int(new_column[i]), int(new_column[j])
        lines = _new_lines(there, ends, new_cells[i], new_cells[j])
        _write(out, lines, pairs[here.lines(i, j)], new_class)
    return out


def _same(old: tuple[Labels, Cells], new: tuple[Labels, Cells]) -> bool:
    same_classes = np.array_equal(positions(old[0], new[0]), np.arange(len(new[0])))
    return same_classes and old[1].same(new[1])


def _new_cells(cells: Cells, among: Cells, there: PairLayout) -> list[Places]:
    """The new cell of every old cell of each column, "missing" included; -1 is nowhere."""
    new_column = positions(cells.columns, among.columns)
    values, wider = cells.values or (), among.values or ()
    out = []
    for known, column in zip(values, new_column.tolist(), strict=True):
        at = positions(known, wider[column]) if column >= 0 else np.full(len(known), -1)
        missing = there.first[max(column, 0)]
        cell = np.where(at < 0, -1, at + 1 + missing)
        out.append(np.concatenate([[missing], cell]).astype(np.int64))
    return out


def _new_lines(there: PairLayout, columns: tuple[int, int], u: Places, v: Places) -> Places:
    """The new lines of two columns' pairs, in whatever order the columns are now."""
    low, high = (u[:, None], v[None, :]) if columns[0] < columns[1] else (v[None, :], u[:, None])
    return np.where((low < 0) | (high < 0), -1, there.start[low] + high)


def _write(out: FloatArray, lines: Places, pairs: FloatArray, new_class: Places) -> None:
    some = lines >= 0
    known = np.flatnonzero(new_class >= 0)
    out[lines[some][:, None], new_class[known]] = pairs[some][:, known]
