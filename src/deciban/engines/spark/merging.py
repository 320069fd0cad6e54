"""What partitions give, merged: by the driver while it is small, otherwise by executors in a tree.

Parts are kept where they were made until their number and sizes are known; those that are small
even if all others were as large come with their sizes, in the job that counts. While all of them
together are small, the driver merges them. Otherwise executors merge them in groups,
level by level, each group no larger than a task may hold; parts that are large themselves are cut
into shards before, each of which has a tree of its own. What is left of each shard is one part, and
the driver fetches these one by one: it holds the merged counts and one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Generic, TypeVar

from deciban.engines.spark import transfer
from deciban.engines.spark.transfer import PART_SCHEMA, SHARES, Part
from deciban.engines.spark.worker import prepare_worker
from deciban.sources.row_sample import RowSample

__all__ = ["DRIVER_BYTES", "SHARD_BYTES", "TASK_BYTES", "Codec", "Counted", "merge"]

T = TypeVar("T")

#: So many bytes of parts, unpacked, are fetched by the driver at once.
DRIVER_BYTES = 64 << 20
#: Parts of more bytes than this are cut into shards.
SHARD_BYTES = 64 << 20
#: So many bytes of parts are merged by one task, or two parts where these are more.
TASK_BYTES = 256 << 20
#: One task merges no more parts than this: others do meanwhile.
MAX_FAN_IN = 64

#: First pieces of samples are fetched that have so many times as many rows as are needed.
SPARE = 2


@dataclass(frozen=True)
class Codec(Generic[T]):
    """How the totals of partitions are written, read, added up, cut into shards and joined."""

    to_bytes: Callable[[T], bytes]
    from_bytes: Callable[[bytes], T]
    add: Callable[[T, T], T]
    split: Callable[[T, int], list[T]]
    join: Callable[[Iterable[T]], T]


@dataclass(frozen=True)
class Counted(Generic[T]):
    """The total of all partitions, None where no rows are, their number, and a sample of them."""

    total: T | None
    n_rows: int
    sample: RowSample | None


@dataclass(frozen=True)
class _Sizes:
    """How many partitions there may be, and of each part the bytes of its counts and pieces.

    Where all parts are here already, these are ``parts_here``.
    """

    n_parts: int
    counts: list[int]
    pieces: list[list[int]]
    parts_here: list[Part] | None = None

    @property
    def n_pieces(self) -> int:
        """So many pieces of each sample have all rows of least key, unless rows lie unevenly."""
        enough = (n for n, share in enumerate(SHARES, 1) if share * len(self.counts) >= SPARE)
        return next(enough, len(SHARES))

    def cut(self, n_pieces: int) -> _Sizes:
        """The sizes with no more than so many pieces of each sample."""
        return replace(self, pieces=[sizes[:n_pieces] for sizes in self.pieces])

    @property
    def parts(self) -> list[int]:
        """The bytes of each part."""
        return [n + sum(sizes) for n, sizes in zip(self.counts, self.pieces, strict=True)]


def merge(parts: Any, codec: Codec[T], max_parts: int | None) -> Counted[T]:
    """The total of all parts, or the error of the first partition that refused its rows.

    ``max_parts`` is the most parts that there can be, None where that is not known.
    """
    sizes = _measure(parts, 0 if max_parts is None else DRIVER_BYTES // max_parts)
    few = sizes.cut(sizes.n_pieces)
    counted = _merge(parts, codec, few, sizes.n_pieces)
    kept = counted.sample
    if kept is None or few.pieces == sizes.pieces or kept.n_rows >= kept.max_rows:
        return counted
    bare = replace(sizes, counts=[0] * len(sizes.counts))
    whole = _merge(parts, codec, bare, len(SHARES), bare=True)
    return replace(counted, sample=whole.sample)


def _merge(
    parts: Any, codec: Codec[T], sizes: _Sizes, n_pieces: int, *, bare: bool = False
) -> Counted[T]:
    """The total of parts with so many pieces of their samples, by whom their sizes say.

    ``bare`` parts are those without what was counted.
    """
    if sizes.parts_here is not None:
        some = (part.cut(n_pieces) for part in sizes.parts_here)
        return _add_up(codec, (replace(part, counted=None) for part in some) if bare else some)
    counted = "binary(NULL) AS counted" if bare else "counted"
    sample = f"slice(sample, 1, {n_pieces}) AS sample"
    parts = parts.selectExpr("part", "shard", "n_rows", counted, sample, "error", "hint")
    if sum(sizes.parts) <= DRIVER_BYTES:
        return _add_up(codec, _fetched(parts.collect()))
    largest = max(sizes.parts)
    n_shards = -(-largest // SHARD_BYTES)
    if n_shards > 1:
        parts = parts.mapInArrow(partial(_split_parts, codec, n_shards), PART_SCHEMA)
    n_parts, fan_in = sizes.n_parts, min(MAX_FAN_IN, max(2, TASK_BYTES * n_shards // largest))
    while n_parts > 1:
        parts = _merge_level(parts, codec, fan_in)
        n_parts = -(-n_parts // fan_in)
    return _join(codec, _fetched(parts.toLocalIterator()))


def _measure(parts: Any, max_bytes: int) -> _Sizes:
    """Let the partitions be counted, and look at what they gave; fetch parts of no more bytes."""
    small = [f"IF(size <= {max_bytes}, {what}, NULL) AS {what}" for what in ("counted", "sample")]
    about = ("part", "shard", "n_rows", "pieces", "size", "error", "hint")
    rows = parts.selectExpr(*about, *small).collect()
    here = list(_fetched(rows))
    for part in sorted(here, key=lambda part: part.number):
        part.require()
    last = max((part.number for part in here), default=0)
    pieces = [list(row["pieces"]) for row in rows]
    counts = [row["size"] - sum(sizes) for row, sizes in zip(rows, pieces, strict=True)]
    whole = all(row["size"] <= max_bytes for row in rows)
    return _Sizes(last + 1, counts, pieces, here if whole else None)


def _fetched(rows: Iterable[Any]) -> Iterator[Part]:
    """The parts in rows of Spark."""
    for row in rows:
        yield transfer.part_of(row.asDict())


def _add_up(codec: Codec[T], parts: Iterable[Part]) -> Counted[T]:
    """All parts together, in the order in which they come: it does not show."""
    total: T | None = None
    sample: RowSample | None = None
    n_rows = 0
    for part in parts:
        if part.counted is not None:
            more = codec.from_bytes(part.counted)
            total = more if total is None else codec.add(total, more)
        if part.sample is not None:
            kept = transfer.sample_from_bytes(part.sample)
            sample = kept if sample is None else sample + kept
        n_rows += part.n_rows
    return Counted(total, n_rows, sample)


def _join(codec: Codec[T], parts: Iterable[Part]) -> Counted[T]:
    """The totals of all shards together; one of them has the sample."""
    n_rows, samples = 0, list[RowSample | None]([None])

    def totals() -> Iterator[T]:
        nonlocal n_rows
        for part in parts:
            n_rows += part.n_rows
            if part.sample is not None:
                samples.append(transfer.sample_from_bytes(part.sample))
            if part.counted is not None:
                yield codec.from_bytes(part.counted)

    some = totals()
    first = next(some, None)
    total = None if first is None else codec.join(chain([first], some))
    return Counted(total, n_rows, samples[-1])


# ---------------------------------------------------------------------- on executors


def _split_parts(codec: Codec[T], n_shards: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Every part in shards; the first has its rows and its sample."""
    prepare_worker()
    for batch in batches:
        for part in transfer.parts_of(batch):
            if part.counted is None:
                yield transfer.to_record_batch(part)
                continue
            shards = codec.split(codec.from_bytes(part.counted), n_shards)
            for shard, counts in enumerate(shards):
                own = replace(part, shard=shard, counted=codec.to_bytes(counts))
                rest = own if shard == 0 else replace(own, n_rows=0, sample=None)
                yield transfer.to_record_batch(rest)


def _merge_level(parts: Any, codec: Codec[T], fan_in: int) -> Any:
    """Parts of consecutive partitions merged, so many at a time, shard by shard."""
    bundled = parts.selectExpr("*", f"part div {fan_in} AS bundle")
    merge = partial(_merge_group, codec, fan_in)
    return bundled.groupBy("shard", "bundle").applyInArrow(merge, PART_SCHEMA)


def _merge_group(codec: Codec[T], fan_in: int, table: Any) -> Any:
    import pyarrow as pa

    prepare_worker()
    numbers = table.column("part")[0].as_py(), table.column("shard")[0].as_py()
    merged = _add_up(codec, transfer.parts_of(table))
    counted = None if merged.total is None else codec.to_bytes(merged.total)
    kept = None if merged.sample is None else transfer.sample_to_bytes(merged.sample)
    part = Part(numbers[0] // fan_in, merged.n_rows, counted, kept, shard=numbers[1])
    return pa.Table.from_batches([transfer.to_record_batch(part)])
