"""Multinomial bags: every unit of a row's amount is one draw from the class's columns.

``P(j | c) = (n_{c,j} + lam) / (n_c + sum_j lam)``, where ``n_{c,j}`` is the
amount of column j in all rows of class c: the text model of Laplace's rule.
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
    """``log P(j | c)`` of every column, by the chosen method."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    amount = np.maximum(sums["amount"] + extra, 0.0)
    total = amount.sum(axis=1, keepdims=True)
    return Linear(np.ascontiguousarray(log_shares(amount, total, cells.size).T))
