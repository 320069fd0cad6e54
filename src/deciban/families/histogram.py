"""Numeric columns as histograms: bins are chosen after counting.

What is counted is every class's weight on the keys of a :class:`Grid`. From
that table, bins are cut when parameters are estimated, and a bin is then a
category: its share of each class is smoothed and compared, and the width of a
bin, being the same under every class, does not matter.

``bins`` of the settings, for all columns or for each:

- a number B >= 2: at most B bins of equal frequency
- ``0``: every key a bin of its own
- ``-1``: bins by minimum description length (Fayyad and Irani, 1993)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.cuts import cut_points
from deciban.families import categorical
from deciban.families.categorical import impossible, same, subtract
from deciban.families.discrete import FloatArray
from deciban.families.gaussian import check
from deciban.grid import MOST, Grid
from deciban.kernels import histogram as kernel
from deciban.settings import Settings

__all__ = [
    "add",
    "check",
    "count",
    "estimate",
    "explain",
    "impossible",
    "left_out",
    "same",
    "subtract",
]


@dataclass(frozen=True, eq=False)
class Params:
    """The edges between the bins of each column, and the bins' log-probabilities."""

    edges: tuple[FloatArray, ...]
    bins: categorical.Params

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.edges)


def tabulate(
    X: FloatArray, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, names: Any
) -> tuple[Grid, dict[str, Any]]:
    """The keys that the rows have, and the weight of each class on them."""
    found = [
        kernel.count(np.ascontiguousarray(X[:, j]), y, weight, n_classes, 0, MOST)
        for j in range(X.shape[1])
    ]
    grid = Grid(names, tuple(keys for _, keys, _ in found), tuple(drop for drop, _, _ in found))
    counts = np.concatenate([np.zeros((n_classes, 0)), *(c for _, _, c in found)], axis=1)
    return grid, {"count": counts}


def count(
    X: FloatArray, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Any]:
    """The weight of each class on the keys of a given grid."""
    grid, sums = tabulate(X, y, n_classes, weight, cells.columns)
    out = np.zeros((n_classes, cells.size))
    np.add.at(out.T, grid.positions(cells), sums["count"].T)
    return {"count": out}


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Params:
    """Cut every column into bins, then estimate their shares as those of categories."""
    edges, table, codes = discretised(sums, cells, settings)
    return Params(edges, categorical.estimate(table, rows, codes, settings))


def discretised(
    sums: dict[str, Any], cells: Cells, settings: Settings
) -> tuple[tuple[FloatArray, ...], dict[str, Any], Cells]:
    """The edges between the bins, and the counts and cells of the bins as categories."""
    grid = grid_of(cells)
    rules = settings.bins_of(len(cells.columns))
    cuts = [
        cut_points(part, int(rule))
        for part, rule in zip(by_column(sums, cells), rules, strict=True)
    ]
    edges = tuple(edges_of(grid, j, cut) for j, cut in enumerate(cuts))
    codes = Cells(cells.columns, tuple(np.arange(len(cut) + 1) for cut in cuts))
    return edges, binned(sums, cells, cuts), codes


def left_out(
    sums: dict[str, Any],
    rows: FloatArray,
    cells: Cells,
    settings: Settings,
    X: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """The same with each row taken away from its class; the bins stay."""
    edges, table, codes = discretised(sums, cells, settings)
    return categorical.left_out(table, rows, codes, settings, codes_of(edges, X), y, weight)


def grid_of(cells: Cells) -> Grid:
    """The cells, which must be a grid."""
    if not isinstance(cells, Grid):
        raise TypeError("a histogram is counted on a grid")
    return cells


def by_column(sums: dict[str, Any], cells: Cells) -> list[FloatArray]:
    """The counts of each column, (classes, keys)."""
    return [sums["count"][:, a:b] for a, b in pairwise(cells.offsets)]


def binned(sums: dict[str, Any], cells: Cells, cuts: list[NDArray[np.intp]]) -> dict[str, Any]:
    """The counts of the bins of all columns, side by side."""
    parts = [
        np.add.reduceat(part, np.concatenate([[0], cut]), axis=1)
        if part.shape[1]
        else np.zeros((len(part), 1))
        for part, cut in zip(by_column(sums, cells), cuts, strict=True)
    ]
    return {"count": np.concatenate(parts, axis=1)}


def edges_of(grid: Grid, column: int, cut: NDArray[np.intp]) -> FloatArray:
    """The values that part the bins: half way between neighbours, where they are known exactly."""
    floats = grid.floats(column)
    if grid.drop[column]:
        return floats[cut]
    return floats[cut - 1] + (floats[cut] - floats[cut - 1]) / 2


def codes_of(edges: tuple[FloatArray, ...], X: FloatArray) -> NDArray[np.int64]:
    """The bin of every value; -1 where it is missing."""
    out = np.empty(X.shape, dtype=np.int64)
    for j, some in enumerate(edges):
        out[:, j] = np.searchsorted(some, X[:, j], side="right")
    out[np.isnan(X)] = -1
    return out


def add(params: Params, X: FloatArray, out: FloatArray) -> None:
    """Add ``sum_j log P(bin of x_j | c)``."""
    categorical.add(params.bins, codes_of(params.edges, X), out)


def explain(params: Params, X: FloatArray) -> FloatArray:
    """``log P(bin of x_j | c)`` of every column."""
    return categorical.explain(params.bins, codes_of(params.edges, X))
