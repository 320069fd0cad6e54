"""Bags of amounts, each taken out of the counts that it was counted in.

A row changes only what its own columns were counted in, and the totals of its class. So the work
follows the non-zeros, as it does in scoring; where absence counts, what absent columns say is
summed once for each class and weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.kernels.discrete import log_shares
from deciban.stats.amounts import AmountRows
from deciban.stats.rounding import difference
from deciban.stats.statistic import Codes, FloatArray

__all__ = ["Entries", "leave_out_complement", "leave_out_multinomial", "leave_out_presences"]


class Entries(NamedTuple):
    """The amounts of rows that are not zero: the row and the column of each, and how many rows."""

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    amount: FloatArray
    n_rows: int

    @classmethod
    def of(cls, X: AmountRows) -> Entries:
        """Those of dense or compressed rows.

        >>> Entries.of(np.array([[0.0, 2.0], [1.0, 0.0]])).column
        array([1, 0])
        """
        if isinstance(X, np.ndarray):
            row, column = np.nonzero(X)
            return cls(row, column, X[row, column], len(X))
        n_rows = len(X.indptr) - 1
        row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
        there = np.asarray(X.data) != 0
        return cls(row[there], np.asarray(X.indices)[there], np.asarray(X.data)[there], n_rows)

    def sum_rows(self, values: FloatArray) -> FloatArray:
        """The sum of the values of each row, one for each entry, (rows,)."""
        return np.bincount(self.row, values, self.n_rows).astype(np.float64)


def leave_out_multinomial(
    bags: Entries, y: Codes, weight: FloatArray, amount: FloatArray, extra: FloatArray
) -> FloatArray:
    """The log likelihood of rows under their own class without them, (rows,).

    ``amount``, (classes, columns), are the counts; ``extra``, (columns,), is added to them.
    """
    own = y[bags.row]
    shares = _shares_left(bags, weight, amount[own, bags.column], extra, _totals(amount, extra)[y])
    return bags.sum_rows(bags.amount * shares)


def leave_out_presences(
    bags: Entries,
    y: Codes,
    weight: FloatArray,
    amount: FloatArray,
    rows: FloatArray,
    extra: FloatArray,
) -> FloatArray:
    """That of columns that are there or not; ``rows``, (classes,), is the weight of each class."""
    own, gone = y[bags.row], weight[bags.row]
    present = np.maximum(difference(amount[own, bags.column], gone) + extra[bags.column], 0.0)
    absent = np.maximum(rows[own] - amount[own, bags.column] + extra[bags.column], 0.0)
    there = bags.sum_rows(log_shares(present, present + absent, 2))
    finite, never = np.zeros((2, len(y)))
    for c, w in sorted(set(zip(y.tolist(), weight.tolist(), strict=True))):
        some = np.flatnonzero((y == c) & (weight == w))
        logs = _absent_logs(amount[c], _left(rows[c], w), extra)
        impossible = np.isneginf(logs)
        logs[impossible] = 0.0
        in_rows = np.isin(bags.row, some)
        at, columns = bags.row[in_rows], bags.column[in_rows]
        finite[some] = logs.sum() - np.bincount(at, logs[columns], len(y))[some]
        never[some] = impossible.sum() - np.bincount(at, impossible[columns], len(y))[some]
    return np.asarray(np.where(never > 0, -np.inf, there + finite))


def leave_out_complement(
    bags: Entries,
    y: Codes,
    weight: FloatArray,
    amount: FloatArray,
    extra: FloatArray,
    least: float,
    normalise: bool,
) -> FloatArray:
    """The scores of rows by all classes but each, without the row, (rows, classes).

    No share is less than ``least``, a logarithm; the weights of a class are divided by their sum
    if they are to be normalised.
    """
    out, whole = np.empty((len(y), len(amount))), amount.sum(axis=0)
    for c, own in enumerate(amount):
        others = whole - own
        gone = np.where(y == c, 0.0, weight)  # a row of the class is none of the others
        total = np.full(len(y), np.maximum(others + extra, 0.0).sum())
        shares = _shares_left(bags, gone, others[bags.column], extra, total)
        shares = np.maximum(shares, least)
        scale = np.full(len(y), -1.0)
        if normalise:
            scale = _sum_of_shares(bags, gone, others, extra, shares, least)
        out[:, c] = bags.sum_rows(bags.amount * shares) / np.where(scale == 0, 1.0, scale)
    return out


def _totals(amount: FloatArray, extra: FloatArray) -> FloatArray:
    """All that is counted in each class, (classes,)."""
    return np.asarray(np.maximum(amount + extra, 0.0).sum(axis=1))


def _shares_left(
    bags: Entries, weight: FloatArray, amount: FloatArray, extra: FloatArray, total: FloatArray
) -> FloatArray:
    """The log share of each entry's column when its row is gone.

    ``amount`` is that of the columns of the entries, and ``total``, (rows,), of all columns.
    """
    more = extra[bags.column]
    left = np.maximum(difference(amount, weight[bags.row] * bags.amount) + more, 0.0)
    gone = bags.sum_rows(np.maximum(amount + more, 0.0) - left)
    remaining = np.maximum(difference(total, gone), 0.0)
    return log_shares(left, remaining[bags.row], len(extra))


def _left(rows: float, weight: float) -> float:
    """The weight of a class without a row."""
    return float(np.maximum(difference(np.array([rows]), np.array([weight])), 0.0)[0])


def _absent_logs(amount: FloatArray, rows: float, extra: FloatArray) -> FloatArray:
    """What the absence of each column says in a class of so many rows, (columns,)."""
    present = np.maximum(amount + extra, 0.0)
    absent = np.maximum(rows - amount + extra, 0.0)
    return log_shares(absent, present + absent, 2)


def _sum_of_shares(
    bags: Entries,
    weight: FloatArray,
    amount: FloatArray,
    extra: FloatArray,
    shares: FloatArray,
    least: float,
) -> FloatArray:
    """The sum of the log shares of all columns without each row, (rows,), given its entries'."""
    before = np.maximum(amount + extra, 0.0)
    left = np.maximum(
        difference(amount[bags.column], weight[bags.row] * bags.amount) + extra[bags.column], 0.0
    )
    total = np.maximum(before.sum() - bags.sum_rows(before[bags.column] - left), 0.0)
    some = before > 0
    logs = np.log(np.where(some, before, 1.0))
    n_others = some.sum() - bags.sum_rows(some[bags.column].astype(np.float64))
    n_never = (~some).sum() - bags.sum_rows((~some[bags.column]).astype(np.float64))
    others = logs.sum() - bags.sum_rows(logs[bags.column])
    with np.errstate(divide="ignore"):
        base = np.where(total > 0, np.log(np.where(total > 0, total, 1.0)), 0.0)
    return np.asarray(others - n_others * base + n_never * least + bags.sum_rows(shares))
