"""The values that AODE counts, and what each says if nothing else is known.

Pairs of values make what a value says depend on the others, so these tables are
not what the model adds up: they rank the columns, and name values to try.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.aode.model import Model
from deciban.aode.tally import VALUES
from deciban.explanation import Piece
from deciban.families.discrete import log_shares
from deciban.naive_bayes.pieces import column_homes, values_of
from deciban.schema import ColumnSchema
from deciban.stats.categories import count_of

FloatArray = NDArray[np.float64]


def pieces(model: Model) -> list[Piece]:
    """A piece for every counted column that has a value."""
    table = model.counts.tables[VALUES]
    found = []
    for j, name in enumerate(table.cells.columns.tolist()):
        some = slice(table.cells.offsets[j], table.cells.offsets[j + 1])
        counts = count_of(table)[:, some].T
        amount = counts + model.choices[name].smoothing
        log = log_shares(amount, amount.sum(axis=0, keepdims=True), len(amount))
        home, edges = column_homes(model.schema)[name], model.tally.edges.get(name)
        values: tuple[Any, ...] = tuple((table.cells.values or ())[j].tolist())
        if edges is not None:
            values = _inside(home, edges)
        if len(values):
            kind = "category" if edges is None else "number"
            said = model.discount * log
            found.append(Piece(home.name, name, kind, values, said, np.exp(log), counts))  # type: ignore[arg-type]
    return found


def _inside(column: ColumnSchema, edges: FloatArray) -> tuple[Any, ...]:
    """A value of every bin; of the outer ones, near their edge."""
    if not len(edges):
        return ()
    width = float(np.diff(edges).mean()) if len(edges) > 1 else 1.0
    middle = (edges[1:] + edges[:-1]) / 2
    return values_of(column, np.concatenate([[edges[0] - width / 2], middle, edges[-1:]]))
