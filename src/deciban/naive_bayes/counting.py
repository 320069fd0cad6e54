"""Rows to counts: the one pass over a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.encoding import matrices
from deciban.engines import duckdb as grouping
from deciban.errors import FileError, InputError, ShapeError
from deciban.labels import Labels
from deciban.naive_bayes.texts import WordCounter
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.duckdb import DuckDBScan
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM, grid_of, tabulate
from deciban.stats.moments import MOMENTS
from deciban.stats.table import Table
from deciban.stats.words import WORDS
from deciban.text import Tokenizer

FloatArray = NDArray[np.float64]


def learn(
    rows: LabelledScan,
    sample: Sample[LabelledBatch] | None = None,
    tokenizer: Tokenizer | None = None,
) -> Counts:
    """The counts of all rows; where they are stored, categories are counted there."""
    rule = tokenizer or Tokenizer()
    table, target = rows.scan, rows.target
    if isinstance(table, DuckDBScan) and target is not None and rows.weight is None:
        there = grouping.countable(table, rows.schema, target)
        if there and not (rows.unlabelled is not None and grouping.unlabelled(table, target)):
            return _divided(rows, table, target, there, sample, rule)
    return _streamed(rows, sample, rule)


def _divided(
    rows: LabelledScan,
    table: DuckDBScan,
    target: str,
    there: tuple[str, ...],
    sample: Sample[LabelledBatch] | None,
    tokenizer: Tokenizer,
) -> Counts:
    """Some columns counted by the engine, the others here."""
    rest = rows.select(name for name in rows.schema.names if name not in there)
    with ThreadPoolExecutor(1) as pool:
        grouped = pool.submit(grouping.count, table, there, target)
        here = _streamed(rest, None, tokenizer)
        whole = empty(rows.schema, here.classes) + here + grouped.result()
    categories = replace(whole.tables[CATEGORIES.name], rows=whole.weight)
    sums = categories.sums
    if CATEGORIES.impossible(sums, sums, whole.weight, categories.cells).any():
        raise FileError(f"{table.path} changed while it was read.", hint="train again")
    if sample is not None:
        sample.expect(rest.n_rows)
        sample.batches.extend(rows.every(sample.stride).labelled_batches())
    return Counts(whole.classes, whole.weight, {**whole.tables, CATEGORIES.name: categories})


def _streamed(
    rows: LabelledScan, sample: Sample[LabelledBatch] | None, tokenizer: Tokenizer
) -> Counts:
    """The counts of all rows: batches counted by all cores, added up in order."""

    def seen() -> Iterator[LabelledBatch]:
        for part in map(LabelledBatch.drop_zero_weights, rows.labelled_batches()):
            if sample is not None:
                sample.add(part)
            yield part

    total = tally(rows.schema, seen(), tokenizer)
    if total is None or not rows.n_rows:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    if not total.weight.any() and not rows.unlabelled:
        raise InputError("the total weight is zero: every weight is 0.", hint="some row must count")
    return total


def tally(schema: Schema, parts: Iterable[LabelledBatch], tokenizer: Tokenizer) -> Counts | None:
    """The counts of all parts, counted by all cores and added up in order; None of none."""
    words = WordCounter(schema.texts, tokenizer)
    total: Counts | None = None

    def work(part: LabelledBatch) -> Counts:
        words.add(part)
        return count(schema, part, None if total is None else _grid_drop(total))

    for counts in threads.run(work, parts):
        total = counts if total is None else total + counts
    if total is None or not words.names:
        return total
    table = words.table(total.classes, total.weight)
    return Counts(total.classes, total.weight, {**total.tables, WORDS.name: table})


def empty(schema: Schema, classes: Labels) -> Counts:
    """The counts of no rows: all columns and these classes.

    What is taken away from counts takes columns without values along; adding
    this brings them back.
    """
    rows = np.zeros(len(classes))
    tables: dict[str, Table] = {}
    for statistic, names in (
        (CATEGORIES, schema.categories),
        (WORDS, schema.texts),
        (MOMENTS, schema.numbers),
        (HISTOGRAM, schema.numbers),
    ):
        if names:
            cells, sums = statistic.empty(labels.label_array(names), len(classes))
            tables[statistic.name] = Table(statistic, cells, rows, sums)
    return Counts(classes, rows, tables)


def some_left(left: Counts, whole: Counts) -> Counts:
    """What is left when rows are taken away, which must not be nothing."""
    if not len(left.classes):
        raise InputError(
            f"nothing is left of {whole.weight.sum():g} rows.",
            hint="a model without rows knows nothing: fit another one",
        )
    return left


def _grid_drop(counts: Counts) -> tuple[int, ...] | None:
    """How coarse the grids are by now: they will not become finer."""
    table = counts.tables.get(HISTOGRAM.name)
    return None if table is None else grid_of(table).drop


def count(schema: Schema, part: LabelledBatch, drop: tuple[int, ...] | None = None) -> Counts:
    """The counts of some rows; ``drop`` is how coarse the grids have to be anyway.

    Three blocks: categories, and for the numeric columns both moments, which are exact, and the
    histogram.
    """
    if not part.batch.n_rows:
        return empty(schema, part.classes[:0])
    batch, y, weight, K = part.batch, part.codes, part.weight, len(part.classes)
    rows = np.bincount(y, weight, K).astype(np.float64)
    tables: dict[str, Table] = {}
    if schema.categories:
        cells, codes = _categories(schema, batch)
        sums = CATEGORIES.count(codes, y, K, weight, cells)
        tables[CATEGORIES.name] = Table(CATEGORIES, cells, rows, sums)
    if schema.numbers:
        X = matrices.numbers(schema, batch)
        columns = Cells(labels.label_array(schema.numbers))
        exactly = MOMENTS.count(X, y, K, weight, columns)
        tables[MOMENTS.name] = Table(MOMENTS, columns, rows, exactly)
        grid, counts = tabulate(X, y, K, weight, columns.columns, drop)
        tables[HISTOGRAM.name] = Table(HISTOGRAM, grid, rows, {"count": counts})
    return Counts(part.classes, rows, tables)


def _categories(schema: Schema, batch: Batch) -> tuple[Cells, NDArray[np.int64]]:
    columns = matrices.category_columns(schema, batch)
    codes = np.empty((batch.n_rows, len(columns)), dtype=np.int64)
    values = []
    for j, column in enumerate(columns):
        known, codes[:, j] = matrices.factorise(column)
        values.append(known)
    return Cells(labels.label_array(schema.categories), tuple(values)), codes
