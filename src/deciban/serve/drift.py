"""How far rows that were asked about are from those of training, column by column."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from deciban.plain import PlainDict
from deciban.report.distributions import column_distributions
from deciban.report.drift import drifts
from deciban.report.rows import read_rows
from deciban.serve.figures import plain_values

__all__ = ["measure"]


def measure(estimator: Any, rows: Any) -> list[PlainDict]:
    """Every counted column, those that moved most first; none where nothing was counted.

    >>> from deciban import NaiveBayes
    >>> model = NaiveBayes().fit({"x": ["S", "L"] * 50, "y": ["a", "b"] * 50}, target="y")
    >>> (moved,) = measure(model, [{"x": "S"}] * 90 + [{"x": "L"}] * 10)
    >>> moved["column"], moved["verdict"], moved["before"], moved["now"]
    ('x', 'moved far', 0.5, 0.1)
    """
    taken = read_rows(estimator, rows, [None] * len(rows))
    return [
        plain_values({**asdict(drift), "verdict": drift.verdict})
        for drift in drifts(column_distributions(estimator, taken))
    ]
