"""Bernoulli bags: each column is present (1) or absent (0), and absence counts too.

``P(x_j = 1 | c) = (n_{c,j} + lam) / (n_c + 2 lam)``, where ``n_{c,j}`` is the
number of rows of class c that have column j, and ``n_c`` that of all its rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from deciban.families.bag_removal import Entries, leave_out_presences
from deciban.families.bag_unit_removal import BagsLeft
from deciban.families.linear_bag import BagFamily, LinearParameters
from deciban.families.piece import Piece, dirichlet_draws
from deciban.families.remaining import Remaining
from deciban.families.settings import Settings
from deciban.kernels.discrete import log_shares
from deciban.stats.amounts import PRESENCES, amount_of
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table


class Bernoulli(BagFamily):
    """The family of Bernoulli bags."""

    name = "bernoulli"
    shape = "bernoulli"
    statistic = PRESENCES

    def estimate(self, table: Table, settings: Settings) -> LinearParameters:
        """``log P(x_j = 1 | c)`` and ``log P(x_j = 0 | c)``, by the chosen method."""
        extra = settings.pseudo_counts(table.cells.size)
        tables = np.empty((2, table.cells.size, len(table.rows)))
        for c, amount in enumerate(amount_of(table)):  # class by class: no copies of a large table
            present = np.maximum(amount + extra, 0.0)
            absent = np.maximum(table.rows[c] - amount + extra, 0.0)
            for out, part in zip(tables, (present, absent), strict=True):
                out[:, c] = log_shares(part, present + absent, 2)
        present, absent = tables
        curve = partial(_curve, table, tables, extra)
        without = partial(_leave_row_out, table, extra), partial(_leave_units_out, table, extra)
        return LinearParameters(present, absent, curve, *without)


def _leave_row_out(
    table: Table, extra: FloatArray, bags: Entries, y: Codes, weight: FloatArray, out: FloatArray
) -> None:
    """Replace what rows have under their own class."""
    own = leave_out_presences(bags, y, weight, amount_of(table), table.rows, extra)
    out[np.arange(len(y)), y] = own


def _leave_units_out(
    table: Table, extra: FloatArray, bags: Entries, remaining: Remaining
) -> FloatArray:
    """What rows have under every class, by what is left for each."""
    return BagsLeft(bags, remaining, amount_of(table), extra).presences(table.rows)


def _curve(table: Table, tables: FloatArray, extra: FloatArray, column: int) -> Piece:
    """What absence and presence of a column say."""
    log = np.stack([tables[1][column], tables[0][column]])
    some = amount_of(table)[:, column]
    counts = np.stack([table.rows - some, some])
    draws = dirichlet_draws(counts, float(extra[column]))
    names = ("absent", "present")
    return Piece("", "", "category", (0.0, 1.0), log, np.exp(log), counts, draws, names=names)


BERNOULLI = Bernoulli()
