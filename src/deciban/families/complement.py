"""Complement bags: a class is scored by how badly the *other* classes explain the row.

Rennie et al. (2003): with ``m_{c,j}`` the amount of column j outside class c,
the weight of column j for class c is ``-log((m_{c,j} + lam) / (m_c + sum_j lam))``,
divided by the sum of these weights over the columns when normalised. The
counts are those of the multinomial family; the scores are weights, not
log-probabilities. Without smoothing, a column that no other class has would
weigh infinitely much: it weighs as much as the smallest share a float can hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.cells import Cells
from deciban.families.bag import Linear, add, check, count, explain, impossible, same, subtract
from deciban.families.discrete import FloatArray, log_shares, pseudo_count
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


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Linear:
    """The complement weight of every column and class."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    amount = sums["amount"]
    others = np.maximum(amount.sum(axis=0) - amount + extra, 0.0)
    share = log_shares(others, others.sum(axis=1, keepdims=True), cells.size)
    share = np.maximum(share, np.log(np.finfo(np.float64).tiny))
    total = share.sum(axis=1, keepdims=True)
    weight = share / np.where(total == 0, 1.0, total) if settings.normalise else -share
    return Linear(np.ascontiguousarray(weight.T))
