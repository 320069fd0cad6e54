"""Scores of rows that DuckDB has: they are read and scored here."""

from __future__ import annotations

from deciban.engines.local.score import score

__all__ = ["score"]
