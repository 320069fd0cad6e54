"""Bernoulli bags: each column is present (1) or absent (0), and absence counts too.

``P(x_j = 1 | c) = (n_{c,j} + lam) / (n_c + 2 lam)``, where ``n_{c,j}`` is the
number of rows of class c that have column j, and ``n_c`` that of all its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.families import bag
from deciban.families.bag import Linear, add, count, explain, same, subtract
from deciban.families.discrete import FloatArray, log_shares, more_than, pseudo_count
from deciban.families.settings import Settings
from deciban.labels import Labels
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


def check(X: Any, columns: Labels) -> None:
    """Amounts are 0 or 1."""
    bag.check(X, columns)
    values = X.data if hasattr(X, "indptr") else X
    good = (values == 0) | (values == 1)
    bag.refuse(X, columns, good, InputError, "0 or 1", "use x > 0 for presence")


def impossible(
    left: dict[str, Any], whole: dict[str, Any], rows: FloatArray, cells: Cells
) -> NDArray[np.bool_]:
    """Fewer than no row, or more than all of them, with a column."""
    return np.asarray((left["amount"] < 0) | more_than(left["amount"], rows))


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Linear:
    """``log P(x_j = 1 | c)`` and ``log P(x_j = 0 | c)``, by the chosen method."""
    extra = pseudo_count(settings.method, settings.per_column(cells.size))
    tables = np.empty((2, cells.size, len(rows)))
    for c, amount in enumerate(sums["amount"]):  # class by class: a large table has no copies
        present = np.maximum(amount + extra, 0.0)
        absent = np.maximum(rows[c] - amount + extra, 0.0)
        for table, part in zip(tables, (present, absent), strict=True):
            table[:, c] = log_shares(part, present + absent, 2)
    return Linear(*tables)
