"""Categorical columns: one of ``S_j`` values per row.

``X`` holds codes: the position of the value among the column's cells, -1 for
a missing value, anything beyond for a value never seen in training.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families.discrete import (
    FloatArray,
    log_shares,
    more_than,
    pseudo_count,
    same,
    subtract,
)
from deciban.families.settings import Settings
from deciban.kernels import categorical as kernel
from deciban.kernels import evidence, panels
from deciban.labels import Labels
from deciban.stats.cells import Cells

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
    """Log-probabilities; the last cell of each column is for values never seen."""

    offsets: NDArray[np.intp]
    log_prob: FloatArray

    @cached_property
    def panels(self) -> FloatArray:
        """The log-probabilities as rows are scored with them."""
        return panels.cut(self.log_prob)

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.offsets) - 1


def check(X: NDArray[np.int64], columns: Labels) -> None:
    """Every code is a value, missing, or new."""


def count(
    X: NDArray[np.int64],
    y: NDArray[np.intp],
    n_classes: int,
    weight: FloatArray | None,
    cells: Cells,
) -> dict[str, Any]:
    """``N_{c,j,a}``: the weight of the rows of class c with value a in column j."""
    return {"count": kernel.count(X, y, weight, cells.offsets, n_classes)}


def impossible(
    left: dict[str, Any], whole: dict[str, Any], rows: FloatArray, cells: Cells
) -> NDArray[np.bool_]:
    """A count below zero, or more values in a column than rows."""
    count = left["count"]
    too_many = more_than(_by_column(count, cells), rows)
    return np.asarray((count < 0) | np.repeat(too_many, np.diff(cells.offsets), axis=1))


def _by_column(count: FloatArray, cells: Cells) -> FloatArray:
    """The sum over the cells of each column, (classes, columns)."""
    some = np.diff(cells.offsets) > 0
    out = np.zeros((len(count), len(cells.columns)))
    out[:, some] = np.add.reduceat(count, cells.offsets[:-1][some], axis=1)
    return out


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Params:
    """``log P(x_j = a | c)`` by the chosen method; ``S_j`` stated or as seen."""
    seen = np.diff(cells.offsets)
    sizes = np.maximum(settings.least_sizes(len(seen)), seen)
    extra = pseudo_count(settings.method, settings.per_column(len(seen)))
    column = np.repeat(np.arange(len(seen)), seen)
    amount = np.maximum(sums["count"] + extra[column], 0.0)
    unseen = np.broadcast_to(np.maximum(extra, 0.0), (len(rows), len(seen)))
    total = _totals(sums["count"], cells, extra, sizes)
    offsets = cells.offsets + np.arange(len(seen) + 1)  # one more cell a column
    log_prob = np.zeros((offsets[-1], len(rows)))
    log_prob[np.arange(len(column)) + column] = log_shares(
        amount, total[:, column], sizes[column]
    ).T
    if settings.unseen == "smooth":
        # Where smoothing leaves nothing for a value never seen, it says nothing.
        share = np.where(unseen > 0, log_shares(unseen, total, sizes), 0.0)
        log_prob[offsets[1:] - 1] = share.T
    return Params(offsets, log_prob)


def _totals(count: FloatArray, cells: Cells, extra: FloatArray, sizes: FloatArray) -> FloatArray:
    """What the shares of each column are shares of, (classes, columns).

    The counts are summed by themselves: whole numbers, so that the order of
    the values cannot show.
    """
    column = np.repeat(np.arange(len(extra)), np.diff(cells.offsets))
    low = extra < 0
    whole = _by_column(count, cells) + sizes * np.maximum(extra, 0.0)
    if low.any():
        less = _by_column(np.maximum(count + extra[column], 0.0), cells)
        whole[:, low] = less[:, low]
    return whole


def left_out(
    params: Params,
    sums: dict[str, Any],
    cells: Cells,
    settings: Settings,
    X: NDArray[np.int64],
    y: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """Log-likelihoods, (rows, classes), with each row taken away from its class.

    Only the row's own class changes: its count of the row's values, and its
    total, lose the row's weight. ``S_j`` stays.
    """
    out = np.zeros((len(X), params.log_prob.shape[1]))
    add(params, X, out)
    seen = np.diff(cells.offsets)
    extra = pseudo_count(settings.method, settings.per_column(len(seen)))
    sizes = np.maximum(settings.least_sizes(len(seen)), seen)
    own_class = np.zeros(len(y))
    for j, (start, stop) in enumerate(pairwise(cells.offsets)):
        code = X[:, j]
        new = np.flatnonzero(code >= seen[j])
        own_class[new] += params.log_prob[params.offsets[j + 1] - 1, y[new]]
        known = np.flatnonzero((code >= 0) & (code < seen[j]))
        count = np.ascontiguousarray(sums["count"][:, start:stop])
        own_class[known] += _less(
            count, float(extra[j]), float(sizes[j]), code[known], y[known], weight[known]
        )
    out[np.arange(len(y)), y] = own_class
    return out


def _less(
    count: FloatArray,
    extra: float,
    size: float,
    code: NDArray[np.int64],
    own: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """``log P(value | own class)`` in one column, each row taken away from its own class."""
    amount = np.maximum(count + extra, 0.0)
    total = amount.sum(axis=1) + (size - count.shape[1]) * max(extra, 0.0)
    had = count[own, code]
    left = np.maximum(had - weight + extra, 0.0)
    rest = total[own] - (np.maximum(had + extra, 0.0) - left)
    # What the class keeps of the column: rounding of fractional weights is not a row.
    return log_shares(left, np.where(rest > 1e-9 * weight, rest, 0.0), size)


def add(params: Params, X: NDArray[np.int64], out: FloatArray) -> None:
    """Add ``sum_j log P(x_j | c)``."""
    panels.add_codes(X, params.offsets, params.panels, out)


def explain(params: Params, X: NDArray[np.int64]) -> FloatArray:
    """``log P(x_j | c)`` of every column; a missing value says nothing."""
    out = np.zeros((*X.shape, params.log_prob.shape[1]))
    add_each(params, X, np.arange(X.shape[1]), out)
    return out


def add_each(params: Params, X: NDArray[np.int64], at: NDArray[np.intp], out: FloatArray) -> None:
    """Add ``log P(x_j | c)`` of column j to column ``at[j]`` of out, (rows, columns, classes)."""
    evidence.add_codes(X, params.offsets, params.log_prob, at, out)
