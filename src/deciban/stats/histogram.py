"""Histograms of numbers: the weight of each class on the keys of a grid.

The keys are the values' own bits (:mod:`deciban.stats.grid`), so that bins are cut after
counting, and histograms of parts merge in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deciban.kernels import histogram as kernel
from deciban.labels import Labels
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.grid import MAX_GRID_KEYS, Grid
from deciban.stats.statistic import (
    Additive,
    Codes,
    FloatArray,
    Sums,
    number_matrix,
    refuse_infinity,
)
from deciban.stats.sums import DenseSum, Mask, Sum
from deciban.stats.table import Table


class Histogram(Additive):
    """The rows of class c whose number in column j has each key."""

    name = "histogram"
    sum_types: Mapping[str, type[Sum]] = {"count": DenseSum}
    signed: frozenset[str] = frozenset()

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
        grid, counts = tabulate(X, y, n_classes, weight, cells.columns)
        out = np.zeros((n_classes, cells.size))
        np.add.at(out.T, grid.positions(cells), counts.values.T)
        return {"count": DenseSum(out)}

    def impossible(self, left: Sums, whole: Sums, rows: FloatArray, cells: Cells) -> Mask:
        """A count below zero, or more values in a column than rows."""
        return CATEGORIES.impossible(left, whole, rows, cells)


HISTOGRAM = Histogram()


def tabulate(
    X: FloatArray,
    y: Codes,
    n_classes: int,
    weight: FloatArray | None,
    names: Labels,
    drop: Sequence[int] | None = None,
) -> tuple[Grid, DenseSum]:
    """The keys that the rows have, and the weight of each class on them.

    Where it is known that other rows of the table need ``drop`` bits dropped,
    these rows need not find that out by themselves.
    """
    start = [0] * X.shape[1] if drop is None else drop
    columns = [
        kernel.count(np.ascontiguousarray(X[:, j]), y, weight, n_classes, start[j], MAX_GRID_KEYS)
        for j in range(X.shape[1])
    ]
    grid = Grid(names, tuple(keys for _, keys, _ in columns), tuple(bits for bits, _, _ in columns))
    counts = np.concatenate([np.zeros((n_classes, 0)), *(c for _, _, c in columns)], axis=1)
    return grid, DenseSum(counts)


def grid_of(table: Table) -> Grid:
    """The grid of a table of histograms."""
    if not isinstance(table.cells, Grid):
        raise TypeError("a histogram is counted on a grid")
    return table.cells
