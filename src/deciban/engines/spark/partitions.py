"""Work on every partition of a data frame, and what they give, merged.

Few parts are merged on the driver as they arrive. Many are first merged in groups by executors, so
that the driver holds the merged counts and a bounded number of parts, however many partitions
there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from deciban.engines.local.count import read
from deciban.engines.spark import transfer
from deciban.engines.spark.transfer import PART_SCHEMA, Part
from deciban.errors import DecibanError
from deciban.sources import arrow
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.scan import BATCH_ROWS, BatchScan
from deciban.sources.spark import SparkScan, errors_of_spark

__all__ = ["MAX_DRIVER_PARTS", "Codec", "Counted", "map_partitions", "use_one_core"]

T = TypeVar("T")

#: The driver is sent no more parts than this at once; more are merged by executors first.
MAX_DRIVER_PARTS = 64


@dataclass(frozen=True)
class Codec(Generic[T]):
    """How the totals of partitions are counted, written, read and added up."""

    count: Callable[[LabelledScan, Iterator[LabelledBatch]], T | None]
    to_bytes: Callable[[T], bytes]
    from_bytes: Callable[[bytes], T]
    add: Callable[[T, T], T]


@dataclass(frozen=True)
class Counted(Generic[T]):
    """The total of all partitions, None where no rows are, their number, and a sample of them."""

    total: T | None
    n_rows: int
    sample: RowSample | None


def map_partitions(rows: LabelledScan, codec: Codec[T], k: int | None) -> Counted[T]:
    """The total of a data frame, and a sample of ``k`` rows unless that is None."""
    scan = rows.scan
    if not isinstance(scan, SparkScan):
        raise TypeError("partitions are those of a data frame of Spark")
    names = [n for n in scan.names if n in _needed(rows)]
    frame = scan.frame.select([f"`{name.replace('`', '``')}`" for name in names])
    bare = replace(rows, scan=BatchScan(tuple(names), iter_nothing), unlabelled=None)
    parts = frame.mapInArrow(partial(_count_partition, bare, codec, k), PART_SCHEMA)
    merge = partial(_merge_parts, codec)
    with errors_of_spark():
        if _n_partitions(parts) > MAX_DRIVER_PARTS:
            parts = _merge_on_executors(parts, merge)
        return merge(_collect(parts))


def iter_nothing() -> Iterator[Batch]:
    """No batches: those of a partition take their place."""
    return iter(())


def use_one_core() -> None:
    """A task of Spark has one core."""
    os.environ.setdefault("DECIBAN_THREADS", "1")


def _needed(rows: LabelledScan) -> set[str]:
    """The columns that are read: those that are used, the labels and the weights."""
    used = {column.name for column in rows.schema.columns if column.used}
    return used | {name for name in (rows.target, rows.weight) if isinstance(name, str)}


# ---------------------------------------------------------------------- on an executor


def _count_partition(
    rows: LabelledScan, codec: Codec[T], k: int | None, batches: Iterable[Any]
) -> Iterator[Any]:
    """What a partition gives: nothing where it has no rows."""
    from pyspark import TaskContext

    use_one_core()
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    sample = None if k is None else RowSample(k)
    own = replace(rows, scan=BatchScan(rows.scan.names, lambda: _batches(batches)))
    try:
        total = codec.count(own, read(own, sample))
    except DecibanError as error:
        yield transfer.to_record_batch(Part.of_error(number, error))
        return
    if total is not None and own.n_rows:
        kept = None if sample is None else transfer.sample_to_bytes(sample)
        yield transfer.to_record_batch(Part(number, own.n_rows, codec.to_bytes(total), kept))


def _batches(record_batches: Iterable[Any]) -> Iterator[Batch]:
    """Rows as batches of the usual size: Spark's are smaller, and each costs something."""
    import pyarrow as pa

    some: list[Any] = []
    for record_batch in record_batches:
        some.append(record_batch)
        if sum(batch.num_rows for batch in some) >= BATCH_ROWS:
            yield from _read(pa.Table.from_batches(some))
            some = []
    if some:
        yield from _read(pa.Table.from_batches(some))


def _read(table: Any) -> Iterator[Batch]:
    yield from arrow.read(arrow.open_stream(table.combine_chunks()), max(table.num_rows, 1))


# ---------------------------------------------------------------------- merged


def _merge_parts(codec: Codec[T], parts: Iterable[Part]) -> Counted[T]:
    """All parts together, in the order in which they come: it does not show."""
    total: T | None = None
    sample: RowSample | None = None
    n_rows = 0
    for part in parts:
        counted = part.require().counted
        if counted is not None:
            more = codec.from_bytes(counted)
            total = more if total is None else codec.add(total, more)
        if part.sample is not None:
            kept = transfer.sample_from_bytes(part.sample)
            sample = kept if sample is None else sample + kept
        n_rows += part.n_rows
    return Counted(total, n_rows, sample)


def _merge_on_executors(parts: Any, merge: Callable[[Iterable[Part]], Counted[Any]]) -> Any:
    """Parts merged in at most so many groups."""
    codec = merge.args[0]  # type: ignore[attr-defined]
    grouped = parts.groupBy((parts["part"] % (MAX_DRIVER_PARTS // 2)).alias("group"))
    return grouped.applyInArrow(partial(_merge_group, codec), PART_SCHEMA)


def _merge_group(codec: Codec[T], table: Any) -> Any:
    import pyarrow as pa

    parts = list(transfer.parts_of(table))
    bad = next((part for part in parts if part.error is not None), None)
    if bad is None:
        merged = _merge_parts(codec, parts)
        counted = None if merged.total is None else codec.to_bytes(merged.total)
        kept = None if merged.sample is None else transfer.sample_to_bytes(merged.sample)
        bad = Part(parts[0].number, merged.n_rows, counted, kept)
    return pa.Table.from_batches([transfer.to_record_batch(bad)])


def _n_partitions(frame: Any) -> int:
    """The number of partitions; on Connect, where parts arrive one by one, it does not matter."""
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:
        return 0


def _collect(frame: Any) -> Iterator[Part]:
    """The parts: on Connect as they arrive, otherwise at once."""
    is_connect = type(frame).__module__.startswith("pyspark.sql.connect")
    rows = frame.toLocalIterator() if is_connect else frame.collect()
    for row in rows:
        counted, kept = (None if v is None else bytes(v) for v in (row["counted"], row["sample"]))
        yield Part(row["part"], row["n_rows"], counted, kept, row["error"], row["hint"])
