"""Counts of the rows of a data frame of Spark: one archive of counts a partition, merged."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from typing import TypeVar

from deciban.engines.local.count import count as count_locally
from deciban.engines.local.count import count_batches, require_rows
from deciban.engines.protocol import Plan
from deciban.engines.spark.merging import Codec, Counted
from deciban.engines.spark.partitions import map_partitions
from deciban.engines.spark.shards import join, split
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.spark import SparkScan
from deciban.stats.counts import Counts

T = TypeVar("T")
COUNTS: Codec[Counts] = Codec(Counts.to_bytes, Counts.from_bytes, operator.add, split, join)

__all__ = ["count", "is_spread", "keep"]


def count(scan: LabelledScan, plan: Plan) -> Counts:
    """The counts of all rows; some of them are put into the sample of the plan."""
    if not is_spread(scan, plan.sample):
        return count_locally(scan, plan)
    bare = Plan(plan.schema, plan.tokenizer)
    k = None if plan.sample is None else plan.sample.max_rows
    counted = map_partitions(scan, partial(_count, bare), COUNTS, k)
    keep(scan, plan.sample, counted)
    total = require_rows(scan, counted.total)
    if scan.limit is not None:
        scan.limit.add(total.classes)
    return plan.empty(total.classes) + total


def is_spread(scan: LabelledScan, sample: Sample | None) -> bool:
    """Whether executors can do the work: labels are a column, and rows are sampled one by one."""
    spark = isinstance(scan.scan, SparkScan) and scan.target is not None and scan.units is None
    array = scan.weight is not None and not isinstance(scan.weight, str)
    return spark and not array and (sample is None or isinstance(sample, RowSample))


def keep(scan: LabelledScan, sample: Sample | None, counted: Counted[T]) -> None:
    """Say how many rows there were, and put those that were kept into a sample."""
    scan.n_rows = counted.n_rows
    if isinstance(sample, RowSample) and counted.sample is not None:
        sample.merge(counted.sample)


def _count(plan: Plan, scan: LabelledScan, batches: Iterator[LabelledBatch]) -> Counts | None:
    return count_batches(plan, batches)
