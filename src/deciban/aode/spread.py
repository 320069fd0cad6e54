"""Pair counts of a data frame of Spark: cut points from its first rows, then every partition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from deciban.aode import counting, cut_points
from deciban.aode.cut_points import CUTTING_ROWS, Bins, CutPoints
from deciban.aode.pair_counts import VALUES, PairCounts, PairLayout, check_memory, counted_columns
from deciban.engines.local.count import read
from deciban.engines.spark.count import keep
from deciban.engines.spark.merging import Codec
from deciban.engines.spark.partitions import map_partitions
from deciban.engines.spark.shards import add_cells
from deciban.errors import ModelFileError
from deciban.files import archive
from deciban.files.description import CountsEntry
from deciban.files.document import read as read_document
from deciban.files.tables import counts_from, counts_to
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.sources.scan import scan_batches
from deciban.sources.spark import SparkScan

__all__ = ["count_partitions", "from_bytes", "to_bytes"]

KIND, PAIRS = "pair counts", "pairs"


def count_partitions(
    rows: LabelledScan, scan: SparkScan, bins: Bins, memory_limit: int, sample: Sample | None
) -> PairCounts | None:
    """The pair counts of all partitions; some rows are kept in the sample."""
    cuts = _cut(rows, scan, bins)
    codec = Codec(to_bytes, partial(from_bytes, cuts), partial(_add, memory_limit), split, join)
    k = None if sample is None else sample.max_rows
    counted = map_partitions(rows, partial(_count, cuts, memory_limit), codec, k)
    keep(rows, sample, counted)
    total = counted.total
    if total is None:
        return None
    if rows.limit is not None:
        rows.limit.add(total.counts.classes)
    # Shards are joined in any order: the columns stand in that of the schema.
    return PairCounts.empty(counted_columns(rows.schema), cuts, total.counts.classes) + total


def _cut(rows: LabelledScan, scan: SparkScan, bins: Bins) -> CutPoints:
    def first() -> Iterator[LabelledBatch]:
        some = scan_batches(scan.names, list(scan.head(CUTTING_ROWS)))
        yield from read(replace(rows, scan=some, limit=None), None)

    return cut_points.select(first(), rows.schema, bins)[0]


def _count(
    cuts: CutPoints, memory_limit: int, scan: LabelledScan, batches: Iterator[LabelledBatch]
) -> PairCounts | None:
    return counting.count(scan.schema, batches, cuts, memory_limit)


def _add(memory_limit: int, a: PairCounts, b: PairCounts) -> PairCounts:
    both = a.counts + b.counts
    check_memory(both.tables[VALUES].cells, len(both.classes), memory_limit)
    return a + b


# ---------------------------------------------------------------------- shards


def split(pairs: PairCounts, n_shards: int) -> list[PairCounts]:
    """The counts of some columns in each shard, so that any two columns share one.

    Columns are divided into groups; a shard has those of two groups, or of one.
    """
    columns = pairs.cells.columns.tolist()
    n_groups = min(max(2, math.isqrt(4 * n_shards)), len(columns))
    groups = [columns[start::n_groups] for start in range(n_groups)]
    alone = [pairs.select(group) for group in groups]
    return alone + [pairs.select([*a, *b]) for a, b in combinations(groups, 2)]


def join(shards: Iterable[PairCounts]) -> PairCounts:
    """The pair counts of all columns: those that several shards have are equal in all of them."""
    parts = list(shards)
    counts, known = parts[0].counts, set(parts[0].cells.columns.tolist())
    for part in parts[1:]:
        new = [name for name in part.cells.columns.tolist() if name not in known]
        counts, known = add_cells(counts, part.select(new).counts), known | set(new)
    total = PairCounts(parts[0].cut_points, counts, parts[0].pairs_on(counts))
    for part in parts[1:]:
        np.maximum(total.pairs, part.pairs_on(counts), out=total.pairs)
    return total


# ---------------------------------------------------------------------- bytes


def to_bytes(counts: PairCounts) -> bytes:
    """Pair counts without their cut points, in the format of files."""
    document, arrays = counts_to(counts.counts)
    return archive.to_bytes(KIND, document, {**arrays, PAIRS: counts.pairs})


def from_bytes(cuts: CutPoints, data: bytes) -> PairCounts:
    """The pair counts in bytes, checked."""
    content = archive.from_bytes(data)
    if content.kind != KIND:
        raise ModelFileError(f"these bytes hold a {content.kind}, not pair counts.")
    arrays = dict(content.arrays)
    pairs = arrays.pop(PAIRS)
    counts = counts_from(read_document(content.document, CountsEntry), arrays)
    shape = PairLayout.of(counts.tables[VALUES].cells).n_pairs, len(counts.classes)
    if pairs.shape != shape or bool((pairs < 0).any()):
        raise ModelFileError("the pairs are not those of the counts.")
    return PairCounts(cuts, counts, pairs)
