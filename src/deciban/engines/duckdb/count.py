"""Categories grouped where the rows are: only the groups travel.

One GROUP BY a column, joined by UNION ALL. It is asked of tables that can be
read more than once, and only about columns of text, which are the same for
DuckDB and for us exactly when their bytes are, and with labels that are text,
whole numbers or truth values. Whole rows are counted, so that no sum is rounded.
All other columns are read and counted here meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding import matrices
from deciban.encoding.casting import cast_labels
from deciban.encoding.matrices import Caster
from deciban.engines.duckdb.sample import Labelled, labelled
from deciban.engines.local.count import count as count_locally
from deciban.engines.protocol import Plan
from deciban.errors import FileError
from deciban.labels import Labels
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Integers, concatenate
from deciban.sources.duckdb import DuckDBScan, quote
from deciban.sources.labelled import LabelledScan
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.sums import DenseSum
from deciban.stats.table import Table

__all__ = ["count", "group"]

#: The most groups in a batch of an answer.
BATCH_GROUPS = 1 << 20


def count(scan: LabelledScan, plan: Plan) -> Counts:
    """The counts of all rows; some of them are put into the sample of the plan."""
    there = labelled(scan)
    columns = () if there is None else _text_categories(there.table, scan.caster, plan.schema)
    if there is None or not columns or _has_unlabelled(scan, there):
        return count_locally(scan, plan)
    rest = scan.select(name for name in plan.schema.names if name not in columns)
    with ThreadPoolExecutor(1) as pool:
        groups = pool.submit(group, there.table, columns, there.target, scan.classes)
        # A sample tells rows apart by all that they hold: then whole rows are read.
        read = rest if plan.sample is None else scan
        counted = count_locally(read, Plan(rest.schema, plan.tokenizer, plan.sample))
        whole = plan.empty(counted.classes) + counted + groups.result()
    return _with_rows(whole, there.table.path)


def _text_categories(table: DuckDBScan, caster: Caster, schema: Schema) -> tuple[str, ...]:
    """The columns that DuckDB groups exactly: texts, which were none other in training."""
    texts = {name for name, of in caster.types.items() if of in ("text", "any")}
    columns = [c.name for c in schema.columns if c.kind == "categorical" and c.name in texts]
    return tuple(name for name in columns if table.types[name] == "VARCHAR")


def _has_unlabelled(scan: LabelledScan, there: Labelled) -> bool:
    """Whether some rows have to be put aside; where none may be, counting here refuses them."""
    if scan.unlabelled is None:
        return False
    n_rows, n_labels = there.n_rows()
    return n_labels < n_rows


def _with_rows(whole: Counts, path: str) -> Counts:
    """The counts with the weight of all rows behind the groups, which must fit."""
    categories = replace(whole.tables[CATEGORIES.name], rows=whole.weight)
    sums = categories.sums
    if CATEGORIES.impossible(sums, sums, whole.weight, categories.cells).any():
        raise FileError(f"{path} changed while it was read.", hint="train again")
    return Counts(whole.classes, whole.weight, {**whole.tables, CATEGORIES.name: categories})


def group(
    table: DuckDBScan, columns: Sequence[str], target: str, classes: Labels | None = None
) -> Counts:
    """How often each value of some columns comes with each label; the weight of rows is left 0."""
    groups = _groups(table, columns, target)
    label = matrices.column_classes(groups["label"])
    if classes is not None:
        label = cast_labels(label, classes)
    n, number = (cast("Integers", groups[name]).values for name in ("n", "number"))
    values, counts = [], [np.zeros((len(label.classes), 0))]
    for j in range(len(columns)):
        own: NDArray[np.intp] = np.flatnonzero((number == j) & ~groups["value"].missing)
        known, codes = _ordered(groups["value"].take(own))
        part = np.zeros((len(label.classes), len(known)))
        np.add.at(part, (label.codes[own], codes), n[own])
        values.append(known)
        counts.append(part)
    cells = Cells(labels.label_array(columns), tuple(values))
    rows = np.zeros(len(label.classes))
    sums = {"count": DenseSum(np.concatenate(counts, axis=1))}
    return Counts(label.classes, rows, {CATEGORIES.name: Table(CATEGORIES, cells, rows, sums)})


def _groups(table: DuckDBScan, columns: Sequence[str], target: str) -> dict[str, Column]:
    """All groups: the number of the column, the label, the value, and how many rows they have."""
    sql = " UNION ALL ".join(_group_by(table, j, name, target) for j, name in enumerate(columns))
    batches: list[Batch] = list(table.ask(sql, BATCH_GROUPS))
    names = ("number", "label", "value", "n")
    return {name: concatenate([batch.columns[name] for batch in batches]) for name in names}


def _group_by(table: DuckDBScan, number: int, column: str, target: str) -> str:
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
