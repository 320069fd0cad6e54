"""Categories counted where the rows are: DuckDB groups, and only the groups travel.

One GROUP BY a column, joined by UNION ALL. It is asked of tables that can be
read more than once, and only about columns of text, which are the same for
DuckDB and for us exactly when their bytes are, and with labels that are text,
whole numbers or truth values. Whole rows are counted, so that no sum is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding import matrices
from deciban.labels import Labels
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Integers, concatenate
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.sums import DenseSum
from deciban.stats.table import Table

__all__ = ["count", "countable", "unlabelled"]

_TEXT = "VARCHAR"
_LABELS = (_TEXT, "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_ROWS = 1 << 20


def countable(table: DuckDBScan, schema: Schema, target: str) -> tuple[str, ...]:
    """The columns that DuckDB can count exactly."""
    if table.types[target] not in _LABELS:
        return ()
    columns = [column.name for column in schema.columns if column.kind == "categorical"]
    return tuple(name for name in columns if table.types[name] == _TEXT)


def unlabelled(table: DuckDBScan, target: str) -> int:
    """How many rows have no label."""
    label = quote(target, '"')
    sql = f"SELECT count(*) - count({label}) AS n FROM {table.sql}"
    return sum(int(batch.columns["n"].tolist()[0] or 0) for batch in table.ask(sql, _ROWS))


def count(table: DuckDBScan, columns: Sequence[str], target: str) -> Counts:
    """How often each value of some columns comes with each label; the weight of rows is left 0."""
    groups = _groups(table, columns, target)
    found = matrices.column_classes(groups["label"])
    n, number = (cast("Integers", groups[name]).values for name in ("n", "number"))
    values, counts = [], [np.zeros((len(found.classes), 0))]
    for j in range(len(columns)):
        own: NDArray[np.intp] = np.flatnonzero((number == j) & ~groups["value"].missing)
        known, codes = _ordered(groups["value"].take(own))
        part = np.zeros((len(found.classes), len(known)))
        part[found.codes[own], codes] = n[own]
        values.append(known)
        counts.append(part)
    cells = Cells(labels.label_array(columns), tuple(values))
    rows = np.zeros(len(found.classes))
    sums = {"count": DenseSum(np.concatenate(counts, axis=1))}
    return Counts(found.classes, rows, {CATEGORIES.name: Table(CATEGORIES, cells, rows, sums)})


def _groups(table: DuckDBScan, columns: Sequence[str], target: str) -> dict[str, Column]:
    """All groups: the number of the column, the label, the value, and how many rows they have."""
    sql = " UNION ALL ".join(_grouped(table, j, name, target) for j, name in enumerate(columns))
    batches: list[Batch] = list(table.ask(sql, _ROWS))
    names = ("number", "label", "value", "n")
    return {name: concatenate([batch.columns[name] for batch in batches]) for name in names}


def _grouped(table: DuckDBScan, number: int, column: str, target: str) -> str:
    value, label = quote(column, '"'), quote(target, '"')
    return (
        f"SELECT {number} AS number, {label} AS label, {value} AS value, count(*) AS n "
        f"FROM {table.sql} GROUP BY {label}, {value}"
    )


def _ordered(column: Column) -> tuple[Labels, NDArray[np.intp]]:
    """Values in their own order, because groups come in any, and the place of each row's value."""
    known, codes = matrices.factorise(column)
    order = np.argsort(known)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return known[order], place[codes]
