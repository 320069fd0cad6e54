"""The features of a model: a bar each, the strongest first."""

from __future__ import annotations

from typing import Any

from deciban.charts import PLAIN, WIDTH, altair, data


def chart(found: Any, most: int = 30) -> Any:
    """Bars of the expected weight of evidence."""
    alt = altair()
    rows = [{"feature": w.feature, "decibans": w.decibans} for w in list(found)[:most]]
    order = [row["feature"] for row in rows]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("feature:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False)),
        x=alt.X("decibans:Q", title="expected decibans a row, for the true class"),
    )
    return (
        alt.layer(
            base.mark_bar(height={"band": 0.72}, color=PLAIN),
            base.mark_text(align="left", dx=4).encode(text=alt.Text("decibans:Q", format=".2f")),
        )
        .properties(width=WIDTH, height=alt.Step(22), title="How much each feature says")
        .configure_view(stroke=None)
    )
