"""Multinomial bags: every unit of a row's amount is one draw from the class's columns.

``P(j | c) = (n_{c,j} + lam) / (n_c + sum_j lam)``, where ``n_{c,j}`` is the
amount of column j in all rows of class c: the text model of Laplace's rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.families.bag import Linear, add, check, count, explain, impossible, same, subtract
from deciban.families.discrete import FloatArray, pseudo_count
from deciban.families.settings import Settings
from deciban.kernels import shares
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


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Linear:
    """``log P(j | c)`` of every column, by the chosen method."""
    extra = np.atleast_1d(pseudo_count(settings.method, settings.lam))
    settings.per_column(cells.size)
    amount = sums["amount"]
    if np.any(extra < 0):
        amount, extra = np.maximum(amount + extra, 0.0), np.zeros(1)
    total = amount.sum(axis=1) + np.broadcast_to(extra, cells.size).sum()
    return Linear(shares.log_shares(amount, extra, total))
