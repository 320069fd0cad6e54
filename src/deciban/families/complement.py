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

from deciban.families.bag import Linear, add, check, count, explain, impossible, same, subtract
from deciban.families.discrete import FloatArray, log_shares, pseudo_count
from deciban.families.settings import Settings
from deciban.stats.cells import Cells

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

#: What a column that no other class has counts as: the logarithm of the smallest float.
SMALLEST = np.log(np.finfo(np.float64).tiny)


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Linear:
    """The complement weight of every column and class."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    whole = sums["amount"].sum(axis=0)
    weight = np.empty((cells.size, len(rows)))
    for c, amount in enumerate(sums["amount"]):  # class by class: a large table has no copies
        others = np.maximum(whole - amount + extra, 0.0)
        share = np.maximum(log_shares(others, others.sum(), cells.size), SMALLEST)
        total = share.sum() if settings.normalise else -1.0
        weight[:, c] = share / (total or 1.0)
    return Linear(weight)
