"""What AODE says of single values: the likelihood of each if nothing else is known.

Pairs of values make it depend on the others, so these tables are not what the model adds up: they
name values to try.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deciban.aode.pair_counts import VALUES
from deciban.explanation.measurement import as_written
from deciban.families.piece import Piece
from deciban.kernels.discrete import log_shares
from deciban.naive_bayes.pieces import column_homes
from deciban.schema import ColumnSchema
from deciban.sources.tabular import Value
from deciban.stats.categories import count_of
from deciban.stats.statistic import FloatArray

if TYPE_CHECKING:
    from deciban.aode.model import AODEModel


def pieces(model: AODEModel) -> list[Piece]:
    """A piece for every counted column that has values."""
    names = model.pair_counts.cells.columns.tolist()
    each = (_piece(model, j, name) for j, name in enumerate(names))
    return [piece for piece in each if piece.values]


def _piece(model: AODEModel, j: int, name: str) -> Piece:
    table = model.counts.tables[VALUES]
    cells = slice(table.cells.offsets[j], table.cells.offsets[j + 1])
    counts = count_of(table)[:, cells].T
    amount = counts + model.choices[name].smoothing
    log = log_shares(amount, amount.sum(axis=0, keepdims=True), len(amount))
    home, cuts = column_homes(model.schema)[name], model.pair_counts.cut_points.get(name)
    tables = model.discount * log, np.exp(log), counts
    if cuts is not None:
        return Piece(home.name, name, "number", _bin_values(home, cuts), *tables)
    values = tuple((table.cells.values or ())[j].tolist())
    return Piece(home.name, name, "category", values, *tables)


def _bin_values(column: ColumnSchema, cuts: FloatArray) -> tuple[Value, ...]:
    """A value of every bin; of the outer ones, near their cut point."""
    if not len(cuts):
        return ()
    width = float(np.diff(cuts).mean()) if len(cuts) > 1 else 1.0
    middle = (cuts[1:] + cuts[:-1]) / 2
    return as_written(column, np.concatenate([[cuts[0] - width / 2], middle, cuts[-1:]]))
