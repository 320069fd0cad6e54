"""Distributions of columns, in training and now, over cells: bins, categories, and "missing".

The training side is read off the counts of a model; a model without counts has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import category_columns, factorise, numbers
from deciban.evaluation.classifier import Classifier, HasBins, HasCounts, HasModel
from deciban.explanation.measurement import as_written
from deciban.families.histogram import edges_of, sum_bins
from deciban.labels import Labels, positions
from deciban.models.protocol import HasCounts as CountsInside
from deciban.report.rows import LabelledRows
from deciban.schema import Schema
from deciban.stats.categories import count_by_column, count_of
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.histogram import cut_points, grid_of
from deciban.stats.table import Table

FloatArray = NDArray[np.float64]

#: Numbers are compared in so many bins of equal frequency.
N_BINS = 10


@dataclass(frozen=True, eq=False)
class ColumnDistribution:
    """A column's cells in words, and the weight of each in training and in these rows.

    The last two cells are values that training had not, and missing ones.
    """

    name: str
    cells: tuple[str, ...]
    before: FloatArray
    now: FloatArray


def column_distributions(model: Classifier, rows: LabelledRows) -> list[ColumnDistribution]:
    """Every counted column, in training and now."""
    counts = counts_of(model)
    if counts is None:
        return []
    total = float(counts.weight.sum())
    tables = counts.tables
    if "values" in tables:
        edges = model.bins_ if isinstance(model, HasBins) else {}
        trained = list(_train_values(tables["values"], edges))
    else:
        trained = [*_train_numbers(tables), *_train_categories(tables)]
    return list(_add_current(trained, rows, total))


def counts_of(model: Classifier) -> Counts | None:
    """The counts behind a classifier; None where it keeps none."""
    if isinstance(model, HasCounts):
        return model.counts_
    inside = model.model_ if isinstance(model, HasModel) else None
    return inside.counts if isinstance(inside, CountsInside) else None


@dataclass(frozen=True, eq=False)
class _Training:
    """A column in training: where numbers are cut, or which categories there were."""

    name: str
    weight: FloatArray
    edges: FloatArray | None = None
    values: Labels | None = None


def _train_numbers(tables: Mapping[str, Table]) -> Iterator[_Training]:
    table = tables.get("histogram")
    if table is None:
        return
    grid, columns = grid_of(table), count_by_column(table)
    for j, (name, part) in enumerate(zip(table.cells.columns.tolist(), columns, strict=True)):
        cuts = cut_points(part, N_BINS)
        edges = edges_of(grid, j, cuts)
        yield _Training(name, sum_bins(part, cuts).sum(axis=0), edges=edges)


def _train_categories(tables: Mapping[str, Table]) -> Iterator[_Training]:
    table = tables.get("categories")
    if table is not None:
        for name, values, weight in _by_column(table.cells, count_of(table)):
            yield _Training(name, weight, values=values)


def _train_values(table: Table, edges: Mapping[str, Sequence[float]]) -> Iterator[_Training]:
    """Values that are bins where a column has cut points."""
    for name, values, weight in _by_column(table.cells, count_of(table)):
        if name in edges:
            cuts = np.asarray(edges[name], dtype=np.float64)
            whole = np.zeros(len(cuts) + 1)
            whole[np.asarray(values, dtype=np.intp)] = weight
            yield _Training(name, whole, edges=cuts)
        else:
            yield _Training(name, weight, values=values)


def _by_column(cells: Cells, counts: FloatArray) -> Iterator[tuple[str, Labels, FloatArray]]:
    for j, name in enumerate(cells.columns.tolist()):
        some = slice(cells.offsets[j], cells.offsets[j + 1])
        yield name, (cells.values or ())[j], counts[:, some].sum(axis=0)


def _add_current(
    trained: list[_Training], rows: LabelledRows, total: float
) -> Iterator[ColumnDistribution]:
    X = numbers(rows.schema, rows.batch)
    columns = dict(zip(rows.schema.categories, category_columns(rows.schema, rows.batch),
                       strict=True))  # fmt: skip
    place = {name: j for j, name in enumerate(rows.schema.numbers)}
    for old in trained:
        if old.edges is not None and old.name in place:
            written = _written(rows.schema, old.name, old.edges)
            names, now = _bins(written), _count_bins(old.edges, X[:, place[old.name]])
        elif old.values is not None and old.name in columns:
            names, now = _count_categories(old.values, *factorise(columns[old.name]))
        else:
            continue
        left = max(0.0, total - float(old.weight.sum()))
        before = np.concatenate([old.weight, [0.0, left]])
        yield ColumnDistribution(old.name, (*names, "a new value", "missing"), before, now)


def _count_bins(edges: FloatArray, x: FloatArray) -> FloatArray:
    missing = np.isnan(x)
    at = np.searchsorted(edges, x[~missing], side="right")
    now = np.bincount(at, minlength=len(edges) + 1)
    return np.concatenate([now, [0.0, missing.sum()]]).astype(np.float64)


def _written(schema: Schema, name: str, edges: FloatArray) -> list[str]:
    """Edges as people write them: numbers, dates, or times to the minute."""
    column = next((c for c in schema.columns if c.name == name), None)
    if column is None or not column.unit:
        return [f"{edge:,.6g}" for edge in edges.tolist()]
    return [str(value)[:16] for value in as_written(column, edges)]


def _bins(ends: list[str]) -> list[str]:
    if not ends:
        return ["any number"]
    middle = [f"{a} to {b}" for a, b in pairwise(ends)]
    return [f"below {ends[0]}", *middle, f"{ends[-1]} or more"]


def _count_categories(
    known: Labels, values: Labels, codes: NDArray[np.int64]
) -> tuple[list[str], FloatArray]:
    here = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.float64)
    at = positions(values, known)
    now = np.zeros(len(known) + 2)
    np.add.at(now, np.where(at < 0, len(known), at), here)
    now[-1] = float((codes < 0).sum())
    return [str(value) for value in known.tolist()], now
