"""Categorical columns: one of ``S_j`` values per row.

``X`` holds codes: the position of the value among the column's cells, -1 for
a missing value, anything beyond for a value never seen in training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.families.discrete import FloatArray, log_shares, pseudo_count
from deciban.kernels import categorical as kernel
from deciban.settings import Settings


@dataclass(frozen=True, eq=False)
class Params:
    """Log-probabilities; the last cell of each column is for values never seen."""

    offsets: NDArray[np.intp]
    log_prob: FloatArray


def count(
    X: NDArray[np.int64],
    y: NDArray[np.intp],
    n_classes: int,
    weight: FloatArray | None,
    cells: Cells,
) -> dict[str, Any]:
    """``N_{c,j,a}``: the weight of the rows of class c with value a in column j."""
    return {"count": kernel.count(X, y, weight, cells.offsets, n_classes)}


def impossible(sums: dict[str, Any]) -> NDArray[np.bool_]:
    """A count below zero."""
    return np.asarray(sums["count"] < 0)


def estimate(
    sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings
) -> Params:
    """``log P(x_j = a | c)`` by the chosen method; ``S_j`` stated or as seen."""
    seen = np.diff(cells.offsets)
    sizes = seen if settings.sizes is None else np.maximum(settings.sizes, seen)
    lam = settings.per_column(len(seen))
    extra = pseudo_count(settings.method, lam)
    offsets = np.concatenate([[0], np.cumsum(seen + 1)]).astype(np.intp)
    log_prob = np.zeros((offsets[-1], len(rows)))
    for j, (start, stop) in enumerate(zip(cells.offsets, cells.offsets[1:], strict=False)):
        amount = np.maximum(sums["count"][:, start:stop] + extra[j], 0.0)
        other = max(float(extra[j]), 0.0)
        total = amount.sum(axis=1, keepdims=True) + (sizes[j] - seen[j]) * other
        log_prob[offsets[j] : offsets[j + 1] - 1] = log_shares(amount, total).T
        log_prob[offsets[j + 1] - 1] = _unseen(other, total[:, 0], settings)
    return Params(offsets, log_prob)


def _unseen(share: float, total: FloatArray, settings: Settings) -> FloatArray:
    """A value never seen: its smoothed share under every class, or no evidence at all."""
    if settings.unseen == "skip" or share == 0.0:
        return np.zeros_like(total)
    return log_shares(np.full_like(total, share), total)


def add(params: Params, X: NDArray[np.int64], out: FloatArray) -> None:
    """Add ``sum_j log P(x_j | c)``."""
    kernel.add(X, params.offsets, params.log_prob, out)


def explain(params: Params, X: NDArray[np.int64]) -> FloatArray:
    """``log P(x_j | c)`` of every column; a missing value says nothing."""
    last = np.diff(params.offsets) - 1
    at = params.offsets[:-1] + np.minimum(np.maximum(X, 0), last)
    return np.asarray(np.where((X < 0)[:, :, None], 0.0, params.log_prob[at]))
