"""Histograms of numbers: the weight of each class on the keys of a grid.

The keys are the values' own bits (:class:`deciban.stats.cells.Grid`), so that bins are
cut after counting, and histograms of parts merge in any order. Where to cut is read off each
class's counts, (classes, keys), the keys in the order of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import histogram as kernel
from deciban.kernels.categorical import sum_columns
from deciban.labels import Labels, Positions
from deciban.stats.categories import CountsOfValues
from deciban.stats.cells import MAX_GRID_KEYS, Cells, Grid
from deciban.stats.statistic import (
    Codes,
    FloatArray,
    number_matrix,
    refuse_infinity,
)
from deciban.stats.table import DenseSum, Sum, Table

#: The positions of the first keys of new bins.
Cuts = NDArray[np.intp]

#: Every key a bin of its own; bins by minimum description length.
EACH, MDL = 0, -1


class Histogram(CountsOfValues):
    """The rows of class c whose number in column j has each key."""

    name = "histogram"
    cells: type[Cells] = Grid
    by_value = True

    def encode(self, names: Sequence[object], columns: Sequence[Any]) -> tuple[Cells, FloatArray]:
        """The grid of the columns, and their numbers."""
        matrix = number_matrix(columns)
        return Grid.of(list(matrix.T), list(names)), matrix

    def check(self, X: FloatArray, columns: Labels) -> None:
        """Numbers are finite, or NaN for a missing value."""
        refuse_infinity(X, columns)

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """Columns without any key."""
        none = (np.empty(0, dtype=np.int64),) * len(columns)
        grid = Grid(columns, none, (0,) * len(columns))
        return grid, {"count": DenseSum(np.zeros((n_classes, 0)))}

    def count(
        self, X: FloatArray, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
    ) -> dict[str, Sum]:
        """The weight of each class on the keys of a given grid."""
        grid, counts = tabulate(list(X.T), y, n_classes, weight, cells.columns)
        out = np.zeros((n_classes, cells.size))
        np.add.at(out.T, grid.positions(cells), counts.values.T)
        return {"count": DenseSum(out)}


HISTOGRAM = Histogram()


def tabulate(
    numbers: Sequence[FloatArray],
    y: Codes,
    n_classes: int,
    weight: FloatArray | None,
    names: Labels,
    drop: Sequence[int] | None = None,
) -> tuple[Grid, DenseSum]:
    """The keys that columns of numbers have, and the weight of each class on them.

    Where it is known that other rows of the table need ``drop`` bits dropped,
    these rows need not find that out by themselves.
    """
    start = [0] * len(numbers) if drop is None else drop
    columns = [
        kernel.count(column, y, weight, n_classes, bits, MAX_GRID_KEYS)
        for column, bits in zip(numbers, start, strict=True)
    ]
    grid = Grid(names, tuple(keys for _, keys, _ in columns), tuple(bits for bits, _, _ in columns))
    counts = np.concatenate([np.zeros((n_classes, 0)), *(c for _, _, c in columns)], axis=1)
    return grid, DenseSum(counts)


def grid_of(table: Table) -> Grid:
    """The grid of a table of histograms."""
    if not isinstance(table.cells, Grid):
        raise TypeError("a histogram is counted on a grid")
    return table.cells


def cut_points(counts: FloatArray, bins: int) -> Cuts:
    """The cuts of a rule: ``EACH``, ``MDL``, or a number of bins of equal frequency at most.

    Bins of equal frequency have about the same weight, but equal values stay together.

    >>> counts = np.array([[5.0, 5, 0, 0], [0.0, 0, 5, 5]])
    >>> cut_points(counts, MDL), cut_points(counts, 4)
    (array([2]), array([1, 2, 3]))
    """
    return cut_columns(counts, np.array([0, counts.shape[1]]), np.array([bins]))[0][1:]


def bin_columns(
    counts: FloatArray, offsets: Positions, asked: Sequence[tuple[int, NDArray[np.bool_]]]
) -> tuple[FloatArray, Positions]:
    """The counts of the bins of columns, (classes, bins), and where those of each begin.

    ``asked`` are rules, and which columns are cut by each: those of the first come first.

    >>> counts, some = np.array([[5.0, 5, 0, 0, 1, 2]]), np.array([False, True])
    >>> bin_columns(counts, np.array([0, 4, 6]), [(1, ~some), (EACH, some)])
    (array([[10.,  1.,  2.]]), array([0, 1, 3]))
    """
    sizes, parts, n_bins = np.diff(offsets), [], [0]
    for bins, tried in asked:
        some = np.cumsum([0, *sizes[tried]], dtype=np.intp)
        count = counts if tried.all() else counts[:, np.repeat(tried, sizes)]
        starts, ends = cut_columns(count, some, np.full(len(some) - 1, bins))
        parts.append(sum_columns(count, np.append(starts, some[-1])))
        n_bins += np.diff(ends).tolist()
    return np.concatenate(parts, axis=1), np.cumsum(n_bins)


def cut_columns(
    counts: FloatArray, offsets: Positions, rules: NDArray[np.int64]
) -> tuple[Cuts, Positions]:
    """Where the bins of columns begin, each column being cut by its own rule.

    ``counts``, (classes, keys), has the keys of column j from ``offsets[j]`` on. Returned are the
    first keys of all bins, and which of them is the first of each column: it has one bin at least,
    also without a key.

    >>> counts = np.array([[5.0, 5, 0, 0, 1, 2]])
    >>> cut_columns(counts, np.array([0, 4, 4, 6]), np.array([2, 2, EACH]))
    (array([0, 1, 4, 4, 5]), array([0, 2, 3, 5]))
    """
    described = rules == MDL
    if not described.any():
        return kernel.cut(counts.sum(axis=0), offsets, rules)
    total = counts.sum(axis=0)
    parts = [
        start + np.concatenate([[0], by_description(counts[:, start:stop])])
        if own
        else kernel.cut(total, np.array([start, stop]), rules[j : j + 1])[0]
        for j, (own, (start, stop)) in enumerate(zip(described, pairwise(offsets), strict=True))
    ]
    return np.concatenate(parts), np.cumsum([0, *map(len, parts)])


def even(counts: FloatArray, bins: int) -> Cuts:
    """Cuts of equal frequency in which a value fills no more than one bin, however often it occurs.

    The other values are cut as if it were not there.

    >>> counts = np.array([[94.0, 1, 1, 1, 1, 1, 1]])
    >>> cut_points(counts, 4), even(counts, 4)
    (array([1]), array([1, 3, 5]))
    """
    total = counts.sum(axis=0)
    if np.count_nonzero(total) <= bins:
        return cut_points(counts, EACH)
    size, before = total.sum() / bins, np.inf
    while size < before * (1 - 1e-9):
        before, size = size, np.minimum(total, size).sum() / bins
    return cut_points(np.minimum(total, size)[None], bins)


def by_description(counts: FloatArray) -> Cuts:
    """Split where that shortens the description of the classes, and so on in both parts.

    >>> by_description(np.array([[9.0, 1, 9, 1], [1.0, 9, 1, 9]]))
    array([], dtype=int64)
    """
    below = np.concatenate([np.zeros((1, len(counts))), np.cumsum(counts.T, axis=0)])
    cuts: list[int] = []
    parts = [(0, counts.shape[1])]
    while parts:
        start, stop = parts.pop()
        cut = _split(below, start, stop)
        if cut is not None:
            cuts.append(cut)
            parts += [(start, cut), (cut, stop)]
    return np.array(sorted(cuts), dtype=np.intp)


def _split(below: FloatArray, start: int, stop: int) -> int | None:
    """The best cut of a part, if it pays for itself."""
    whole = below[stop] - below[start]
    total = whole.sum()
    if stop - start < 2 or total < 2:
        return None
    left = below[start + 1 : stop] - below[start]
    right = whole - left
    mixed = (left.sum(1) * _entropy(left) + right.sum(1) * _entropy(right)) / total
    best = int(np.argmin(mixed))
    sides = whole, left[best], right[best]
    k, k1, k2 = (int(np.count_nonzero(side)) for side in sides)
    e, e1, e2 = (float(_entropy(side)) for side in sides)
    labellings = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k)  # log2(3**k - 2)
    cost = np.log2(total - 1) + labellings - (k * e - k1 * e1 - k2 * e2)
    return start + 1 + best if e - mixed[best] > cost / total else None


def _entropy(counts: FloatArray) -> FloatArray:
    """In bits, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(total > 0, total, 1.0)
    return np.asarray(-np.sum(share * np.log2(np.where(share > 0, share, 1.0)), axis=-1))
