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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families import categorical
from deciban.families.categorical import impossible, same, subtract
from deciban.families.discrete import FloatArray
from deciban.families.gaussian import check
from deciban.families.settings import Settings
from deciban.kernels import histogram as kernel
from deciban.stats.cells import Cells
from deciban.stats.cuts import cut_points
from deciban.stats.grid import MOST, Grid

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
    """The edges between the bins of each column; the bins as categories, counted and estimated."""

    edges: tuple[FloatArray, ...]
    cells: Cells
    sums: dict[str, Any]
    bins: categorical.Params

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.edges)


def tabulate(
    X: FloatArray,
    y: NDArray[np.intp],
    n_classes: int,
    weight: FloatArray | None,
    names: Any,
    drop: Sequence[int] | None = None,
) -> tuple[Grid, dict[str, Any]]:
    """The keys that the rows have, and the weight of each class on them.

    Where it is known that other rows of the table need ``drop`` bits dropped,
    these rows need not find that out by themselves.
    """
    start = [0] * X.shape[1] if drop is None else drop
    found = [
        kernel.count(np.ascontiguousarray(X[:, j]), y, weight, n_classes, start[j], MOST)
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
    grid = grid_of(cells)
    rules = settings.bins_of(len(cells.columns)).astype(int).tolist()
    columns = by_column(sums, cells)
    cuts = [cut_points(part, rule) for part, rule in zip(columns, rules, strict=True)]
    edges = tuple(edges_of(grid, j, cut) for j, cut in enumerate(cuts))
    bins = Cells(cells.columns, tuple(np.arange(len(cut) + 1) for cut in cuts))
    parts = [binned(part, cut) for part, cut in zip(columns, cuts, strict=True)]
    table = {"count": np.concatenate([np.zeros((len(rows), 0)), *parts], axis=1)}
    return Params(edges, bins, table, categorical.estimate(table, rows, bins, settings))


def left_out(
    params: Params,
    sums: dict[str, Any],
    cells: Cells,
    settings: Settings,
    X: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """The same with each row taken away from its class; the bins stay."""
    codes = codes_of(params.edges, X)
    return categorical.left_out(params.bins, params.sums, params.cells, settings, codes, y, weight)


def grid_of(cells: Cells) -> Grid:
    """The cells, which must be a grid."""
    if not isinstance(cells, Grid):
        raise TypeError("a histogram is counted on a grid")
    return cells


def by_column(sums: dict[str, Any], cells: Cells) -> list[FloatArray]:
    """The counts of each column, (classes, keys)."""
    return [sums["count"][:, a:b] for a, b in pairwise(cells.offsets)]


def binned(counts: FloatArray, cuts: NDArray[np.intp]) -> FloatArray:
    """The counts of the bins of one column, (classes, bins).

    >>> binned(np.array([[1.0, 2.0, 4.0]]), np.array([2]))
    array([[3., 4.]])
    """
    if not counts.shape[1]:
        return np.zeros((len(counts), 1))
    return np.asarray(np.add.reduceat(counts, np.concatenate([[0], cuts]), axis=1))


def edges_of(grid: Grid, column: int, cut: NDArray[np.intp]) -> FloatArray:
    """The least value of each bin but the first.

    Half way between neighbours where they are known exactly, but never the
    lower of them, which neighbouring floats would round to.
    """
    floats = grid.floats(column)
    low, high = floats[cut - 1], floats[cut]
    if grid.drop[column]:
        return high
    middle = _between(low, high)
    return np.where(middle > low, middle, high)


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    return np.where(np.isfinite(middle), middle, low / 2 + high / 2)


def codes_of(edges: tuple[FloatArray, ...], X: FloatArray) -> NDArray[np.int64]:
    """The bin of every value; -1 where it is missing."""
    offsets = np.cumsum([0, *map(len, edges)], dtype=np.intp)
    return kernel.bins(X, np.concatenate([np.empty(0), *edges]), offsets)


def add(params: Params, X: FloatArray, out: FloatArray) -> None:
    """Add ``sum_j log P(bin of x_j | c)``."""
    categorical.add(params.bins, codes_of(params.edges, X), out)


def add_each(params: Params, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
    """Add ``log P(bin of x_j | c)`` of column j to column ``at[j]`` of out."""
    categorical.add_each(params.bins, codes_of(params.edges, X), at, out)


def explain(params: Params, X: FloatArray) -> FloatArray:
    """``log P(bin of x_j | c)`` of every column."""
    return categorical.explain(params.bins, codes_of(params.edges, X))
