"""The values that histograms of numbers hold: what a likelihood of numbers is judged on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.families.alone import blocks
from deciban.families.protocol import CountedColumns
from deciban.stats.categories import count_of
from deciban.stats.histogram import HISTOGRAM, grid_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table

#: The loss of a column alone is measured on fewer than so many values, and values times classes.
MAX_VALUES_TRIED, MAX_LIKELIHOODS_TRIED = 1 << 14, 1 << 23


class CountedValues(NamedTuple):
    """Values of some ``columns``: the class and the weight of the rows that have each.

    Those of the i-th column begin at ``offsets[i]``.
    """

    columns: NDArray[np.intp]
    offsets: NDArray[np.intp]
    own: Codes
    value: FloatArray
    times: FloatArray

    @property
    def position(self) -> NDArray[np.intp]:
        """Which of the columns each value is of."""
        return np.repeat(np.arange(len(self.columns)), np.diff(self.offsets))

    @property
    def column(self) -> NDArray[np.intp]:
        """The column of each value."""
        return np.asarray(self.columns[self.position])

    def select(self, keep: NDArray[np.bool_]) -> CountedValues:
        """Those of some of the columns."""
        sizes, kept = np.diff(self.offsets)[keep], keep[self.position]
        return self._where(kept, self.columns[keep], sizes)

    def thin(self, max_values: int) -> CountedValues:
        """Every k-th value of each column, so that none has more than so many, or twice that."""
        sizes = np.diff(self.offsets)
        step = 1 + sizes // max_values
        place = np.arange(len(self.own)) - np.repeat(self.offsets[:-1], sizes)
        kept = place % np.repeat(step, sizes) == 0
        return self._where(kept, self.columns, -(-sizes // step))

    def _where(
        self, kept: NDArray[np.bool_], columns: NDArray[np.intp], sizes: NDArray[np.intp]
    ) -> CountedValues:
        """The values that are kept: so many of each of some columns."""
        own, value, times = self.own[kept], self.value[kept], self.times[kept]
        return CountedValues(columns, np.cumsum([0, *sizes], dtype=np.intp), own, value, times)


def counted_values(columns: CountedColumns, at: NDArray[np.intp]) -> Iterator[CountedValues]:
    """The values of some columns of numbers, in blocks of columns; of many values some."""
    table, n_classes = columns.tables[HISTOGRAM.name], max(1, len(columns.class_weight))
    max_values = min(MAX_VALUES_TRIED, MAX_LIKELIHOODS_TRIED // n_classes)
    for first, stop in blocks(np.diff(table.cells.offsets)[at] * n_classes**2):
        yield _values_of(table, at[first:stop]).thin(max_values)


def _values_of(table: Table, columns: NDArray[np.intp]) -> CountedValues:
    """The values of columns of histograms: class by class, in their order."""
    count, offsets, grid = count_of(table), table.cells.offsets, grid_of(table)
    at = columns.tolist()
    amount = np.concatenate([count[:, offsets[j] : offsets[j + 1]] for j in at], axis=1)
    values = np.concatenate([grid.middles(j) for j in at])
    own, key = np.nonzero(amount)
    position = np.repeat(np.arange(len(columns)), np.diff(offsets)[columns])[key]
    order = np.argsort(position, kind="stable")
    own, key = own[order], key[order]
    ends = np.cumsum(np.bincount(position, minlength=len(columns)))
    return CountedValues(columns, np.append(0, ends), own, values[key], amount[own, key])
