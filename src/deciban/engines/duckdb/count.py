"""Categories where the rows are: they come as codes, or only their groups travel.

Columns of text are the same for DuckDB and for us exactly when their bytes are; labels are text,
whole numbers or truth values. The texts that a column has in the first rows, if they are few, are
made an ENUM: DuckDB then gives a code a row, in one pass over the file with all other columns,
and what is none of them is asked for afterwards. Other columns of text are grouped, one GROUP BY
a column, joined by UNION ALL. It is asked of tables that can be read more than once; whole rows
are counted, so that no sum is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.encoding import matrices
from deciban.encoding.casting import cast_labels
from deciban.encoding.matrices import Caster
from deciban.engines.duckdb.sample import Labelled, labelled
from deciban.engines.local.count import count as count_locally
from deciban.engines.protocol import Plan
from deciban.errors import FileError
from deciban.labels import Labels
from deciban.schema import INFERENCE_ROWS, Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Integers, concatenate
from deciban.sources.duckdb import DuckDBScan, coded, quote
from deciban.sources.labelled import LabelledScan
from deciban.sources.tabular import Value
from deciban.stats.categories import CATEGORIES, rows_with_value
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, merge
from deciban.stats.table import DenseSum, Table

__all__ = ["count", "group"]

#: The most groups in a batch of an answer.
BATCH_GROUPS = 1 << 20
#: Columns that have no more different texts than this in the first rows are read as codes.
MAX_CODED_TEXTS = 255


def count(scan: LabelledScan, plan: Plan) -> Counts:
    """The counts of all rows; some of them are put into the sample of the plan."""
    there = labelled(scan)
    columns = () if there is None else _text_categories(there.table, scan.caster, plan.schema)
    if there is None or not columns:
        return count_locally(scan, plan)
    # A sample tells rows apart by all that they hold: then whole rows are read.
    coded_columns = columns if plan.sample is None else ()
    values, texts = threads.both(there.labels, partial(_few_texts, there, coded_columns))
    if scan.unlabelled is not None and None in values:  # otherwise counting here refuses them
        return count_locally(scan, plan)
    known = {} if plan.sample is not None else _with_labels(texts, there.target, values)
    asked = [name for name in columns if name not in known]
    rest = scan.select((name for name in plan.schema.names if name not in asked), known)
    read = rest if plan.sample is None else scan
    with ThreadPoolExecutor(1) as pool:
        groups = pool.submit(group, there, asked, scan.classes) if asked else None
        counted = count_locally(read, Plan(rest.schema, plan.tokenizer, plan.sample))
        whole = plan.empty(counted.classes) + counted
        parts = [] if groups is None else [groups.result()]
    rare = [name for name in _with_gaps(counted) if name in known]
    parts += [group(there, rare, scan.classes, known)] if rare else []
    whole = merge([whole, *(part for part in parts if part is not None)])
    return _with_rows(whole, there.table.path)


def _few_texts(there: Labelled, columns: Sequence[str]) -> dict[str, list[str]]:
    """Texts that columns have in the first rows, where they are few."""
    first: list[Batch] = list(there.table.head(INFERENCE_ROWS)) if columns else []
    texts = {
        name: matrices.factorise(concatenate([batch.columns[name] for batch in first]))[0].tolist()
        for name in columns
    }
    return {name: some for name, some in texts.items() if 0 < len(some) <= MAX_CODED_TEXTS}


def _with_labels(
    texts: dict[str, list[str]], target: str, values: Sequence[Value]
) -> dict[str, list[str]]:
    """Texts of columns, and all labels that are texts, if these are few as well."""
    some = [label for label in values if isinstance(label, str)]
    return {**texts, target: some} if 0 < len(some) <= MAX_CODED_TEXTS else texts


def _with_gaps(counts: Counts) -> list[str]:
    """The columns of categories that have no value in some rows."""
    table = counts.tables.get(CATEGORIES.name)
    if table is None:
        return []
    n_values = rows_with_value(table).sum(axis=0)
    gaps = n_values < counts.weight.sum()
    return [str(name) for name in table.cells.columns[gaps]]


def _text_categories(table: DuckDBScan, caster: Caster, schema: Schema) -> tuple[str, ...]:
    """The columns that DuckDB groups exactly: texts, which were none other in training."""
    texts = {name for name, of in caster.types.items() if of in ("text", "any")}
    columns = [c.name for c in schema.columns if c.kind == "categorical" and c.name in texts]
    return tuple(name for name in columns if table.types[name] == "VARCHAR")


def _with_rows(whole: Counts, path: str) -> Counts:
    """The counts with the weight of all rows behind the groups, which must fit."""
    categories = replace(whole.tables[CATEGORIES.name], rows=whole.weight)
    sums = categories.sums
    if CATEGORIES.impossible(sums, sums, whole.weight, categories.cells).any():
        raise FileError(f"{path} changed while it was read.", hint="train again")
    return Counts(whole.classes, whole.weight, {**whole.tables, CATEGORIES.name: categories})


def group(
    there: Labelled,
    columns: Sequence[str],
    classes: Labels | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
) -> Counts | None:
    """How often each value of some columns comes with each label; the weight of rows is left 0.

    Texts that are ``known`` are left out. None where nothing is left.
    """
    groups = _groups(there, columns, known or {})
    if groups is None:
        return None
    label = matrices.column_classes(groups["label"])
    if classes is not None:
        label = cast_labels(label, classes)
    n, number = (cast("Integers", groups[name]).values for name in ("n", "number"))
    values, counts = [], [np.zeros((len(label.classes), 0))]
    for j in range(len(columns)):
        own: NDArray[np.intp] = np.flatnonzero((number == j) & ~groups["value"].missing)
        distinct, codes = _ordered(groups["value"].take(own))
        part = np.zeros((len(label.classes), len(distinct)))
        np.add.at(part, (label.codes[own], codes), n[own])
        values.append(distinct)
        counts.append(part)
    cells = Cells(labels.label_array(columns), tuple(values))
    rows = np.zeros(len(label.classes))
    sums = {"count": DenseSum(np.concatenate(counts, axis=1))}
    return Counts(label.classes, rows, {CATEGORIES.name: Table(CATEGORIES, cells, rows, sums)})


def _groups(
    there: Labelled, columns: Sequence[str], known: Mapping[str, Sequence[str]]
) -> dict[str, Column] | None:
    """All groups: the number of the column, the label, the value, and how many rows they have."""
    parts = [_group_by(there, j, name, known.get(name, ())) for j, name in enumerate(columns)]
    batches: list[Batch] = list(there.table.ask(" UNION ALL ".join(parts), BATCH_GROUPS))
    if not batches:
        return None
    names = ("number", "label", "value", "n")
    return {name: concatenate([batch.columns[name] for batch in batches]) for name in names}


def _group_by(there: Labelled, number: int, column: str, known: Sequence[str]) -> str:
    value, label = quote(column, '"'), quote(there.target, '"')
    where = f"WHERE {value} IS NOT NULL AND {coded(column, known)} IS NULL " if known else ""
    return (
        f"SELECT {number} AS number, {label} AS label, {value} AS value, count(*) AS n "
        f"FROM {there.table.sql} {where}GROUP BY {label}, {value}"
    )


def _ordered(column: Column) -> tuple[Labels, NDArray[np.intp]]:
    """Values in their own order, because groups come in any, and the place of each row's value."""
    known, codes = matrices.factorise(column)
    order = np.argsort(known)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return known[order], place[codes]
