"""Work on every partition of a data frame, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from deciban.engines.local.count import read
from deciban.engines.spark import transfer
from deciban.engines.spark.merging import Codec, Counted, merge
from deciban.engines.spark.tasks import shown_tasks
from deciban.engines.spark.transfer import PART_SCHEMA, Part
from deciban.engines.spark.worker import prepare_worker
from deciban.errors import DecibanError
from deciban.sources import arrow
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.scan import BatchScan
from deciban.sources.spark import SparkScan, errors_of_spark, n_cores

__all__ = ["gather", "iter_nothing", "map_partitions", "max_tasks", "read_batches"]

T = TypeVar("T")

#: No fewer tasks than this are made of more partitions, nor fewer for each core.
MIN_TASKS, TASKS_PER_CORE = 16, 8
#: Rows are counted so many at once, or as many as have so many bytes: adding up the counts of each
#: batch costs time.
BATCH_ROWS, BATCH_BYTES = 1 << 18, 32 << 20

#: How the rows of a partition are counted.
Count = Callable[[LabelledScan, Iterator[LabelledBatch]], T | None]


def map_partitions(
    rows: LabelledScan, count: Count[T], codec: Codec[T], k: int | None
) -> Counted[T]:
    """The total of a data frame, and a sample of ``k`` rows unless that is None."""
    scan = rows.scan
    if not isinstance(scan, SparkScan):
        raise TypeError("partitions are those of a data frame of Spark")
    names = [n for n in scan.names if n in _needed(rows)]
    frame = gather(scan.frame.select([f"`{name.replace('`', '``')}`" for name in names]))
    bare = replace(rows, scan=BatchScan(tuple(names), iter_nothing), unlabelled=None)
    work = partial(_count_partition, bare, count, codec.to_bytes, k)
    with errors_of_spark(), shown_tasks(frame.sparkSession):
        parts = frame.mapInArrow(work, PART_SCHEMA).persist()
        try:
            return merge(parts, codec, max_tasks(frame.sparkSession))
        finally:
            parts.unpersist()


def gather(frame: Any) -> Any:
    """The rows in no more partitions than keep all cores at work: each costs something."""
    n_tasks = max_tasks(frame.sparkSession)
    return frame if n_tasks is None else frame.coalesce(n_tasks)


def max_tasks(session: Any) -> int | None:
    """The most tasks that count rows; None where there is one for each partition."""
    cores = n_cores(session)
    return None if cores is None else max(MIN_TASKS, TASKS_PER_CORE * cores)


def iter_nothing() -> Iterator[Batch]:
    """No batches: those of a partition take their place."""
    return iter(())


def _needed(rows: LabelledScan) -> set[str]:
    """The columns that are read: those that are used, the labels and the weights."""
    used = {column.name for column in rows.schema.columns if column.used}
    return used | {name for name in (rows.target, rows.weight) if isinstance(name, str)}


# ---------------------------------------------------------------------- on an executor


def _count_partition(
    rows: LabelledScan,
    count: Count[T],
    to_bytes: Callable[[T], bytes],
    k: int | None,
    batches: Iterable[Any],
) -> Iterator[Any]:
    """What a partition gives: nothing where it has no rows."""
    from pyspark import TaskContext

    prepare_worker()
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    sample = None if k is None else RowSample(k)
    own = replace(rows, scan=BatchScan(rows.scan.names, lambda: _batches(batches)))
    try:
        total = count(own, read(own, sample))
    except DecibanError as error:
        yield transfer.to_record_batch(Part.of_error(number, error))
        return
    if total is not None and own.n_rows:
        kept = None if sample is None else transfer.sample_to_bytes(sample)
        yield transfer.to_record_batch(Part(number, own.n_rows, to_bytes(total), kept))


def _batches(record_batches: Iterable[Any]) -> Iterator[Batch]:
    """All rows, in larger batches than those of Spark."""
    some: list[Any] = []
    n_rows = n_bytes = 0
    for record_batch in record_batches:
        if not record_batch.num_rows:
            continue
        some.append(record_batch)
        n_rows, n_bytes = n_rows + record_batch.num_rows, n_bytes + record_batch.nbytes
        if n_rows >= BATCH_ROWS or n_bytes >= BATCH_BYTES:
            yield read_batches(some)
            some, n_rows, n_bytes = [], 0, 0
    if some:
        yield read_batches(some)


def read_batches(record_batches: list[Any]) -> Batch:
    """Batches of Arrow that have rows as one of ours."""
    import pyarrow as pa

    table = pa.Table.from_batches(record_batches).combine_chunks()
    (batch,) = arrow.read(arrow.open_stream(table), table.num_rows)
    return batch
