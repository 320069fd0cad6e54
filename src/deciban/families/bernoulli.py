"""Bernoulli bags: each column is present (1) or absent (0), and absence counts too.

``P(x_j = 1 | c) = (n_{c,j} + lam) / (n_c + 2 lam)``, where ``n_{c,j}`` is the
number of rows of class c that have column j, and ``n_c`` that of all its rows.
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
    """``log P(x_j = 1 | c)`` and ``log P(x_j = 0 | c)``, by the chosen method."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    present = np.maximum(sums["amount"] + extra, 0.0)
    absent = np.maximum(rows[:, None] - sums["amount"] + extra, 0.0)
    tables = (log_shares(part, present + absent).T for part in (present, absent))
    return Linear(*map(np.ascontiguousarray, tables))
