"""Rows to a tally: one pass, pairs counted by all cores.

The cores share one table: each counts the pairs of some columns, so that none
writes where another does, no table is made twice, and every number is added up
in the order of the rows whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.aode.bins import looked_at
from deciban.aode.layout import Layout, check_memory
from deciban.aode.tally import VALUES, Edges, Tally, nothing
from deciban.encoding import matrices
from deciban.errors import InputError, ShapeError
from deciban.families import categorical, histogram
from deciban.kernels import pairs as kernel
from deciban.schema import Schema
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, Table

Codes = NDArray[np.int64]
#: Cells of rows: few enough for narrow numbers, since a table of their pairs fits the memory.
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Coded:
    """Some rows as codes among the values they have, -1 where one is missing."""

    part: LabelledBatch
    cells: Cells
    codes: Codes


def learn(
    rows: LabelledScan, bins: Any, limit: int, sample: Sample[LabelledBatch] | None = None
) -> Tally:
    """The tally of all rows; ``bins`` are stated, or cut in the first rows."""

    def seen() -> Iterator[LabelledBatch]:
        for part in map(LabelledBatch.drop_zero_weights, rows.labelled_batches()):
            if sample is not None:
                sample.add(part)
            yield part

    total = tallied(rows.schema, seen(), bins, limit)
    if total is None or not rows.n_rows:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    if not total.counts.weight.any():
        raise InputError("the total weight is zero: every weight is 0.", hint="some row must count")
    return total


def tallied(schema: Schema, seen: Iterator[LabelledBatch], bins: Any, limit: int) -> Tally | None:
    """The tally of some parts, of which there may be none."""
    edges, parts = looked_at(seen, schema, bins)
    columns = columns_of(schema)
    total: Tally | None = None
    for coded in threads.run(lambda part: encoded(schema, edges, part), parts):
        if total is None:
            none = nothing(columns, edges, coded.part.classes[:0])
            total = Tally(edges, none, np.zeros((Layout.of(none.tables[VALUES].cells).n_pairs, 0)))
        total = _counted(total, coded, limit)
    return total


def columns_of(schema: Schema) -> tuple[str, ...]:
    """The counted columns: numbers, then categories."""
    return (*schema.numbers, *schema.categories)


def encoded(schema: Schema, edges: Edges, part: LabelledBatch) -> Coded:
    """Numbers as bins, categories as the values that occur."""
    names = labels.narrowed(list(columns_of(schema)))
    numbers = matrices.numbers(schema, part.batch)
    codes = np.empty((part.batch.n_rows, len(names)), dtype=np.int64)
    cuts = tuple(edges[name] for name in schema.numbers)
    codes[:, : len(cuts)] = histogram.codes_of(cuts, numbers)
    values = [np.arange(len(cut) + 1) for cut in cuts]
    categories = matrices.category_columns(schema, part.batch)
    for j, of in enumerate(threads.run(matrices.factorise, categories), len(cuts)):
        found, codes[:, j] = of
        values.append(found)
    return Coded(part, Cells(names, tuple(values)), codes)


def _counted(total: Tally, coded: Coded, limit: int) -> Tally:
    """The tally with some more rows; its own pairs are added to, in place."""
    part, K = coded.part, len(coded.part.classes)
    rows = np.bincount(part.codes, part.weight, K).astype(np.float64)
    sums = categorical.count(coded.codes, part.codes, K, part.weight, coded.cells)
    more = Counts(part.classes, rows, {VALUES: Table("categorical", coded.cells, rows, sums)})
    counts = total.counts + more
    cells = counts.tables[VALUES].cells
    check_memory(cells, len(counts.classes), limit)
    pairs = total.aligned(counts)
    _add(pairs, _placed(coded, cells), part.codes_among(counts.classes), part.weight, cells)
    return Tally(total.edges, counts, pairs)


def _placed(coded: Coded, among: Cells) -> Places:
    """The cells of rows in the layout of all values."""
    first = Layout.of(among).first
    pairs = zip(coded.cells.values or (), among.values or (), first[:-1], strict=True)
    cells = [
        np.concatenate([[start], start + 1 + labels.positions(values, known)])
        for values, known, start in pairs
    ]
    offsets = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    return kernel.place(coded.codes, np.concatenate(cells).astype(np.int64), offsets)


def _add(
    pairs: NDArray[np.float64],
    cells: Places,
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    among: Cells,
) -> None:
    start = Layout.of(among).start

    def work(columns: slice) -> None:
        kernel.count(cells, y, weight, start, columns.start, columns.stop, pairs)

    for _ in threads.run(work, _shares(cells.shape[1])):
        pass


def _shares(n_columns: int) -> list[slice]:
    """The columns in parts of about as many pairs; early columns have more.

    >>> _shares(1)
    [slice(0, 1, None)]
    """
    parts = 2 * threads.n_threads()
    done = np.cumsum(np.arange(n_columns - 1, -1, -1.0))
    ends = np.searchsorted(done, done[-1] * np.arange(1, parts) / parts) + 1 if n_columns else []
    edges = np.unique([0, *np.minimum(ends, n_columns), n_columns]).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]
