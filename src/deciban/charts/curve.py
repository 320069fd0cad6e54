"""The evidence of one column: a curve with its band, steps for bins, bars for categories."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import date, time
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.charts import (
    AGAINST,
    CHART_WIDTH,
    FOR,
    TOTAL,
    Chart,
    Row,
    altair,
    data,
    finite,
    label_axis,
)
from deciban.plain import plain
from deciban.sources.tabular import Value

FloatArray = NDArray[np.float64]

#: More categories, or classes, are not drawn.
MAX_CATEGORIES, MAX_CLASSES = 30, 8
#: Decibans beyond this are drawn here.
MAX_DECIBANS = 100.0


class Curve(Protocol):
    """The decibans of each value of a column for every class, (values, classes), with a band."""

    @property
    def column(self) -> str:
        """The name of the column."""

    @property
    def kind(self) -> str:
        """A number, a category or an amount."""

    @property
    def x(self) -> Sequence[Value]:
        """The values."""

    @property
    def labels(self) -> Sequence[str]:
        """The values in words."""

    @property
    def classes(self) -> Sequence[Hashable]:
        """The classes, in order."""

    @property
    def against(self) -> Hashable:
        """The class compared with; None for all others."""

    @property
    def decibans(self) -> FloatArray:
        """The curve of every class, (values, classes)."""

    @property
    def low(self) -> FloatArray | None:
        """The lower end of the band."""

    @property
    def high(self) -> FloatArray | None:
        """The upper end of the band."""

    @property
    def level(self) -> float:
        """The share of the posterior that the band holds."""

    @property
    def rows(self) -> FloatArray | None:
        """The rows behind each value."""

    @property
    def edges(self) -> Sequence[float] | None:
        """The least value of each bin but the first."""

    def place(self, label: Hashable) -> int:
        """Where a class stands."""


def chart(curve: Curve, of: Hashable = None) -> Chart:
    """The chart of one class, or of all where there are more than two."""
    places = _places(curve, of)
    rows = [row for c in places for row in _rows(curve, c)]
    numbers = curve.kind == "number" and not isinstance(curve.x[0], time)
    draw = _line if numbers else _bars
    return draw(curve, rows, len(places)).properties(title=_title(curve, places))


def _places(curve: Curve, of: Hashable) -> list[int]:
    if of is not None:
        return [curve.place(of)]
    if len(curve.classes) == 2:
        return [1 - curve.place(curve.against) if curve.against is not None else 1]
    others = [c for c, label in enumerate(curve.classes) if label != curve.against]
    return others[:MAX_CLASSES]


def _title(curve: Curve, places: list[int]) -> Chart:
    what = curve.classes[places[0]] if len(places) == 1 else "each class"
    other = curve.against
    if other is None and len(curve.classes) == 2 and len(places) == 1:
        other = curve.classes[1 - places[0]]
    against = "the others" if other is None else other
    band = [] if curve.low is None else [f"band: {100 * curve.level:.0f} % of the posterior"]
    return {
        "text": f"What {curve.column} says for {what} against {against}",
        "subtitle": band,
    }


def _rows(curve: Curve, c: int) -> list[Row]:
    low = curve.decibans if curve.low is None else curve.low
    high = curve.decibans if curve.high is None else curve.high
    bottom, top = _ends(curve)
    low, high = np.maximum(low, bottom), np.minimum(high, top)
    some = list(range(len(curve.x)))
    if curve.kind == "category" and len(curve.x) > MAX_CATEGORIES:
        weight = curve.rows if curve.rows is not None else np.abs(curve.decibans).max(axis=1)
        some = sorted(np.argsort(-weight, kind="stable")[:MAX_CATEGORIES].tolist())
    return [
        {
            "class": str(curve.classes[c]),
            "x": plain(curve.x[i]),
            "label": curve.labels[i],
            "decibans": finite(curve.decibans[i, c], MAX_DECIBANS),
            "low": finite(low[i, c], MAX_DECIBANS),
            "high": finite(high[i, c], MAX_DECIBANS),
            "rows": None if curve.rows is None else float(curve.rows[i]),
        }
        for i in some
    ]


def _ends(curve: Curve) -> tuple[float, float]:
    """Where a band that is far wider than the curve is cut off."""
    shown = np.clip(curve.decibans, -MAX_DECIBANS, MAX_DECIBANS)
    room = 0.5 * float(np.ptp(shown)) + 5.0
    return float(shown.min()) - room, float(shown.max()) + room


def _tips(alt: ModuleType) -> list[Chart]:
    return [
        alt.Tooltip("class:N"),
        alt.Tooltip("label:N", title="value"),
        alt.Tooltip("decibans:Q", format="+.2f"),
        alt.Tooltip("low:Q", format="+.2f"),
        alt.Tooltip("high:Q", format="+.2f"),
        alt.Tooltip("rows:Q", format=",.0f"),
    ]


def _line(curve: Curve, rows: list[Row], n_classes: int) -> Chart:
    """Numbers: a smooth curve, or steps with the bins' edges."""
    alt = altair()
    binned = curve.edges is not None and not isinstance(curve.x[0], date)
    rows = _steps(curve, rows) if binned else rows
    kind = "T" if isinstance(curve.x[0], date) else "Q"
    how = "step-after" if binned else "linear"
    x = alt.X(f"x:{kind}", title=curve.column, scale=alt.Scale(zero=False, nice=False))
    base = alt.Chart(data(rows)).encode(x=x, **_colour(alt, n_classes))
    zero = alt.Chart(data([{"y": 0}])).mark_rule(color="#999").encode(y="y:Q")
    y = alt.Y("decibans:Q", title="decibans")
    return alt.layer(
        zero,
        base.mark_area(opacity=0.22, interpolate=how).encode(
            y=alt.Y("low:Q", title="decibans"), y2="high:Q"
        ),
        base.mark_line(interpolate=how).encode(y=y, tooltip=_tips(alt)),
    ).properties(width=CHART_WIDTH, height=260)


def _steps(curve: Curve, rows: list[Row]) -> list[Row]:
    """Each bin from its least value on, and the last one to its end."""
    edges, out = list(curve.edges or ()), []
    first, last = float(curve.x[0]), float(curve.x[-1])
    reach = [min(first, *edges[:1]) if edges else first, *edges]
    for start in range(0, len(rows), len(curve.x)):
        some = rows[start : start + len(curve.x)]
        out += [{**row, "x": left} for row, left in zip(some, reach, strict=True)]
        end = max(last, reach[-1])
        span = (end - reach[0]) or 1.0
        out.append({**some[-1], "x": end if end > reach[-1] else end + 0.05 * span})
    return out


def _bars(curve: Curve, rows: list[Row], n_classes: int) -> Chart:
    """Categories: a bar each, with its interval."""
    alt = altair()
    order = _order(rows) if curve.kind == "category" else None
    y = alt.Y("label:N", sort=order, title=curve.column, axis=label_axis(_labels(rows), 220))
    base = alt.Chart(data(rows)).encode(y=y, tooltip=_tips(alt))
    x = alt.X("decibans:Q", title="decibans")
    if n_classes > 1:
        base = base.encode(yOffset="class:N", **_colour(alt, n_classes))
        bars = base.mark_bar().encode(x=x)
    else:
        side = alt.condition("datum.decibans >= 0", alt.value(FOR), alt.value(AGAINST))
        bars = base.mark_bar(height={"band": 0.7}).encode(x=x, color=side)
    rules = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q", color=alt.value(TOTAL))
    step = 22 if n_classes == 1 else max(22, 9 * n_classes)
    return alt.layer(bars, rules).properties(
        width=CHART_WIDTH, height=alt.Step(step, **{"for": "position"})
    )


def _labels(rows: list[Row]) -> list[str]:
    return [row["label"] for row in rows]


def _order(rows: list[Row]) -> list[str]:
    """The strongest for the first class that is drawn at the top."""
    first = [row for row in rows if row["class"] == rows[0]["class"]]
    return [row["label"] for row in sorted(first, key=lambda row: -row["decibans"])]


def _colour(alt: ModuleType, n_classes: int) -> dict[str, Chart]:
    if n_classes == 1:
        return {"color": alt.value(FOR)}
    return {"color": alt.Color("class:N", title="class", scale=alt.Scale(scheme="tableau10"))}
