"""Complement bags: a class is scored by how badly the *other* classes explain the row.

Rennie et al. (2003): with ``m_{c,j}`` the amount of column j outside class c,
the weight of column j for class c is ``-log((m_{c,j} + lam) / (m_c + sum_j lam))``,
divided by the sum of these weights over the columns when normalised. The
counts are those of the multinomial family; the scores are weights, not
log-probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.cells import Cells
from deciban.families.bag import Linear, add, count, explain, impossible
from deciban.families.discrete import FloatArray, log_shares, pseudo_count
from deciban.settings import Settings

__all__ = ["add", "count", "estimate", "explain", "impossible"]


def estimate(
    sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings
) -> Linear:
    """The complement weight of every column and class."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    amount = sums["amount"]
    others = np.maximum(amount.sum(axis=0) - amount + extra, 0.0)
    share = log_shares(others, others.sum(axis=1, keepdims=True))
    weight = share / share.sum(axis=1, keepdims=True) if settings.normalise else -share
    return Linear(np.ascontiguousarray(weight.T))
