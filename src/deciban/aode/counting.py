"""Rows to pair counts, in one pass on all cores.

The cores share one table: each counts the pairs of some columns, so that none
writes where another does, no table is made twice, and every number is added up
in the order of the rows whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.aode import cut_points
from deciban.aode.cut_points import Bins, CutPoints
from deciban.aode.pair_counts import VALUES, PairCounts, PairLayout, check_memory, counted_columns
from deciban.encoding import matrices
from deciban.engines.local.count import read, require_rows
from deciban.engines.spark.count import is_spread
from deciban.families.histogram import bin_codes
from deciban.kernels import pairs as kernel
from deciban.schema import Schema
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.sources.spark import SparkScan
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts, Table

Codes = NDArray[np.int64]
#: Cells of rows: few enough for narrow numbers, since a table of their pairs fits the memory.
RowCells = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EncodedPart:
    """Some rows as codes among the values they have, -1 where one is missing."""

    part: LabelledBatch
    cells: Cells
    codes: Codes


def count_table(
    rows: LabelledScan, bins: Bins, memory_limit: int, sample: Sample | None
) -> PairCounts:
    """The pair counts of a table that must not be empty; some rows are kept in the sample."""
    if isinstance(rows.scan, SparkScan) and is_spread(rows, sample):
        from deciban.aode.spread import count_partitions

        there = count_partitions(rows, rows.scan, bins, memory_limit, sample)
        return require_rows(rows, there)
    return require_rows(rows, count(rows.schema, read(rows, sample), bins, memory_limit))


def count(
    schema: Schema, parts: Iterator[LabelledBatch], bins: Bins, memory_limit: int
) -> PairCounts | None:
    """The pair counts of all parts; None where there is no part.

    ``bins`` are cut points by column, or a rule by which the first rows are cut.
    """
    cuts, all_parts = cut_points.select(parts, schema, bins)
    total: PairCounts | None = None
    for encoded in threads.run(lambda part: _encode(schema, cuts, part), all_parts):
        if total is None:
            total = PairCounts.empty(counted_columns(schema), cuts, encoded.part.classes[:0])
        total = _add_part(total, encoded, memory_limit)
    return total


def _encode(schema: Schema, cuts: CutPoints, part: LabelledBatch) -> EncodedPart:
    """Numbers as bins, categories as codes of the values that occur."""
    names = labels.label_array(list(counted_columns(schema)))
    numbers = matrices.numbers(schema, part.batch)
    codes = np.empty((part.batch.n_rows, len(names)), dtype=np.int64)
    by_number = tuple(cuts[name] for name in schema.numbers)
    codes[:, : len(by_number)] = bin_codes(by_number, numbers)
    values = [np.arange(len(cut) + 1) for cut in by_number]
    categories = matrices.category_columns(schema, part.batch)
    for j, column in enumerate(threads.run(matrices.factorise, categories), len(by_number)):
        distinct, codes[:, j] = column
        values.append(distinct)
    return EncodedPart(part, Cells(names, tuple(values)), codes)


def _add_part(total: PairCounts, encoded: EncodedPart, memory_limit: int) -> PairCounts:
    """The counts with some more rows; the table of pairs is added to in place."""
    part, K = encoded.part, len(encoded.part.classes)
    rows = np.bincount(part.codes, part.weight, K).astype(np.float64)
    sums = CATEGORIES.count(encoded.codes, part.codes, K, part.weight, encoded.cells)
    more = Counts(part.classes, rows, {VALUES: Table(CATEGORIES, encoded.cells, rows, sums)})
    counts = total.counts + more
    cells = counts.tables[VALUES].cells
    check_memory(cells, len(counts.classes), memory_limit)
    pairs, layout = total.pairs_on(counts), PairLayout.of(cells)
    row_cells = _row_cells(encoded, cells, layout)
    _add_pairs(pairs, row_cells, part.codes_among(counts.classes), part.weight, layout)
    return PairCounts(total.cut_points, counts, pairs)


def _row_cells(encoded: EncodedPart, among: Cells, layout: PairLayout) -> RowCells:
    """The cells of rows in the layout of all values, (rows, columns)."""
    columns = zip(encoded.cells.values or (), among.values or (), layout.first[:-1], strict=True)
    cells = [
        np.concatenate([[missing], missing + 1 + labels.positions(values, known)])
        for values, known, missing in columns
    ]
    offsets = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    return kernel.place(encoded.codes, np.concatenate(cells).astype(np.int64), offsets)


def _add_pairs(
    pairs: NDArray[np.float64],
    cells: RowCells,
    y: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    layout: PairLayout,
) -> None:
    def work(columns: slice) -> None:
        kernel.count(cells, y, weight, layout.start, columns.start, columns.stop, pairs)

    for _ in threads.run(work, _column_slices(cells.shape[1])):
        pass


def _column_slices(n_columns: int) -> list[slice]:
    """The columns in slices of about as many pairs; early columns have more.

    >>> _column_slices(1)
    [slice(0, 1, None)]
    """
    n_slices = 2 * threads.n_threads()
    done = np.cumsum(np.arange(n_columns - 1, -1, -1.0))
    wanted = np.arange(1, n_slices) / n_slices
    ends = np.searchsorted(done, done[-1] * wanted) + 1 if n_columns else []
    edges = np.unique([0, *np.minimum(ends, n_columns), n_columns]).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]
