"""The rows of least key of a data frame of Spark: those of every partition, merged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from deciban.engines.local.sample import sample as sample_locally
from deciban.engines.spark.count import is_spread, keep
from deciban.engines.spark.merging import Codec
from deciban.engines.spark.partitions import map_partitions
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample

__all__ = ["sample"]


def sample(scan: LabelledScan, k: int) -> Sample:
    """The rows of least key, no more than ``k``, of those that count."""
    if not is_spread(scan, None):
        return sample_locally(scan, k)
    kept = RowSample(k)
    keep(scan, kept, map_partitions(scan, _skip, NOTHING, k))
    return kept


def _skip(scan: LabelledScan, batches: Iterator[LabelledBatch]) -> bytes:
    """Read all rows, of which the sample alone is kept."""
    deque(batches, maxlen=0)
    return b""


def _nothing(data: bytes) -> bytes:
    return b""


def _either(a: bytes, b: bytes) -> bytes:
    return b""


def _whole(data: bytes, n_shards: int) -> list[bytes]:
    return [data]


#: Nothing is counted: the rows alone are sampled.
NOTHING = Codec(_nothing, _nothing, _either, _whole, b"".join)
