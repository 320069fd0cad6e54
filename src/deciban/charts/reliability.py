"""Reliability: what was predicted beside how often it came true."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.charts import FOR, Chart, altair, data


class Reliability(Protocol):
    """Bins of a class's predicted probability: means, shares that came true, intervals, rows."""

    @property
    def of(self) -> Hashable:
        """The class; None for whatever was answered."""

    @property
    def predicted(self) -> NDArray[np.float64]:
        """The mean probability of each bin."""

    @property
    def observed(self) -> NDArray[np.float64]:
        """The share that came true."""

    @property
    def low(self) -> NDArray[np.float64]:
        """The lower end of its interval."""

    @property
    def high(self) -> NDArray[np.float64]:
        """The upper end of its interval."""

    @property
    def rows(self) -> NDArray[np.float64] | NDArray[np.int64]:
        """The rows, or their weight."""


def chart(table: Reliability) -> Chart:
    """Points with their intervals; on the diagonal, probabilities can be taken as they are."""
    alt = altair()
    names = ("predicted", "observed", "low", "high", "rows")
    columns = [getattr(table, name).tolist() for name in names]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    what = "of the answer" if table.of is None else f"of {table.of}"
    unit = alt.Scale(domain=[0, 1])
    base = alt.Chart(data(rows)).encode(
        x=alt.X("predicted:Q", title=f"predicted probability {what}", scale=unit)
    )
    ends = alt.Chart(data([{"p": 0}, {"p": 1}])).mark_line(color="#999", strokeDash=[4, 3])
    y = alt.Y("observed:Q", title="share that came true", scale=unit)
    return alt.layer(
        ends.encode(x="p:Q", y="p:Q"),
        base.mark_rule(color=FOR).encode(y="low:Q", y2="high:Q"),
        base.mark_line(color=FOR, opacity=0.5).encode(y=y),
        base.mark_circle(color=FOR, opacity=1).encode(
            y=y,
            size=alt.Size("rows:Q", title="rows", scale=alt.Scale(range=[25, 250])),
            tooltip=[alt.Tooltip(f"{name}:Q", format=".3~f") for name in names],
        ),
    ).properties(width=340, height=340, title="Reliability")
