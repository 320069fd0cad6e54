"""The features of a model: a bar each, the strongest first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Protocol

from deciban.charts import CHART_WIDTH, PLAIN, Chart, altair, data, label_axis


class Weight(Protocol):
    """A feature, and its mean evidence in decibans a row."""

    @property
    def feature(self) -> str:
        """Its name."""

    @property
    def decibans(self) -> float:
        """Decibans a row for the true class."""


def chart(
    weights: Iterable[Weight],
    limit: int = 30,
    *,
    title: str = "How much each feature says",
    axis: str = "mean decibans a row, for the true class",
) -> Chart:
    """Bars of the evidence of at most so many features."""
    alt = altair()
    some = list(islice(weights, limit))
    rows = [{"feature": w.feature, "decibans": w.decibans} for w in some]
    order = [w.feature for w in some]
    names = label_axis(order, 260, ticks=False)
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("feature:N", sort=order, title=None, axis=names),
        x=alt.X("decibans:Q", title=axis),
    )
    return (
        alt.layer(
            base.mark_bar(height={"band": 0.72}, color=PLAIN),
            base.mark_text(align="left", dx=4).encode(text=alt.Text("decibans:Q", format=".2f")),
        )
        .properties(width=CHART_WIDTH, height=alt.Step(22), title=title)
        .configure_view(stroke=None)
    )
