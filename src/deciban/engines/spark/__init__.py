"""Rows of Spark: every partition is counted where it is, and the counts are merged.

``partitions`` maps work over the partitions of a data frame, ``merging`` merges what they give, in
``shards`` where that is large, ``transfer`` is what crosses the wire, and ``tasks`` shows how far
Spark is.
"""

from __future__ import annotations

from deciban.engines.spark.count import count as count_rows
from deciban.engines.spark.sample import sample as sample_rows
from deciban.engines.spark.score import score as score_rows

__all__ = ["SparkEngine"]


class SparkEngine:
    """The executors of a Spark session, classic or Connect."""

    count = staticmethod(count_rows)
    sample = staticmethod(sample_rows)
    score = staticmethod(score_rows)
