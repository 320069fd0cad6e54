"""Categorical columns: one of ``S_j`` values per row.

``X`` holds codes: the position of the value among the column's cells, -1 for
a missing value, anything beyond for a value never seen in training.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.families.discrete import (
    FloatArray,
    log_shares,
    more_than,
    pseudo_count,
    same,
    subtract,
)
from deciban.kernels import categorical as kernel
from deciban.labels import Labels
from deciban.settings import Settings

__all__ = [
    "add",
    "check",
    "count",
    "estimate",
    "explain",
    "impossible",
    "same",
    "subtract",
]


@dataclass(frozen=True, eq=False)
class Params:
    """Log-probabilities; the last cell of each column is for values never seen."""

    offsets: NDArray[np.intp]
    log_prob: FloatArray

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
    sizes = np.diff(cells.offsets)
    known = np.add.reduceat(count, cells.offsets[:-1][sizes > 0], axis=1)
    too_many = np.repeat(more_than(known, rows), sizes[sizes > 0], axis=1)
    return np.asarray((count < 0) | too_many)


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Params:
    """``log P(x_j = a | c)`` by the chosen method; ``S_j`` stated or as seen."""
    seen = np.diff(cells.offsets)
    sizes = np.maximum(settings.least_sizes(len(seen)), seen)
    extra = pseudo_count(settings.method, settings.per_column(len(seen)))
    offsets = np.concatenate([[0], np.cumsum(seen + 1)]).astype(np.intp)
    log_prob = np.zeros((offsets[-1], len(rows)))
    for j, (start, stop) in enumerate(pairwise(cells.offsets)):
        amount = np.maximum(sums["count"][:, start:stop] + extra[j], 0.0)
        other = max(float(extra[j]), 0.0)
        total = amount.sum(axis=1, keepdims=True) + (sizes[j] - seen[j]) * other
        log_prob[offsets[j] : offsets[j + 1] - 1] = log_shares(amount, total, sizes[j]).T
        log_prob[offsets[j + 1] - 1] = _unseen(other, total[:, 0], sizes[j], settings)
    return Params(offsets, log_prob)


def _unseen(share: float, total: FloatArray, size: float, settings: Settings) -> FloatArray:
    """A value never seen: its smoothed share under every class, or no evidence at all."""
    if settings.unseen == "skip" or share == 0.0:
        return np.zeros_like(total)
    return log_shares(np.full_like(total, share), total, size)


def add(params: Params, X: NDArray[np.int64], out: FloatArray) -> None:
    """Add ``sum_j log P(x_j | c)``."""
    kernel.add(X, params.offsets, params.log_prob, out)


def explain(params: Params, X: NDArray[np.int64]) -> FloatArray:
    """``log P(x_j | c)`` of every column; a missing value says nothing."""
    last = np.diff(params.offsets) - 1
    at = params.offsets[:-1] + np.minimum(np.maximum(X, 0), last)
    return np.asarray(np.where((X < 0)[:, :, None], 0.0, params.log_prob[at]))
