"""Columns as cells, in training and now: bins of numbers, categories, and "missing".

The training side is read off the counts of a model; a model without counts has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import category_columns, factorise, numbers
from deciban.families.histogram import edges_of, sum_bins
from deciban.labels import Labels, positions
from deciban.report.rows import Rows
from deciban.stats.categories import count_of
from deciban.stats.cells import Cells
from deciban.stats.cuts import cut_points
from deciban.stats.histogram import count_by_column, grid_of

FloatArray = NDArray[np.float64]

#: Numbers are compared in so many bins of equal frequency.
BINS = 10


@dataclass(frozen=True, eq=False)
class Cellular:
    """A column's cells in words, and the weight of each in training and in these rows.

    The last two cells are values that training had not, and missing ones.
    """

    name: str
    cells: tuple[str, ...]
    before: FloatArray
    now: FloatArray


def compared(model: Any, rows: Rows) -> list[Cellular]:
    """Every counted column, in training and now."""
    counts = getattr(model, "counts_", None)
    if counts is None:
        return []
    total = float(counts.weight.sum())
    tables = counts.tables
    if "values" in tables:
        found = list(_binned_before(tables["values"], getattr(model, "bins_", {})))
    else:
        found = [*_numbers_before(tables), *_categories_before(tables)]
    return list(_beside(found, rows, total))


@dataclass(frozen=True, eq=False)
class _Before:
    """A column in training: where numbers are cut, or which categories there were."""

    name: str
    weight: FloatArray
    edges: FloatArray | None = None
    values: Labels | None = None


def _numbers_before(tables: Mapping[str, Any]) -> Iterator[_Before]:
    table = tables.get("histogram")
    if table is None:
        return
    grid, columns = grid_of(table), count_by_column(table)
    for j, (name, part) in enumerate(zip(table.cells.columns.tolist(), columns, strict=True)):
        cuts = cut_points(part, BINS)
        edges = edges_of(grid, j, cuts)
        yield _Before(name, sum_bins(part, cuts).sum(axis=0), edges=edges)


def _categories_before(tables: Mapping[str, Any]) -> Iterator[_Before]:
    table = tables.get("categories")
    if table is not None:
        for name, values, weight in _by_column(table.cells, count_of(table)):
            yield _Before(name, weight, values=values)


def _binned_before(table: Any, edges: Mapping[str, Any]) -> Iterator[_Before]:
    """Values that are bins where a column has cut points."""
    for name, values, weight in _by_column(table.cells, count_of(table)):
        if name in edges:
            cuts = np.asarray(edges[name], dtype=np.float64)
            whole = np.zeros(len(cuts) + 1)
            whole[np.asarray(values, dtype=np.intp)] = weight
            yield _Before(name, whole, edges=cuts)
        else:
            yield _Before(name, weight, values=values)


def _by_column(cells: Cells, counts: FloatArray) -> Iterator[tuple[str, Labels, FloatArray]]:
    for j, name in enumerate(cells.columns.tolist()):
        some = slice(cells.offsets[j], cells.offsets[j + 1])
        yield name, (cells.values or ())[j], counts[:, some].sum(axis=0)


def _beside(found: list[_Before], rows: Rows, total: float) -> Iterator[Cellular]:
    X = numbers(rows.schema, rows.batch)
    columns = dict(zip(rows.schema.categories, category_columns(rows.schema, rows.batch),
                       strict=True))  # fmt: skip
    place = {name: j for j, name in enumerate(rows.schema.numbers)}
    for old in found:
        if old.edges is not None and old.name in place:
            names, now = _now_binned(old.edges, X[:, place[old.name]])
        elif old.values is not None and old.name in columns:
            names, now = _now_named(old.values, *factorise(columns[old.name]))
        else:
            continue
        left = max(0.0, total - float(old.weight.sum()))
        before = np.concatenate([old.weight, [0.0, left]])
        yield Cellular(old.name, (*names, "a new value", "missing"), before, now)


def _now_binned(edges: FloatArray, x: FloatArray) -> tuple[list[str], FloatArray]:
    missing = np.isnan(x)
    at = np.searchsorted(edges, x[~missing], side="right")
    now = np.bincount(at, minlength=len(edges) + 1)
    return _bins(edges), np.concatenate([now, [0.0, missing.sum()]]).astype(np.float64)


def _bins(edges: FloatArray) -> list[str]:
    ends = [f"{edge:,.6g}" for edge in edges.tolist()]
    if not ends:
        return ["any number"]
    middle = [f"{a} to {b}" for a, b in pairwise(ends)]
    return [f"below {ends[0]}", *middle, f"{ends[-1]} or more"]


def _now_named(
    known: Labels, values: Labels, codes: NDArray[np.int64]
) -> tuple[list[str], FloatArray]:
    here = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.float64)
    at = positions(values, known)
    now = np.zeros(len(known) + 2)
    np.add.at(now, np.where(at < 0, len(known), at), here)
    now[-1] = float((codes < 0).sum())
    return [str(value) for value in known.tolist()], now
