"""What the views see of a row: numbers on a common scale, values marked 0 or 1, cells.

Everything is fixed by the rows of training. A number beyond those that were
seen is treated as the nearest of them, a value never seen as a hole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.families.histogram import bin_codes, edges_of
from deciban.stats.counts import Counts
from deciban.stats.cuts import even
from deciban.stats.histogram import count_by_column, grid_of

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]
Cells = NDArray[np.uint8]

#: Numbers are cut into no more bins than this, for trees.
MOST_BINS = 250
#: Fewer where rows are few, one for so many of them, but no fewer than these for that reason;
ROWS_A_BIN, FEW_BINS = 16, 63
#: and fewer where columns are many: together no more than this, though no fewer than these each.
ALL_BINS, FEWEST_BINS = 16_384, 16
#: The most frequent values of a category are told apart, by trees and by linear terms.
MOST_CELLS, MOST_MARKS = 254, 64
#: All products of numbers are terms while they are no more than this; else squares alone.
MOST_PRODUCTS = 300
#: Beyond this many standard deviations, what enters products grows ever more slowly.
FAR = 3.0
#: The standard deviation of products, where that of numbers is 1.
SPREAD_OF_PRODUCTS = 0.7


@dataclass(frozen=True, eq=False)
class Columns:
    """The scales of the numbers and products, and the cells of all columns.

    ``low`` to ``high`` is the range of each number, ``middle`` and ``spread``
    its mean and standard deviation; ``rank`` orders the values of a category by
    their frequency, ``share`` is how frequent each is.
    """

    low: FloatArray
    high: FloatArray
    middle: FloatArray
    spread: FloatArray
    edges: tuple[FloatArray, ...]
    rank: tuple[Codes, ...]
    share: tuple[FloatArray, ...]
    product_middle: FloatArray
    product_spread: FloatArray

    @property
    def n_numbers(self) -> int:
        """How many columns are numbers; they stand before the categories."""
        return len(self.middle)

    # ------------------------------------------------------------------ linear terms

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """How many values of each category are marked."""
        return tuple(min(len(share), MOST_MARKS) if len(share) > 1 else 0 for share in self.share)

    @cached_property
    def linear_columns(self) -> NDArray[np.intp]:
        """The column of every linear term."""
        places = np.arange(self.n_numbers, self.n_numbers + len(self.marks))
        return np.concatenate([np.arange(self.n_numbers), np.repeat(places, self.marks)]).astype(
            np.intp
        )

    @cached_property
    def product_columns(self) -> NDArray[np.intp]:
        """The two columns of every product, (2, products)."""
        d = self.n_numbers
        squares = np.stack([np.arange(d), np.arange(d)])
        return squares if d * (d + 1) // 2 > MOST_PRODUCTS else np.stack(np.triu_indices(d))

    def scaled(self, numbers: FloatArray) -> FloatArray:
        """Numbers with a mean of 0 and a standard deviation of 1; holes are at the mean."""
        inside = np.clip(numbers, self.low, self.high)
        return np.nan_to_num((inside - self.middle) / self.spread)

    def linear(self, numbers: FloatArray, codes: Codes) -> FloatArray:
        """The linear terms: scaled numbers, and marks less their mean."""
        parts = [self.scaled(numbers)]
        for j, (share, n_marks) in enumerate(zip(self.share, self.marks, strict=True)):
            ranks = self._ranks(j, codes[:, j])
            marked = (ranks[:, None] == np.arange(n_marks)) - share[:n_marks]
            parts.append(np.where((ranks >= 0)[:, None], marked, 0.0))
        return np.ascontiguousarray(np.hstack(parts))

    def products(self, numbers: FloatArray) -> FloatArray:
        """Squares and products of the numbers, scaled."""
        return np.asarray((self._raw_products(numbers) - self.product_middle) / self.product_spread)

    def _raw_products(self, numbers: FloatArray) -> FloatArray:
        z = self.scaled(numbers)
        z = z / np.sqrt(1.0 + (z / FAR) ** 2)
        first, second = self.product_columns
        return np.asarray(z[:, first] * z[:, second])

    # ------------------------------------------------------------------ cells

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many cells each column has, the one for holes apart."""
        bins = [len(edges) + 1 for edges in self.edges]
        values = [min(len(share), MOST_CELLS) for share in self.share]
        return np.array(bins + values, dtype=np.intp)

    @cached_property
    def ordered(self) -> Cells:
        """Which columns have cells in an order."""
        return np.repeat([1, 0], [self.n_numbers, len(self.share)]).astype(np.uint8)

    def cells(self, numbers: FloatArray, codes: Codes) -> Cells:
        """The cell of every value; the last one of a column is for holes."""
        out = np.empty((len(numbers), len(self.sizes)), dtype=np.int64)
        out[:, : self.n_numbers] = bin_codes(self.edges, np.ascontiguousarray(numbers))
        for j in range(len(self.share)):
            out[:, self.n_numbers + j] = self._ranks(j, codes[:, j])
        known = (out >= 0) & (out < self.sizes)
        return np.ascontiguousarray(np.where(known, out, self.sizes).astype(np.uint8))

    def _ranks(self, j: int, codes: Codes) -> Codes:
        """How frequent values are, 0 being the most; -1 for holes and values never seen."""
        known = (codes >= 0) & (codes < len(self.rank[j]))
        return np.where(known, np.append(self.rank[j], -1)[np.where(known, codes, -1)], -1)


def fitted(counts: Counts, numbers: FloatArray, weight: FloatArray) -> Columns:
    """The columns of a table: bins from its counts, scales from (some of) its rows."""
    low, high, middle, spread = _scales(numbers, weight)
    edges, (rank, share) = _edges(counts), values_of(counts)
    nothing = np.empty(0)
    first = Columns(low, high, middle, spread, edges, rank, share, nothing, nothing)
    raw = first._raw_products(numbers)
    mean = np.average(raw, axis=0, weights=weight)
    wide = np.sqrt(np.average((raw - mean) ** 2, axis=0, weights=weight)) / SPREAD_OF_PRODUCTS
    return Columns(
        low, high, middle, spread, edges, rank, share, mean, np.where(wide > 0, wide, 1.0)
    )


def _scales(numbers: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
    """The range, mean and standard deviation of each number; 0 and 1 where there is none."""
    known = ~np.isnan(numbers)
    amount = np.where(known, weight[:, None], 0.0)
    total = np.maximum(amount.sum(axis=0), np.finfo(float).tiny)
    values = np.where(known, numbers, 0.0)
    # Half of each, so that numbers near the largest float do not overflow when subtracted.
    middle = np.sum(values * (amount / total), axis=0)
    top = np.maximum(np.max(np.abs(np.where(known, numbers / 2 - middle / 2, 0.0)), axis=0), 1e-300)
    away = np.where(known, (numbers / 2 - middle / 2) / top, 0.0)
    spread = 2 * top * np.sqrt(np.sum(away**2 * (amount / total), axis=0))
    low = np.min(np.where(known, numbers, np.inf), axis=0)
    high = np.max(np.where(known, numbers, -np.inf), axis=0)
    some = known.any(axis=0)
    usable = some & (spread > 0) & np.isfinite(spread)
    return (
        np.where(some, low, 0.0),
        np.where(some, high, 0.0),
        middle,
        np.where(usable, spread, 1.0),
    )


def _edges(counts: Counts) -> tuple[FloatArray, ...]:
    """Where the numbers are cut into cells."""
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
    by_rows = max(FEW_BINS, int(rows) // ROWS_A_BIN)
    by_columns = max(FEWEST_BINS, ALL_BINS // max(1, n_columns))
    return min(MOST_BINS, by_rows, by_columns)


def values_of(counts: Counts) -> tuple[tuple[Codes, ...], tuple[FloatArray, ...]]:
    """The rank of each value of every category by frequency, and the share of each rank."""
    table = counts.tables.get("categories")
    if table is None:
        return (), ()
    ranks, shares = [], []
    for part in count_by_column(table):
        amount = part.sum(axis=0)
        order = np.argsort(-amount, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        ranks.append(rank)
        shares.append(amount[order] / max(amount.sum(), np.finfo(float).tiny))
    return tuple(ranks), tuple(shares)
