"""What AODE counts: values, and pairs of values, by class; it adds up and can be taken apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.aode.layout import Layout, spread
from deciban.errors import InputError, NegativeCountError
from deciban.labels import Labels
from deciban.stats import rounding
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.sums import DenseSum
from deciban.stats.table import Table

FloatArray = NDArray[np.float64]
#: Where each numeric column is cut into bins.
Edges = Mapping[str, FloatArray]

#: The block of the counts that holds the values.
VALUES = "values"


def nothing(columns: Sequence[str], edges: Edges, classes: Labels) -> Counts:
    """The counts of no rows: all columns, all bins, these classes."""
    none: Labels = np.empty(0, dtype=object)
    values = [np.arange(len(edges[n]) + 1) if n in edges else none for n in columns]
    cells = Cells(labels.label_array(list(columns)), tuple(values))
    rows = np.zeros(len(classes))
    table = Table(
        CATEGORIES, cells, rows, {"count": DenseSum(np.zeros((len(classes), cells.size)))}
    )
    return Counts(classes, rows, {VALUES: table})


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of the values of every column, and the weight of their pairs.

    ``pairs`` is (lines of the layout, classes). Whole weights are exact. The
    values of a numeric column are its bins, cut at ``edges``: only tallies of
    the same bins can be compared or added.
    """

    edges: Edges
    counts: Counts
    pairs: FloatArray

    __hash__ = None  # type: ignore[assignment]

    @property
    def cells(self) -> Cells:
        """The values of every column."""
        return self.counts.tables[VALUES].cells

    @property
    def weight(self) -> FloatArray:
        """The weight of the rows of each class."""
        return self.counts.weight

    @cached_property
    def layout(self) -> Layout:
        """Where the pairs stand."""
        return Layout.of(self.cells)

    def aligned(self, counts: Counts) -> FloatArray:
        """The pairs on the classes and cells of other counts."""
        old = self.counts.classes, self.cells
        return spread(self.pairs, old, (counts.classes, counts.tables[VALUES].cells))

    def widened(self, counts: Counts) -> Tally:
        """The same with the classes and values of other counts."""
        wide = self.counts + counts * 0.0
        return Tally(self.edges, wide, self.aligned(wide))

    def __add__(self, other: Tally) -> Tally:
        self._check_bins(other)
        counts = self.counts + other.counts
        return Tally(self.edges, counts, self.aligned(counts) + other.aligned(counts))

    def __sub__(self, other: Tally) -> Tally:
        self._check_bins(other)
        left = self.counts - other.counts  # refuses what single values already show
        # Columns and bins stay when their last row goes, categories do not.
        left = nothing(self.cells.columns.tolist(), self.edges, left.classes) + left
        whole = self.counts + other.counts
        pairs = rounding.difference(self.aligned(whole), other.aligned(whole))
        if np.any(pairs < 0):
            raise NegativeCountError(
                "some pair of values occurs more often in what is taken away.",
                hint="only rows that were added can be taken away",
            )
        return Tally(self.edges, left, Tally(self.edges, whole, pairs).aligned(left))

    def __mul__(self, factor: float) -> Tally:
        return Tally(self.edges, self.counts * factor, self.pairs * float(factor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        if not _same_edges(self.edges, other.edges) or self.counts != other.counts:
            return False
        both = self.counts + other.counts
        return rounding.same(self.aligned(both), other.aligned(both))

    def _check_bins(self, other: Tally) -> None:
        for name in {**self.edges, **other.edges}:
            mine, theirs = self.edges.get(name), other.edges.get(name)
            if mine is None or theirs is None or not np.array_equal(mine, theirs):
                raise InputError(
                    f"column {name!r} is cut into different bins in the two models.",
                    hint="give the second the bins of the first: AODE(bins=first.bins_)",
                )


def _same_edges(a: Edges, b: Edges) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
