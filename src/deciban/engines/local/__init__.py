"""Rows that are read here, batch by batch, and worked on by all cores."""

from __future__ import annotations

from deciban.engines.local.count import count as count_rows
from deciban.engines.local.sample import sample as sample_rows
from deciban.engines.local.score import score as score_rows

__all__ = ["LocalEngine"]


class LocalEngine:
    """The threads of this process."""

    count = staticmethod(count_rows)
    sample = staticmethod(sample_rows)
    score = staticmethod(score_rows)
