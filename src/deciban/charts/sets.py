"""Sets of classes: how large they are, and how often they hold the class, by the coverage asked."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.charts import AGAINST, FOR, Chart, altair, data

#: The width and height of each of the two charts, in pixels.
CHART_SIDE = 300


class SetCurve(Protocol):
    """The coverage and mean size of sets, by the coverage that is wanted."""

    @property
    def wanted(self) -> NDArray[np.float64]:
        """The coverage that is asked for."""

    @property
    def coverage(self) -> NDArray[np.float64]:
        """The share of rows whose set held their class."""

    @property
    def size(self) -> NDArray[np.float64]:
        """The mean number of classes in a set."""


def chart(curve: SetCurve) -> Chart:
    """The share of sets that held the class beside what was asked, and the mean size of sets."""
    alt = altair()
    names = ("wanted", "coverage", "size")
    columns = [getattr(curve, name).tolist() for name in names]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    lowest, highest = float(curve.wanted[0]), float(curve.wanted[-1])
    x = alt.X("wanted:Q", title="coverage asked for", scale=alt.Scale(domain=[lowest, highest]))
    base = alt.Chart(data(rows)).encode(
        x=x, tooltip=[alt.Tooltip(f"{name}:Q", format=".3~f") for name in names]
    )
    ends = alt.Chart(data([{"p": lowest}, {"p": highest}]))
    low = min(lowest, float(np.min(curve.coverage)))
    y = alt.Y("coverage:Q", title="share that held the class", scale=alt.Scale(domain=[low, 1]))
    held = alt.layer(
        ends.mark_line(color="#999", strokeDash=[4, 3]).encode(x="p:Q", y="p:Q"),
        base.mark_line(color=FOR).encode(y=y),
    ).properties(width=CHART_SIDE, height=CHART_SIDE)
    size = alt.Y("size:Q", title="mean size of a set", scale=alt.Scale(domainMin=1))
    sizes = base.mark_line(color=AGAINST).encode(y=size)
    return alt.hconcat(held, sizes.properties(width=CHART_SIDE, height=CHART_SIDE)).properties(
        title="Sets of classes"
    )
