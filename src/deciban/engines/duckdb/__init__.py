"""Tables that DuckDB has: categories are grouped and rows are sampled there, and little travels."""

from __future__ import annotations

from deciban.engines.duckdb.count import count as count_rows
from deciban.engines.duckdb.sample import sample as sample_rows
from deciban.engines.duckdb.score import score as score_rows

__all__ = ["DuckDBEngine"]


class DuckDBEngine:
    """DuckDB, and the threads of this process for what it does not do."""

    count = staticmethod(count_rows)
    sample = staticmethod(sample_rows)
    score = staticmethod(score_rows)
