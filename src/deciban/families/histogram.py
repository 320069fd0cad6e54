"""Numeric columns as histograms: bins are chosen after counting.

What is counted is every class's weight on the keys of a grid. From that table,
bins are cut when parameters are estimated, and a bin is then a category: its
share of each class is smoothed and compared, and the width of a bin, being the
same under every class, does not matter.

``bins`` of the settings, for all columns or for each:

- a number B >= 2: at most B bins of equal frequency
- ``0``: every key a bin of its own
- ``-1``: bins by minimum description length (Fayyad and Irani, 1993)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.families.alone import smooth_and_judge
from deciban.families.categorical import (
    CategoricalParameters,
    estimate_shares,
    soften_shares,
)
from deciban.families.live_shares import LiveBins
from deciban.families.piece import Piece
from deciban.families.protocol import Candidate, CountedColumns, Selected
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings, spread, whole
from deciban.families.soft import SoftBlock
from deciban.formulas.build import steps
from deciban.formulas.nodes import Expression
from deciban.kernels import histogram as kernel
from deciban.kernels.categorical import sum_columns
from deciban.stats.categories import CATEGORIES, count_by_column, count_of
from deciban.stats.cells import Cells, Grid
from deciban.stats.histogram import EACH, HISTOGRAM, MDL, bin_columns, cut_columns, grid_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import DenseSum, Table

#: The numbers of bins that are tried.
BINS_TRIED = (5, 10, 20)
#: Columns with no more different values are tried with every value by itself.
MAX_SINGLE_VALUES = 30


_BINS = "bins; 0 is every value, -1 minimum description length"


@dataclass(frozen=True, eq=False)
class HistogramSettings(Settings):
    """Settings of binned columns: how each is cut, or at which edges it was.

    >>> HistogramSettings(bins=5).bins_of(2)
    array([5, 5])
    """

    bins: ArrayLike = field(default=10, metadata=whole(-1, _BINS))
    edges: tuple[FloatArray, ...] | None = None

    def bins_of(self, n_columns: int) -> NDArray[np.int64]:
        """How each column is cut."""
        stated = np.asarray(self.bins, dtype=np.float64)
        return spread("bins", stated, n_columns).astype(np.int64)


@dataclass(frozen=True, eq=False)
class HistogramParameters:
    """The edges between the bins of each column; the bins as categories, counted and estimated."""

    table: Table
    edges: tuple[FloatArray, ...]
    bins: CategoricalParameters

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.edges)

    def add(self, X: FloatArray, out: FloatArray) -> None:
        """Add ``sum_j log P(bin of x_j | c)``."""
        self.bins.add(kernel.bins(X, *self._flat_edges), out)

    @cached_property
    def _flat_edges(self) -> tuple[FloatArray, NDArray[np.intp]]:
        """The edges of all columns, and where those of each begin."""
        return flat_edges(self.edges)

    def live(self) -> LiveBins | None:
        """Bins that stay where they are, and whose shares learn."""
        shares = self.bins.live()
        return None if shares is None else LiveBins(*self._flat_edges, shares)

    def keep_choices(self, settings: Settings) -> HistogramSettings:
        """Settings under which more rows fall into the same bins."""
        how = settings if isinstance(settings, HistogramSettings) else _plain(settings)
        return replace(how, edges=self.edges)

    def contributions(self, X: FloatArray) -> FloatArray:
        """``log P(bin of x_j | c)`` of every column."""
        return self.bins.contributions(bin_codes(self.edges, X))

    def add_contributions(self, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add ``log P(bin of x_j | c)`` of column j to column ``at[j]`` of out."""
        self.bins.add_contributions(bin_codes(self.edges, X), at, out)

    def leave_one_out(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods, (rows, classes), each row taken away from its class; the bins stay."""
        return self.bins.leave_one_out(bin_codes(self.edges, X), y, weight)

    def leave_one_out_by_column(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods of each column, (rows, columns, classes), each row taken away."""
        return self.bins.leave_one_out_by_column(bin_codes(self.edges, X), y, weight)

    def leave_out(self, X: FloatArray, remaining: Remaining) -> Iterator[FloatArray]:
        """Log likelihoods by the counts that are left for each row; the bins stay."""
        return self.bins.leave_out(bin_codes(self.edges, X), remaining)

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log share of every bin; its value is the median of the numbers in it."""
        one = self.table.column(column)
        edges = self.edges[column]
        x = _medians(grid_of(one).middles(0), count_of(one).sum(axis=0), edges)
        piece = self.bins.curve(column)
        values, ends = tuple(x.tolist()), tuple(edges.tolist())
        return replace(piece, kind="number", values=values, edges=ends)

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The log share of the bin of a number."""
        offsets = self.bins.offsets
        log = self.bins.log_prob[offsets[column] : offsets[column + 1] - 1]
        return steps(x, self.edges[column], log)


class HistogramFamily:
    """The family of binned columns."""

    name = "histogram"
    shape = "histogram"
    statistic = HISTOGRAM

    options = ("histogram", "mdl")

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """5, 10 or 20 bins, every value by itself where there are few; or by description length."""
        n_values = np.diff(columns.offsets)
        rules = (MDL,) if columns.option == "mdl" else (*BINS_TRIED, EACH)
        few, some = n_values <= MAX_SINGLE_VALUES, n_values >= 0
        asked = [(bins, few if bins == EACH else some) for bins in rules]
        tried = [(j, bins) for bins, of in asked for j in np.flatnonzero(of).tolist()]
        count, offsets = bin_columns(columns.count, columns.offsets, asked)
        stated = [columns.smoothing[j] for j, _ in tried]
        judged = smooth_and_judge(count, offsets, stated, columns.class_weight)
        out: list[list[Candidate]] = [[] for _ in columns.names]
        for (j, bins), (lam, loss) in zip(tried, judged, strict=True):
            out[j].append(Candidate(lam, bins, loss))
        return out

    def settings(self, method: Method, selected: Sequence[Selected]) -> HistogramSettings:
        """The smoothing of each column, and how it is cut."""
        lam, bins = np.array([one.smoothing for one in selected]), [one.bins for one in selected]
        return HistogramSettings(method, lam, bins=np.array(bins, dtype=np.int64))

    def estimate(self, table: Table, settings: Settings) -> HistogramParameters:
        """Cut every column into bins, then estimate their shares as those of categories."""
        n_columns = len(table.cells.columns)
        how = settings if isinstance(settings, HistogramSettings) else _plain(settings)
        if how.edges is None:
            edges, bins = cut(table, how.bins_of(n_columns).tolist())
        else:
            edges, bins = how.edges, sum_within(table, how.edges)
        sizes = np.diff(bins.cells.offsets).astype(np.float64)
        return HistogramParameters(
            table, edges, estimate_shares(bins, how.pseudo_counts(n_columns), sizes)
        )

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Bins as labelled rows cut them, or all rows where there are none, are categories."""
        how = settings if isinstance(settings, HistogramSettings) else _plain(settings)
        rules = how.bins_of(len(table.cells.columns)).tolist()
        labelled = bool(table.rows.any())
        edges, bins = cut(table if labelled else whole, rules)
        if not labelled:
            zero = DenseSum(np.zeros((len(table.rows), bins.cells.size)))
            bins = Table(CATEGORIES, bins.cells, table.rows, {"count": zero})
        return soften_shares(bins, how, lambda X: bin_codes(edges, X))

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        if selected.bins > 0:
            return f"{selected.bins} bins"
        return "bins by description length" if selected.bins == MDL else "every value"


HISTOGRAM_FAMILY = HistogramFamily()


def _plain(settings: Settings) -> HistogramSettings:
    return HistogramSettings(settings.method, settings.smoothing)


def cut(table: Table, rules: Sequence[int]) -> tuple[tuple[FloatArray, ...], Table]:
    """The edges between the bins of each column, and the bins as a table of categories."""
    counts, offsets = count_of(table), table.cells.offsets
    starts, bin_offsets = cut_columns(counts, offsets, np.array(rules, dtype=np.int64))
    edges = cut_edges(cast("Grid", table.cells), starts, bin_offsets)
    cells = Cells(table.cells.columns, tuple(map(np.arange, np.diff(bin_offsets).tolist())))
    count = sum_columns(counts, np.append(starts, offsets[-1]))
    return edges, Table(CATEGORIES, cells, table.rows, {"count": DenseSum(count)})


def sum_within(table: Table, edges: tuple[FloatArray, ...]) -> Table:
    """Bins between given edges as a table of categories."""
    parts = []
    for count, keys, between in zip(
        count_by_column(table), cast("Grid", table.cells).all_middles(), edges, strict=True
    ):
        part = np.zeros((len(count), len(between) + 1))
        np.add.at(part.T, np.searchsorted(between, keys, side="right"), count.T)
        parts.append(part)
    cells = Cells(table.cells.columns, tuple(np.arange(part.shape[1]) for part in parts))
    count = np.concatenate([np.zeros((len(table.rows), 0)), *parts], axis=1)
    return Table(CATEGORIES, cells, table.rows, {"count": DenseSum(count)})


def sum_bins(counts: FloatArray, cuts: NDArray[np.intp]) -> FloatArray:
    """The counts of the bins of one column, (classes, bins).

    >>> sum_bins(np.array([[1.0, 2.0, 4.0]]), np.array([2]))
    array([[3., 4.]])
    """
    return sum_columns(counts, np.concatenate([[0], cuts, [counts.shape[1]]]))


def edges_of(grid: Grid, column: int, cuts: NDArray[np.intp]) -> FloatArray:
    """The least value of each bin but the first of one column."""
    return _edges(grid.floats(column), cuts, exact=not grid.drop[column])


def cut_edges(
    grid: Grid, starts: NDArray[np.intp], bin_offsets: NDArray[np.intp]
) -> tuple[FloatArray, ...]:
    """The least value of each bin but the first, of every column, from where its bins begin."""
    ends = bin_offsets - np.arange(len(bin_offsets))
    exact = np.repeat([not bits for bits in grid.drop], np.diff(ends))
    floats = np.concatenate([np.empty(0), *grid.all_floats()])
    edges = _edges(floats, np.delete(starts, bin_offsets[:-1]), exact=exact)
    return tuple(edges[start:stop] for start, stop in pairwise(ends.tolist()))


def _edges(
    floats: FloatArray, cuts: NDArray[np.intp], *, exact: NDArray[np.bool_] | bool
) -> FloatArray:
    """Half way between neighbours where they are known exactly.

    But never the lower of them, which neighbouring floats would round to.
    """
    low, high = floats[cuts - 1], floats[cuts]
    middle = _between(low, high)
    return np.where(exact & (middle > low), middle, high)


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    return np.where(np.isfinite(middle), middle, low / 2 + high / 2)


def bin_codes(edges: tuple[FloatArray, ...], X: FloatArray) -> NDArray[np.int64]:
    """The bin of every value; -1 where it is missing."""
    return kernel.bins(X, *flat_edges(edges))


def flat_edges(edges: tuple[FloatArray, ...]) -> tuple[FloatArray, NDArray[np.intp]]:
    """The edges of all columns one after the other, and where those of each begin."""
    offsets = np.cumsum([0, *map(len, edges)], dtype=np.intp)
    return np.concatenate([np.empty(0), *edges]), offsets


def _medians(keys: FloatArray, rows: FloatArray, edges: FloatArray) -> FloatArray:
    """The median of the values in every bin."""
    if not len(keys):
        return np.zeros(len(edges) + 1)
    bins = np.searchsorted(edges, keys, side="right")
    out = np.empty(len(edges) + 1)
    for b in range(len(out)):
        inside = np.flatnonzero(bins == b)
        if not len(inside):  # all its rows were taken away
            out[b] = edges[b - 1] if b else edges[0]
            continue
        half = np.cumsum(rows[inside])
        out[b] = keys[inside[np.searchsorted(half, half[-1] / 2)]]
    return out
