"""The nomogram on paper: a ruler of points, a scale for each feature, totals and probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.charts import AGAINST, FOR, TOTAL, Chart, Row, altair, data
from deciban.charts.letters import cut_text, text_width

#: The width of 100 points, the size of labels, the height of their lines, the widest, in pixels.
RULER_WIDTH, TICK_LABEL_SIZE, LANE_HEIGHT, MAX_LABEL_WIDTH = 760, 11, 14, 150
#: Labels of a scale stand in no more lines than this; a curve of numbers has so many labels.
MAX_LANES, MAX_NUMBER_LABELS = 6, 9
#: The probabilities that are marked.
MARKED_PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99,
                        0.999)  # fmt: skip


class Scale(Protocol):
    """One feature's scale: the points of its values."""

    @property
    def name(self) -> str:
        """The name of the scale."""

    @property
    def kind(self) -> str:
        """A number, a category or an amount."""

    @property
    def values(self) -> Sequence[Hashable]:
        """The values."""

    @property
    def labels(self) -> Sequence[str]:
        """The values in words."""

    @property
    def points(self) -> NDArray[np.float64]:
        """The points of each value, the least of them 0."""

    @property
    def edges(self) -> Sequence[float] | None:
        """The least value of each bin but the first."""


class Nomogram(Protocol):
    """The scales of all features, and how total points become a probability."""

    @property
    def of(self) -> Hashable:
        """The class whose probability is read."""

    @property
    def against(self) -> Hashable:
        """The class that it is compared with."""

    @property
    def scales(self) -> Sequence[Scale]:
        """A scale for each feature."""

    @property
    def most(self) -> float:
        """The largest total."""

    def points(self, probability: float) -> float:
        """The total points at which a probability is reached."""


def chart(sheet: Nomogram) -> Chart:
    """The scales below each other with the ruler on top, and below them total and probability."""
    alt = altair()
    title = {
        "text": f"Nomogram: probability of {sheet.of} against {sheet.against}",
        "subtitle": "Add up the points of all features; below the total stands the probability.",
    }
    parts = alt.vconcat(_scales(alt, sheet), _totals(alt, sheet), spacing=18, title=title)
    return parts.configure_view(stroke=None).configure_concat(spacing=18)


def _scales(alt: ModuleType, sheet: Nomogram) -> Chart:
    """A line for each feature, with its values as ticks."""
    lines, ticks, height = _lines(sheet)
    axis = alt.Axis(title="points", orient="top", grid=True, values=list(range(0, 101, 10)))
    x = alt.Scale(domain=[0, 100], nice=False)
    at = alt.Scale(domain=[0, height], reverse=True, nice=False)

    def place(name: str) -> Chart:
        return alt.Y(f"{name}:Q", scale=at, axis=None)

    rule = alt.Chart(data(lines)).encode(y=place("y"))
    mark = alt.Chart(data(ticks)).encode(x=alt.X("points:Q", scale=x, axis=axis))
    return alt.layer(
        rule.mark_rule(color=TOTAL).encode(x=alt.X("x:Q", scale=x, axis=axis), x2="x2:Q"),
        rule.mark_text(align="right", fontWeight="bold", limit=200).encode(
            x=alt.value(-14), text="feature:N"
        ),
        mark.mark_tick(orient="vertical", size=9, thickness=1.2, color=FOR).encode(
            y=place("y"),
            tooltip=["feature:N", "label:N", alt.Tooltip("points:Q", format=".1f")],
        ),
        mark.transform_filter("datum.shown")
        .mark_text(baseline="top", fontSize=TICK_LABEL_SIZE)
        .encode(y=place("text_y"), text="label:N"),
    ).properties(width=RULER_WIDTH, height=height)


def _lines(sheet: Nomogram) -> tuple[list[Row], list[Row], float]:
    """The lines of all features below each other, their ticks, and how high they are together."""
    lines: list[Row] = []
    ticks: list[Row] = []
    y = 12.0
    for scale in sheet.scales:
        marks, lanes = _ticks(scale)
        for mark in marks:
            text_y = y + 9 + LANE_HEIGHT * mark["lane"]
            ticks.append({**mark, "feature": scale.name, "y": y, "text_y": text_y})
        lines.append({"feature": scale.name, "y": y, "x": 0.0, "x2": float(scale.points.max())})
        y += 20 + LANE_HEIGHT * lanes
    return lines, ticks, y


def _ticks(scale: Scale) -> tuple[list[Row], int]:
    """The ticks of a scale; each label in the first line that has room for it."""
    points = scale.points.tolist()
    labelled = _labelled(scale)
    ends = [-1e9] * MAX_LANES
    marks = []
    for i in sorted(range(len(points)), key=points.__getitem__):
        label = cut_text(scale.labels[i], MAX_LABEL_WIDTH, TICK_LABEL_SIZE)
        centre = points[i] * RULER_WIDTH / 100
        half = text_width(label, TICK_LABEL_SIZE) / 2 + 4
        room = [lane for lane, end in enumerate(ends) if centre - half > end]
        shown = i in labelled and bool(room)
        if shown:
            ends[room[0]] = centre + half
        marks.append(
            {"label": label, "points": points[i], "shown": shown, "lane": room[0] if shown else 0}
        )
    return marks, 1 + max((m["lane"] for m in marks if m["shown"]), default=0)


def _labelled(scale: Scale) -> set[int]:
    """The values that get a label: of a curve of numbers only some, evenly spaced."""
    n = len(scale.values)
    if scale.kind == "number" and scale.edges is None and n > MAX_NUMBER_LABELS:
        return set(np.linspace(0, n - 1, MAX_NUMBER_LABELS).round().astype(int).tolist())
    return set(range(n))


def _totals(alt: ModuleType, sheet: Nomogram) -> Chart:
    """Total points above a line, probabilities below it."""
    low, high = _domain(sheet)
    x = alt.Scale(domain=[low, high], nice=False)
    axis = alt.Axis(title="total points", orient="top", grid=False, tickCount=12)
    some = _marks(sheet, low, high)
    base = alt.Chart(data(some)).encode(x=alt.X("points:Q", scale=x, axis=axis))
    line = alt.Chart(data([{"x": low, "x2": high}])).mark_rule(color=TOTAL)
    return alt.layer(
        line.encode(x=alt.X("x:Q", scale=x, axis=axis), x2="x2:Q", y=alt.value(24)),
        base.mark_tick(orient="vertical", size=9, thickness=1.2, color=AGAINST).encode(
            y=alt.value(24), tooltip=["label:N", alt.Tooltip("points:Q", format=".1f")]
        ),
        base.transform_filter("datum.shown")
        .mark_text(baseline="top", fontSize=TICK_LABEL_SIZE)
        .encode(y=alt.value(33), text="label:N"),
        alt.Chart(data([{"label": "probability"}]))
        .mark_text(align="right", fontWeight="bold")
        .encode(x=alt.value(-14), y=alt.value(24), text="label:N"),
    ).properties(width=RULER_WIDTH, height=50)


def _domain(sheet: Nomogram) -> tuple[float, float]:
    """The totals that are drawn: where the probability is neither 0 nor 1."""
    largest = max(sheet.most, 1.0)
    low, high = (
        sheet.points(MARKED_PROBABILITIES[0] / 2),
        sheet.points(1 - MARKED_PROBABILITIES[0] / 2),
    )
    low, high = max(0.0, 10 * (low // 10)), min(largest, 10 * (high // 10 + 1))
    return (low, high) if low < high else (0.0, largest)


def _marks(sheet: Nomogram, low: float, high: float) -> list[Row]:
    """The probabilities within reach, each labelled where there is room."""
    marks, end = [], -1e9
    for probability in MARKED_PROBABILITIES:
        points = sheet.points(probability)
        if low <= points <= high:
            centre, label = (points - low) * RULER_WIDTH / (high - low), f"{probability:g}"
            half = text_width(label, TICK_LABEL_SIZE) / 2 + 3
            shown = centre - half > end
            end = centre + half if shown else end
            marks.append(
                {"label": label, "points": points, "shown": shown, "probability": probability}
            )
    return marks
