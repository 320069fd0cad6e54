"""Rows to counts: one pass over a table, batches counted by all cores and added up in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban import labels, progress, threads
from deciban.encoding import matrices
from deciban.encoding.class_limit import MAX_TABLE_BYTES, refuse_large_table
from deciban.engines.local.words import WordCounter
from deciban.engines.protocol import Plan
from deciban.errors import InputError, ShapeError
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Numbers
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.stats.categories import CATEGORIES, count_columns
from deciban.stats.cells import MAX_GRID_KEYS, Cells
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM, grid_of, tabulate
from deciban.stats.moments import MOMENTS
from deciban.stats.table import DenseSum, Table
from deciban.stats.words import WORDS

__all__ = ["count", "count_batch", "count_batches", "read", "require_rows"]

T = TypeVar("T", bound="Weighted")
FloatArray = NDArray[np.float64]


class Weighted(Protocol):
    """What was counted of some rows."""

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of the rows of each class."""


def count(scan: LabelledScan, plan: Plan) -> Counts:
    """The counts of all rows, some of which are put into the sample of the plan."""
    return require_rows(scan, count_batches(plan, read(scan, plan.sample)))


def read(scan: LabelledScan, sample: Sample | None) -> Iterator[LabelledBatch]:
    """The rows that count, some of which are put into a sample."""
    batches = scan.labelled_batches()
    content = scan.schema.used
    if scan.weight is not None:
        batches = map(LabelledBatch.drop_zero_weights, batches)
    for batch in batches:
        if progress.current is not None:
            progress.current.add(batch.batch.n_rows)
        if sample is not None:
            sample.add(batch, content)
        yield batch


def require_rows(scan: LabelledScan, total: T | None) -> T:
    """What was counted of a table, which must have rows and some that count."""
    if total is None or not scan.n_rows:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    if not total.weight.any() and not scan.unlabelled:
        raise InputError("the total weight is zero: every weight is 0.", hint="some row must count")
    return total


def count_batches(plan: Plan, batches: Iterable[LabelledBatch]) -> Counts | None:
    """The counts of all batches, counted by all cores and added up in order; None of none."""
    texts = plan.schema.texts
    words = WordCounter(texts, plan.tokenizer) if texts else None
    total: Counts | None = None

    def work(batch: LabelledBatch) -> Counts:
        if words is not None:
            words.add(batch)
        return count_batch(plan, batch, None if total is None else _grid_drop(total))

    for counts in threads.run(work, batches):
        if total is not None:
            _refuse_large_sum(total, counts)
        total = counts if total is None else total + counts
    if total is None or words is None:
        return total
    table = words.table(total.classes, total.weight)
    return Counts(total.classes, total.weight, {**total.tables, WORDS.name: table})


def count_batch(plan: Plan, rows: LabelledBatch, drop: tuple[int, ...] | None = None) -> Counts:
    """The counts of some rows without their words: categories, exact moments, histograms.

    ``drop`` says how coarse the grids of the histograms have to be anyway.
    """
    if not rows.batch.n_rows:
        return plan.empty(rows.classes[:0])
    schema, y, weight, K = plan.schema, rows.codes, rows.weight, len(rows.classes)
    class_weight = np.bincount(y, weight, K).astype(np.float64)
    tables: dict[str, Table] = {}
    if schema.categories:
        cells, count = _count_categories(schema, rows)
        tables[CATEGORIES.name] = Table(CATEGORIES, cells, class_weight, {"count": count})
    if schema.numbers:
        X = matrices.numbers(schema, rows.batch)
        numbers = _number_columns(schema, rows.batch, X)
        columns = Cells(labels.label_array(schema.numbers))
        moments = MOMENTS.count(X, y, K, weight, columns)
        tables[MOMENTS.name] = Table(MOMENTS, columns, class_weight, moments)
        _refuse_large_grid(X, K)
        grid, histogram = tabulate(numbers, y, K, weight, columns.columns, drop)
        tables[HISTOGRAM.name] = Table(HISTOGRAM, grid, class_weight, {"count": histogram})
    return Counts(rows.classes, class_weight, tables)


def _count_categories(schema: Schema, rows: LabelledBatch) -> tuple[Cells, DenseSum]:
    """The values that the columns of categories have, and the weight of each class with them."""
    K, whole = len(rows.classes), rows.weight is None  # whole rows: their counts say what is there
    coded = matrices.categories(schema, rows.batch, rows.batch.n_rows // K if whole else 0)
    n_cells = sum(len(values) for values, _ in coded)
    if 8 * K * n_cells > MAX_TABLE_BYTES:
        refuse_large_table(K, n_cells)
    values, counts = [], [np.zeros((K, 0))]
    by_column = count_columns(coded, rows.codes, K, rows.weight)
    for (known, _), count in zip(coded, by_column, strict=True):
        used = count.any(axis=0) if whole else np.ones(len(known), dtype=bool)
        values.append(known[used])
        counts.append(count[:, used])
    cells = Cells(labels.label_array(schema.categories), tuple(values))
    return cells, DenseSum(np.concatenate(counts, axis=1))


def _number_columns(schema: Schema, batch: Batch, X: FloatArray) -> list[FloatArray]:
    """The columns of ``X``, as they came where they did so as numbers: side by side in memory."""
    came = [batch.columns[column.name] for column in schema.numeric_columns]
    return [
        column.values if isinstance(column, Numbers) and j not in schema.periods else X[:, j]
        for j, column in enumerate(came)
    ]


def _refuse_large_sum(total: Counts, more: Counts) -> None:
    """Refuse counts that would be too large together; the classes of both are at most so many."""
    n_classes = len(labels.union(total.classes, more.classes))
    for name, table in total.tables.items():
        size = max(table.cells.size, more.tables[name].cells.size if name in more.tables else 0)
        refuse_large_table(n_classes, size)


def _refuse_large_grid(X: NDArray[np.float64], n_classes: int) -> None:
    """Refuse histograms of numbers that would be too large; there are at most so many keys."""
    if 8 * n_classes * X.shape[1] * MAX_GRID_KEYS > MAX_TABLE_BYTES:
        sizes = [min(len(np.unique(column)), MAX_GRID_KEYS) for column in X.T]
        refuse_large_table(n_classes, sum(sizes))


def _grid_drop(counts: Counts) -> tuple[int, ...] | None:
    """How coarse the grids are by now: they will not become finer."""
    table = counts.tables.get(HISTOGRAM.name)
    return None if table is None else grid_of(table).drop
