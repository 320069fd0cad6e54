"""Soft counts: a family as EM estimates it, from rows that belong to every class by so much.

The part of J (see :mod:`deciban.naive_bayes.em`) that labelled rows and the prior of the
parameters have is arithmetic on the counts of the labelled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.families.settings import Settings
from deciban.stats.statistic import Matrix
from deciban.stats.table import Sum, Table

if TYPE_CHECKING:
    from deciban.families.protocol import Family, Parameters

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftBlock:
    """Columns of one family: the table of labelled rows, and how all rows are estimated.

    ``encode`` turns rows as the model encodes them into what is counted and scored here,
    ``count`` gives the sums of rows that belong to every class by so much, (rows, classes),
    ``objective`` the part of J of the labelled rows and of the parameters' prior.
    """

    family: Family
    table: Table
    settings: Settings
    objective: Callable[[Parameters], float]
    count: Callable[[Matrix, FloatArray], dict[str, Sum]]
    encode: Callable[[Matrix], Matrix]


def count_softly(table: Table) -> Callable[[Matrix, FloatArray], dict[str, Sum]]:
    """Counting of rows under every class: each row once a class, with its weight there."""

    def count(X: NDArray[np.generic], weight: FloatArray) -> dict[str, Sum]:
        n_rows, n_classes = weight.shape
        each = np.tile(np.arange(n_classes), n_rows)
        many = np.repeat(X, n_classes, axis=0)
        return table.statistic.count(many, each, n_classes, weight.ravel(), table.cells)

    return count


def identity(X: Matrix) -> Matrix:
    """Rows as they are."""
    return X


def dot(amount: FloatArray, log: FloatArray) -> float:
    """The sum of products, where nothing times minus infinity is nothing."""
    if not np.isneginf(log).any():
        return float(np.vdot(amount, log))
    return float(np.vdot(amount, np.where(amount > 0, log, 0.0)))
