"""Engines: who counts, samples and scores the rows of a table.

Read :mod:`~deciban.engines.protocol` first. Every engine is a folder with the same file names,
``count``, ``sample`` and ``score``; what an engine cannot do where the rows are, it hands to
:mod:`~deciban.engines.local`. A new engine is a folder and its line in ``ENGINES``.
"""

from __future__ import annotations

from collections.abc import Mapping

from deciban.engines.duckdb import DuckDBEngine
from deciban.engines.local import LocalEngine
from deciban.engines.protocol import Engine, Plan, Score
from deciban.engines.spark import SparkEngine
from deciban.sources.scan import Place

__all__ = ["ENGINES", "Engine", "Plan", "Score"]

#: The engine of a scan, by the place of its rows: ``ENGINES[rows.scan.place].count(rows, plan)``.
ENGINES: Mapping[Place, Engine] = {
    "memory": LocalEngine(),
    "file": LocalEngine(),
    "duckdb": DuckDBEngine(),
    "database": LocalEngine(),
    "spark": SparkEngine(),
}
