"""Features: what base learners see of a row.

Numbers on a common scale, indicators of categories, products of numbers, and the
cells of all columns for trees. Everything is fixed by the rows of training. A
number beyond those that were seen is treated as the nearest of them. A value never seen
says nothing, nor does a missing one where training had none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.histogram import edges_of, flat_edges
from deciban.kernels import histogram as kernel
from deciban.stats.categories import count_by_column
from deciban.stats.counts import Counts
from deciban.stats.histogram import even, grid_of

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]
Cells = NDArray[np.uint8]

#: Numbers are cut into no more bins than this, for trees.
MAX_BINS = 250
#: Fewer where rows are few, one for so many of them, but no fewer than these for that reason;
ROWS_PER_BIN, MIN_BINS_BY_ROWS = 16, 63
#: and fewer where columns are many: together no more than this, though no fewer than these each.
MAX_BINS_OF_TABLE, MIN_BINS_BY_COLUMNS = 16_384, 16
#: The most frequent values of a category are told apart, by trees and by linear terms.
MAX_CATEGORY_CELLS, MAX_CATEGORY_INDICATORS = 254, 64
#: The cell of what training had none of: a row with it stays where a tree asks for it.
UNKNOWN_CELL = 255
#: Weights that differ by less than this share are equal: they may have been rounded.
ROUNDING_SHARE = 1e-9
#: All products of numbers are terms while they are no more than this; else squares alone.
MAX_PRODUCTS = 300
#: Beyond this many standard deviations, what enters products and distances grows ever more slowly.
PRODUCT_BEND_SDS = 3.0
#: The standard deviation of products, where that of numbers is 1.
PRODUCT_SD = 0.7


@dataclass(frozen=True, eq=False)
class Features:
    """The scales of numbers and products, and the cells of all columns.

    ``low`` to ``high`` is the range of each number, ``mean`` and ``sd`` its mean
    and standard deviation, ``edges`` its cut points; ``rank`` orders the values of
    a category by their frequency, ``frequency`` is that of each rank. ``has_missing`` says in which
    columns values were missing.
    """

    low: FloatArray
    high: FloatArray
    mean: FloatArray
    sd: FloatArray
    edges: tuple[FloatArray, ...]
    rank: tuple[Codes, ...]
    frequency: tuple[FloatArray, ...]
    has_missing: NDArray[np.bool_]
    product_mean: FloatArray
    product_sd: FloatArray

    @property
    def n_numbers(self) -> int:
        """How many columns are numbers; they stand before the categories."""
        return len(self.mean)

    # ------------------------------------------------------------------ linear terms

    @cached_property
    def n_indicators(self) -> tuple[int, ...]:
        """How many values of each category have an indicator."""
        sizes = (len(frequency) for frequency in self.frequency)
        return tuple(min(size, MAX_CATEGORY_INDICATORS) if size > 1 else 0 for size in sizes)

    @cached_property
    def linear_columns(self) -> NDArray[np.intp]:
        """The column of every linear term."""
        categories = self.n_numbers + np.arange(len(self.n_indicators))
        columns = [np.arange(self.n_numbers), np.repeat(categories, self.n_indicators)]
        return np.concatenate(columns).astype(np.intp)

    @cached_property
    def product_columns(self) -> NDArray[np.intp]:
        """The two columns of every product, (2, products)."""
        return product_columns(self.n_numbers)

    def standardise(self, numbers: FloatArray) -> FloatArray:
        """Numbers with a mean of 0 and a standard deviation of 1; missing ones are at the mean."""
        inside = np.clip(numbers, self.low, self.high)
        return np.nan_to_num((inside - self.mean) / self.sd)

    def linear(self, numbers: FloatArray, codes: Codes) -> FloatArray:
        """The linear terms: standardised numbers, and indicators less their mean."""
        columns, ranks, frequency = self._indicators
        mine = self._ranks(codes)[:, columns]
        indicators = np.where(mine >= 0, (mine == ranks) - frequency, 0.0)
        return np.concatenate([self.standardise(numbers), indicators], axis=1)

    def bent(self, numbers: FloatArray) -> FloatArray:
        """Standardised numbers, bent where they are far from the mean."""
        return bend(self.standardise(numbers))

    @cached_property
    def _indicators(self) -> tuple[NDArray[np.intp], Codes, FloatArray]:
        """The category, the rank and the frequency of every indicator."""
        sizes = self.n_indicators
        columns = np.repeat(np.arange(len(sizes)), sizes)
        some = [f[:n] for f, n in zip(self.frequency, sizes, strict=True)]
        ranks = [np.arange(n, dtype=np.int64) for n in sizes]
        none = np.empty(0, dtype=np.int64)
        return columns, np.concatenate([none, *ranks]), np.concatenate([np.empty(0), *some])

    def products(self, numbers: FloatArray) -> FloatArray:
        """Squares and products of the numbers, scaled."""
        return np.asarray((self.raw_products(numbers) - self.product_mean) / self.product_sd)

    def raw_products(self, numbers: FloatArray) -> FloatArray:
        """Squares and products of standardised numbers, bent where these are far from the mean."""
        z = self.bent(numbers)
        first, second = self.product_columns
        return np.asarray(z[:, first] * z[:, second])

    # ------------------------------------------------------------------ cells

    @cached_property
    def n_cells(self) -> NDArray[np.intp]:
        """How many cells each column has, the one for missing values apart."""
        bins = [len(edges) + 1 for edges in self.edges]
        values = [min(len(frequency), MAX_CATEGORY_CELLS) for frequency in self.frequency]
        return np.array(bins + values, dtype=np.intp)

    @cached_property
    def ordered(self) -> Cells:
        """Which columns have cells in an order."""
        return np.repeat([1, 0], [self.n_numbers, len(self.frequency)]).astype(np.uint8)

    def cells(self, numbers: FloatArray, codes: Codes) -> Cells:
        """The cell of every value: the last one of a column is for missing and rare values.

        What training had none of is in no cell of a column: it has ``UNKNOWN_CELL``.
        """
        out = np.empty((len(numbers), len(self.n_cells)), dtype=np.uint8)
        bins = kernel.bins(np.ascontiguousarray(numbers), *self._flat_edges)
        out[:, : self.n_numbers] = np.where(bins < 0, self.missing_cells[: self.n_numbers], bins)
        sizes, starts, _ = self._flat_ranks
        values = self._flat_cells[_known(codes, sizes) + starts]
        out[:, self.n_numbers :] = np.where(codes >= sizes, UNKNOWN_CELL, values)
        return out

    @cached_property
    def missing_cells(self) -> NDArray[np.intp]:
        """The cell of a missing value of each column."""
        return np.where(self.has_missing, self.n_cells, UNKNOWN_CELL)

    @cached_property
    def _flat_cells(self) -> Cells:
        """The cell of every value of every category and of a missing one, beside their ranks."""
        _, starts, ranks = self._flat_ranks
        lengths = np.diff(np.append(starts, len(ranks)))
        last = np.repeat(self.n_cells[self.n_numbers :], lengths)
        missing = np.repeat(self.missing_cells[self.n_numbers :], lengths)
        return np.where(ranks < 0, missing, np.minimum(ranks, last)).astype(np.uint8)

    @cached_property
    def _flat_edges(self) -> tuple[FloatArray, NDArray[np.intp]]:
        return flat_edges(self.edges)

    @cached_property
    def _flat_ranks(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Codes]:
        """How many values each category has, where its ranks begin, all ranks, -1 after each."""
        sizes = np.array([len(rank) for rank in self.rank], dtype=np.intp)
        starts = np.cumsum(np.append(0, sizes + 1))[:-1]
        ranks = [np.append(rank, -1) for rank in self.rank]
        return sizes, starts, np.concatenate([np.empty(0, dtype=np.int64), *ranks])

    def _ranks(self, codes: Codes) -> Codes:
        """How frequent values are, 0 being the most; -1 for missing and for unseen values."""
        sizes, starts, ranks = self._flat_ranks
        return np.asarray(ranks[_known(codes, sizes) + starts])


def bend(z: FloatArray) -> FloatArray:
    """Standardised numbers that grow ever more slowly, up to ``PRODUCT_BEND_SDS``.

    >>> bend(np.array([0.0, -3.0, 1e9])).round(2)
    array([ 0.  , -2.12,  3.  ])
    """
    return np.asarray(z / np.sqrt(1.0 + (z / PRODUCT_BEND_SDS) ** 2))


def _known(codes: Codes, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Codes of values that are known; those of others are how many are known.

    >>> _known(np.array([[0, -1], [3, 1]]), np.array([2, 2]))
    array([[0, 2],
           [2, 1]])
    """
    # As numbers without a sign, those below zero are larger than all others.
    return np.minimum(codes.astype(np.intp).view(np.uintp), sizes.view(np.uintp)).view(np.intp)


def product_columns(n_numbers: int) -> NDArray[np.intp]:
    """The two columns of every product, (2, products): all pairs, or squares where these are many.

    >>> product_columns(2)
    array([[0, 0, 1],
           [0, 1, 1]])
    """
    if n_numbers * (n_numbers + 1) // 2 > MAX_PRODUCTS:
        return np.stack([np.arange(n_numbers), np.arange(n_numbers)])
    return np.stack(np.triu_indices(n_numbers))


def fit(counts: Counts, numbers: FloatArray, weight: FloatArray) -> Features:
    """The features of a table: bins from its counts, scales from (some of) its rows."""
    none = np.empty(0)
    scales = _scales(numbers, weight)
    known = *category_ranks(counts), missing_columns(counts)
    unscaled = Features(*scales, _edges(counts), *known, none, none)
    share = weight / weight.sum()

    def moments(rows: slice) -> FloatArray:
        raw = unscaled.raw_products(numbers[rows])
        return np.stack([share[rows] @ raw, share[rows] @ raw**2])

    # What is bent is small, so that the mean of squares loses nothing.
    mean, square = _added_up(moments, numbers)
    sd = np.sqrt(np.maximum(square - mean**2, 0.0)) / PRODUCT_SD
    return replace(unscaled, product_mean=mean, product_sd=np.where(sd > 1e-9, sd, 1.0))


def _added_up(work: Callable[[slice], FloatArray], numbers: FloatArray) -> FloatArray:
    """The sum of what work gives for parts of the rows that stay in the cache."""
    return np.asarray(sum(threads.run(work, _parts(numbers))))


def _parts(numbers: FloatArray) -> list[slice]:
    rows = threads.SCORE_CHUNK_VALUES // max(1, numbers.shape[1])
    return threads.chunks(len(numbers), rows) or [slice(0, 0)]


def _scales(
    numbers: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The range, mean and standard deviation of each number; 0 and 1 where there is none."""
    low, high = _range(numbers)
    some = low <= high
    low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
    tiny = np.finfo(float).tiny
    total = _added_up(lambda rows: weight[rows] @ ~np.isnan(numbers[rows]), numbers)
    total = np.maximum(total, tiny)

    def mean_of(rows: slice) -> FloatArray:
        share = weight[rows, None] / total
        return np.asarray(np.nansum(numbers[rows] * share, axis=0))

    mean = np.clip(_added_up(mean_of, numbers), low, high)
    # Half of each, so that numbers near the largest float do not overflow when subtracted.
    top = np.maximum(np.maximum(high / 2 - mean / 2, mean / 2 - low / 2), 1e-300)

    def spread(rows: slice) -> FloatArray:
        half = (numbers[rows] / 2 - mean / 2) / top
        return np.asarray(np.nansum(half**2 * (weight[rows, None] / total), axis=0))

    sd = 2 * top * np.sqrt(_added_up(spread, numbers))
    return low, high, mean, np.where(some & (sd > 0) & np.isfinite(sd), sd, 1.0)


def _range(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the largest of each column; infinity and minus infinity where there is none."""
    parts = list(
        threads.run(
            lambda rows: (
                np.fmin.reduce(numbers[rows], axis=0, initial=np.inf),
                np.fmax.reduce(numbers[rows], axis=0, initial=-np.inf),
            ),
            _parts(numbers),
        )
    )
    low, high = zip(*parts, strict=True)
    return np.min(low, axis=0), np.max(high, axis=0)


def _edges(counts: Counts) -> tuple[FloatArray, ...]:
    """The cut points of numbers, for trees."""
    table = counts.tables.get("histogram")
    if table is None:
        return ()
    grid, columns = grid_of(table), count_by_column(table)
    n_bins = _n_bins(counts.weight.sum(), len(columns))
    return tuple(edges_of(grid, j, even(part, n_bins)) for j, part in enumerate(columns))


def _n_bins(rows: float, n_columns: int) -> int:
    """How many bins the numbers of a table are cut into.

    >>> _n_bins(500, 10), _n_bins(50_000, 10), _n_bins(500, 3_000)
    (63, 250, 16)
    """
    by_rows = max(MIN_BINS_BY_ROWS, int(rows) // ROWS_PER_BIN)
    by_columns = max(MIN_BINS_BY_COLUMNS, MAX_BINS_OF_TABLE // max(1, n_columns))
    return min(MAX_BINS, by_rows, by_columns)


def category_ranks(counts: Counts) -> tuple[tuple[Codes, ...], tuple[FloatArray, ...]]:
    """The rank of each value of every category by frequency, and the frequency of each rank."""
    table = counts.tables.get("categories")
    if table is None:
        return (), ()
    ranks, frequencies = [], []
    for part in count_by_column(table):
        amount = part.sum(axis=0)
        order = np.argsort(-amount, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        ranks.append(rank)
        frequencies.append(amount[order] / max(amount.sum(), np.finfo(float).tiny))
    return tuple(ranks), tuple(frequencies)


def missing_columns(counts: Counts) -> NDArray[np.bool_]:
    """Which columns have rows without a value: numbers, then categories."""
    tables = (counts.tables.get(name) for name in ("histogram", "categories"))
    columns = [part for table in tables if table is not None for part in count_by_column(table)]
    present = np.array([part.sum() for part in columns], dtype=np.float64)
    return np.asarray(present < (1.0 - ROUNDING_SHARE) * counts.weight.sum())
