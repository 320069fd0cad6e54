"""Bags of amounts scored by what is left of the counts when whole units of rows are taken away.

As :mod:`deciban.families.bag_removal`, of which every row takes only itself away. Columns stay,
also those that nothing is left of. Where a score is a sum over the columns that a row has, the work
follows the non-zeros; where it needs all columns, the counts are made anew for each unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from deciban.families.bag_removal import Entries
from deciban.families.remaining import Remaining, UnitLeft, left_by_unit
from deciban.families.unit_removal import add_rows, runs
from deciban.kernels.discrete import log_shares
from deciban.stats.rounding import difference
from deciban.stats.statistic import FloatArray

__all__ = ["BagsLeft"]


@dataclass(frozen=True, eq=False)
class BagsLeft:
    """Rows with what is left for each of ``amount``, (classes, columns).

    ``extra``, (columns,), is added to every count, and is not below zero.
    """

    bags: Entries
    remaining: Remaining
    amount: FloatArray
    extra: FloatArray

    def multinomial(self) -> FloatArray:
        """``sum_j x_j log P(j | c)``, (rows, classes)."""
        total = self._totals() + self.extra.sum()
        return self._sum_shares(lambda left: left, total, -np.inf)

    def complement(self, least: float, normalise: bool) -> FloatArray:
        """The scores of rows by all classes but each, (rows, classes).

        No share is less than ``least``, a logarithm; the weights of a class are divided by their
        sum if they are to be normalised.
        """
        totals = self._totals()
        total = _others(totals) + self.extra.sum()
        scale = np.full(totals.shape, -1.0)
        if normalise:
            for unit in self._units():
                others = _others(unit.left.T).T + self.extra
                shares = log_shares(others, others.sum(axis=1, keepdims=True), others.shape[1])
                scale[unit.rows] = np.maximum(shares, least).sum(axis=1)
        return self._sum_shares(_others, total, least) / np.where(scale == 0, 1.0, scale)

    def presences(self, rows: FloatArray) -> FloatArray:
        """``sum_j log P(j there, or not, | c)``; ``rows``, (classes,), is the weight of each."""
        out = np.empty((self.bags.n_rows, len(rows)))
        left_rows = np.maximum(self.remaining.left(rows), 0.0)
        for unit in self._units():
            there = unit.left + self.extra
            rest = np.broadcast_to(left_rows[unit.rows[0]][:, None], unit.left.shape)
            gone = np.maximum(difference(rest, unit.left), 0.0) + self.extra
            logs = (log_shares(each, there + gone, 2) for each in (there, gone))
            out[unit.rows] = self._there_or_not(unit, *logs)
        return out

    def _there_or_not(self, unit: UnitLeft, present: FloatArray, absent: FloatArray) -> FloatArray:
        """The sums of rows of a unit; what is impossible is counted, so that it is not summed."""
        column = self.bags.column[unit.entries]
        place = np.searchsorted(unit.rows, self.bags.row[unit.entries])
        sums = []
        for part in (_finite, _impossible):
            out = np.tile(part(absent).sum(axis=1), (len(unit.rows), 1))
            add_rows(out, place, (part(present) - part(absent)).T[column])
            sums.append(out)
        finite, never = sums
        return np.where(never > 0, -np.inf, finite)

    def _totals(self) -> FloatArray:
        """All that is left of each class, (rows, classes)."""
        sizes = self.bags.sum_rows(self.bags.amount)
        return np.maximum(self.remaining.left(self.amount.sum(axis=1), sizes), 0.0)

    def _units(self) -> Iterator[UnitLeft]:
        return left_by_unit(self.remaining, *self.bags[:3], self.amount)

    def _sum_shares(
        self, of: Callable[[FloatArray], FloatArray], total: FloatArray, least: float
    ) -> FloatArray:
        """``sum_j x_j log share_j`` of what is left of each class, or of something made of it."""
        out, bags = np.zeros(total.shape), self.bags
        for some in runs(bags.column, total.shape[1]):
            row, column, x = bags.row[some], bags.column[some].astype(np.int64), bags.amount[some]
            left = self.remaining.take(row).left_alike(self.amount.T[column], column, x)
            counts = of(np.maximum(left, 0.0)) + self.extra[column][:, None]
            shares = np.maximum(log_shares(counts, total[row], len(self.extra)), least)
            add_rows(out, row, x[:, None] * shares)
        return out


def _others(amount: FloatArray) -> FloatArray:
    """What all classes but each have, (..., classes)."""
    whole = np.broadcast_to(amount.sum(axis=-1, keepdims=True), amount.shape)
    return np.maximum(difference(whole, amount), 0.0)


def _finite(log: FloatArray) -> FloatArray:
    return np.where(np.isneginf(log), 0.0, log)


def _impossible(log: FloatArray) -> FloatArray:
    return np.isneginf(log).astype(np.float64)
