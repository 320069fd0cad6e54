"""Complement bags: a class is scored by how badly the *other* classes explain the row.

Rennie et al. (2003): with ``m_{c,j}`` the amount of column j outside class c,
the weight of column j for class c is ``-log((m_{c,j} + lam) / (m_c + sum_j lam))``,
divided by the sum of these weights over the columns when normalised. The
counts are those of the multinomial family; the scores are weights, not
log probabilities. Without smoothing, a column that no other class has would
weigh infinitely much: it weighs as much as the smallest share a float can hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from deciban.families.bag_removal import Entries, leave_out_complement
from deciban.families.bag_unit_removal import BagsLeft
from deciban.families.linear_bag import BagFamily, LinearParameters, amount_curve
from deciban.families.remaining import Remaining
from deciban.families.settings import Settings
from deciban.kernels.discrete import log_shares
from deciban.stats.amounts import AMOUNTS, amount_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table

#: What a column that no other class has counts as: the logarithm of the smallest float.
MIN_LOG_SHARE = np.log(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class ComplementSettings(Settings):
    """Settings of complement bags: whether weights are divided by their sum."""

    normalise: bool = False


class Complement(BagFamily):
    """The family of complement bags."""

    name = "complement"
    shape = "complement"
    statistic = AMOUNTS

    def estimate(self, table: Table, settings: Settings) -> LinearParameters:
        """The complement weight of every column and class."""
        size, counts = table.cells.size, amount_of(table)
        extra, whole = settings.pseudo_counts(size), counts.sum(axis=0)
        normalise = isinstance(settings, ComplementSettings) and settings.normalise
        weight = np.empty((size, len(table.rows)))
        for c, amount in enumerate(counts):  # class by class: a large table has no copies
            others = np.maximum(whole - amount + extra, 0.0)
            share = np.maximum(log_shares(others, others.sum(), size), MIN_LOG_SHARE)
            total = share.sum() if normalise else -1.0
            weight[:, c] = share / (total or 1.0)
        without = partial(_leave_row_out, counts, extra, normalise)
        curve = partial(amount_curve, table, weight)
        units = partial(_leave_units_out, counts, extra, normalise)
        return LinearParameters(weight, unit_curve=curve, without_row=without, without_unit=units)


def _leave_row_out(
    amount: FloatArray,
    extra: FloatArray,
    normalise: bool,
    bags: Entries,
    y: Codes,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Replace what rows have under every class, by the others without them."""
    out[:] = leave_out_complement(bags, y, weight, amount, extra, MIN_LOG_SHARE, normalise)


def _leave_units_out(
    amount: FloatArray, extra: FloatArray, normalise: bool, bags: Entries, remaining: Remaining
) -> FloatArray:
    """What rows have under every class, by what is left of the others for each."""
    return BagsLeft(bags, remaining, amount, extra).complement(MIN_LOG_SHARE, normalise)


COMPLEMENT = Complement()
