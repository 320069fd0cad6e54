"""The features of a model: a bar each, the strongest first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Protocol

from deciban.charts import CHART_WIDTH, PLAIN, Chart, altair, data


class Weight(Protocol):
    """A feature, and its mean evidence in decibans a row."""

    @property
    def feature(self) -> str:
        """Its name."""

    @property
    def decibans(self) -> float:
        """Decibans a row for the true class."""


def chart(weights: Iterable[Weight], limit: int = 30) -> Chart:
    """Bars of the mean evidence of at most so many features."""
    alt = altair()
    rows = [{"feature": w.feature, "decibans": w.decibans} for w in islice(weights, limit)]
    order = [row["feature"] for row in rows]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("feature:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False)),
        x=alt.X("decibans:Q", title="mean decibans a row, for the true class"),
    )
    return (
        alt.layer(
            base.mark_bar(height={"band": 0.72}, color=PLAIN),
            base.mark_text(align="left", dx=4).encode(text=alt.Text("decibans:Q", format=".2f")),
        )
        .properties(width=CHART_WIDTH, height=alt.Step(22), title="How much each feature says")
        .configure_view(stroke=None)
    )
