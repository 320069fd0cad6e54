"""Multinomial bags: every unit of a row's amount is one draw from the class's columns.

``P(j | c) = (n_{c,j} + lam) / (n_c + sum_j lam)``, where ``n_{c,j}`` is the
amount of column j in all rows of class c: the text model of Laplace's rule.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from deciban.families.bag_removal import Entries, leave_out_multinomial
from deciban.families.bag_unit_removal import BagsLeft
from deciban.families.linear_bag import BagFamily, LinearParameters, amount_curve
from deciban.families.piece import Piece, beta_draws
from deciban.families.remaining import Remaining
from deciban.families.settings import Settings, pseudo_count
from deciban.kernels import shares
from deciban.stats.amounts import AMOUNTS, amount_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table


class Multinomial(BagFamily):
    """The family of multinomial bags."""

    name = "multinomial"
    shape = "multinomial"
    statistic = AMOUNTS

    def estimate(self, table: Table, settings: Settings) -> LinearParameters:
        """``log P(j | c)`` of every column, by the chosen method."""
        extra = np.atleast_1d(pseudo_count(settings.method, settings.lam))
        alpha = settings.pseudo_counts(table.cells.size)
        amount = amount_of(table)
        if np.any(extra < 0):
            amount, extra = np.maximum(amount + extra, 0.0), np.zeros(1)
        total = amount.sum(axis=1) + np.broadcast_to(extra, table.cells.size).sum()
        present = shares.log_shares(amount, extra, total)
        curve = partial(_curve, table, present, alpha)
        without = partial(_leave_row_out, amount_of(table), alpha)
        units = partial(_leave_units_out, amount_of(table), alpha)
        return LinearParameters(present, unit_curve=curve, without_row=without, without_unit=units)


def _leave_row_out(
    amount: FloatArray,
    extra: FloatArray,
    bags: Entries,
    y: Codes,
    weight: FloatArray,
    out: FloatArray,
) -> None:
    """Replace what rows have under their own class."""
    out[np.arange(len(y)), y] = leave_out_multinomial(bags, y, weight, amount, extra)


def _leave_units_out(
    amount: FloatArray, extra: FloatArray, bags: Entries, remaining: Remaining
) -> FloatArray:
    """What rows have under every class, by what is left for each."""
    return BagsLeft(bags, remaining, amount, extra).multinomial()


def _curve(table: Table, present: FloatArray, extra: FloatArray, column: int) -> Piece:
    """The line of one column, with samples of its slope."""
    alpha = amount_of(table) + extra
    rest = alpha.sum(axis=1) - alpha[:, column]
    draw = beta_draws(alpha[:, column], rest)

    def line(rng: np.random.Generator, n: int) -> FloatArray:
        one = draw(rng, n)
        return np.stack([np.zeros_like(one), one], axis=1)

    return replace(amount_curve(table, present, column), draws=line)


MULTINOMIAL = Multinomial()
