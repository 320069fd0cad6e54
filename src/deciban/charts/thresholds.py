"""What thresholds do: ROC, precision and recall, and cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.charts import AGAINST, FOR, TOTAL, Chart, Row, altair, data

FloatArray = NDArray[np.float64]

#: A curve is drawn through no more points than about this.
MAX_CURVE_POINTS = 300
#: The width and height of a chart, in pixels.
CHART_SIDE = 340


class RocCurve(Protocol):
    """One class against the rest, at every threshold."""

    @property
    def of(self) -> Hashable:
        """The class."""

    @property
    def tpr(self) -> FloatArray:
        """The true positive rate."""

    @property
    def fpr(self) -> FloatArray:
        """The false positive rate."""

    @property
    def precision(self) -> FloatArray:
        """The share of positives that are true."""


class Thresholds(Protocol):
    """Thresholds on the probability of a class, and what each would have cost a row."""

    @property
    def threshold(self) -> FloatArray:
        """The thresholds; infinity never answers the class."""

    @property
    def cost(self) -> FloatArray:
        """The cost of a row on average."""


def roc(curves: Iterable[RocCurve]) -> Chart:
    """The share of rows of a class that is found, by the share of others that is taken for it."""
    alt = altair()
    rows = [row for curve in curves for row in _rows(curve, curve.fpr, curve.tpr)]
    even = alt.Chart(data([{"p": 0}, {"p": 1}])).mark_line(color="#999", strokeDash=[4, 3])
    return alt.layer(
        even.encode(x="p:Q", y="p:Q"),
        _line(rows, "share of the others taken for it", "share of the class found"),
    ).properties(width=CHART_SIDE, height=CHART_SIDE, title="ROC curve")


def precision_recall(curves: Iterable[RocCurve]) -> Chart:
    """How often a class is right, by the share of its rows that is found."""
    rows = [row for curve in curves for row in _rows(curve, curve.tpr, curve.precision)]
    curve = _line(rows, "recall: share of the class found", "precision: share that is right")
    return curve.properties(width=CHART_SIDE, height=CHART_SIDE, title="Precision and recall")


def cost(table: Thresholds, of: Hashable, marks: Iterable[tuple[str, float]] = ()) -> Chart:
    """The cost a row of answering a class from a probability on; marked are some thresholds."""
    alt = altair()
    finite = np.isfinite(table.threshold)
    at, costs = table.threshold[finite], table.cost[finite]
    some = _thin(at)
    rows = [{"x": float(at[i]), "y": float(costs[i])} for i in some]
    x = alt.X("x:Q", title=f"answer {of} from this probability on", scale=alt.Scale(domain=[0, 1]))
    layers = [
        alt.Chart(data(rows)).mark_line(color=FOR).encode(x=x, y=alt.Y("y:Q", title="cost a row"))
    ]
    marked = [{"x": value, "name": name} for name, value in marks if 0 <= value <= 1]
    if marked:
        rule = alt.Chart(data(marked)).encode(x="x:Q")
        layers.append(
            rule.mark_rule(strokeDash=[4, 3], strokeWidth=1.6).encode(
                color=alt.Color(
                    "name:N",
                    title=None,
                    scale=alt.Scale(range=[AGAINST, TOTAL]),
                    legend=alt.Legend(orient="bottom", columns=1, labelLimit=400),
                )
            )
        )
    return alt.layer(*layers).properties(
        width=CHART_SIDE, height=CHART_SIDE, title="Cost by threshold"
    )


def _rows(curve: RocCurve, across: FloatArray, up: FloatArray) -> list[Row]:
    some = _thin(np.abs(np.diff(across, prepend=across[0])).cumsum()
                    + np.abs(np.diff(up, prepend=up[0])).cumsum())  # fmt: skip
    return [
        {"class": str(curve.of), "x": float(across[i]), "y": float(up[i]), "order": i} for i in some
    ]


def _thin(way: FloatArray) -> list[int]:
    """Points about evenly spaced along a way that only grows, or only shrinks.

    >>> len(_thin(np.linspace(0, 1, 900))), len(_thin(np.arange(9.0)))
    (301, 9)
    """
    if len(way) <= MAX_CURVE_POINTS:
        return list(range(len(way)))
    passed = np.abs(way - way[0])
    step = np.floor(passed / (passed[-1] or 1.0) * MAX_CURVE_POINTS)
    return sorted({*np.flatnonzero(np.diff(step, prepend=-1.0)).tolist(), len(way) - 1})


def _line(rows: list[Row], across: str, up: str) -> Chart:
    alt = altair()
    unit = alt.Scale(domain=[0, 1])
    several = len({row["class"] for row in rows}) > 1
    colour = (
        alt.Color("class:N", title="class", scale=alt.Scale(scheme="tableau10"))
        if several
        else alt.value(FOR)
    )
    return (
        alt.Chart(data(rows))
        .mark_line()
        .encode(
            x=alt.X("x:Q", title=across, scale=unit),
            y=alt.Y("y:Q", title=up, scale=unit),
            order="order:Q",
            color=colour,
        )
    )
