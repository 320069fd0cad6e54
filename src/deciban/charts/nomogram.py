"""The nomogram on paper: a ruler of points, a scale for each feature, totals and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.charts import AGAINST, FOR, altair, data

#: The width of 100 points, of a character, and the height of a line of labels.
RULER, CHARACTER, LANE = 640, 6.2, 13
#: Labels of a scale stand in no more lines than this; a curve of numbers has so many labels.
LANES, NUMBERS = 6, 9
#: The probabilities that are marked.
MARKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


def chart(found: Any) -> Any:
    """The scales below each other with the ruler on top, and below them total and probability."""
    alt = altair()
    title = {
        "text": f"Nomogram: probability of {found.of} against {found.against}",
        "subtitle": "Add up the points of all features; below the total stands the probability.",
        "subtitleColor": "#667",
    }
    made = alt.vconcat(_scales(alt, found), _totals(alt, found), spacing=18, title=title)
    return made.configure_view(stroke=None).configure_concat(spacing=18)


def _scales(alt: Any, found: Any) -> Any:
    lines, ticks, y = [], [], 12.0
    for scale in found.scales:
        marks, lanes = _placed(scale)
        ticks += [{**mark, "feature": scale.name, "y": y, "text_y": y + 9 + LANE * mark["lane"]}
                  for mark in marks]  # fmt: skip
        lines.append({"feature": scale.name, "y": y, "x": 0.0, "x2": float(scale.points.max())})
        y += 20 + LANE * lanes
    height = y
    axis = alt.Axis(title="points", orient="top", grid=True, values=list(range(0, 101, 10)))
    x = alt.Scale(domain=[0, 100], nice=False)
    at = alt.Scale(domain=[0, height], reverse=True, nice=False)

    def place(name: str) -> Any:
        return alt.Y(f"{name}:Q", scale=at, axis=None)

    rule = alt.Chart(data(lines)).encode(y=place("y"))
    mark = alt.Chart(data(ticks)).encode(x=alt.X("points:Q", scale=x, axis=axis))
    return alt.layer(
        rule.mark_rule(color="#33434f").encode(x=alt.X("x:Q", scale=x, axis=axis), x2="x2:Q"),
        rule.mark_text(align="right", fontWeight="bold", limit=200).encode(
            x=alt.value(-14), text="feature:N"
        ),
        mark.mark_tick(orient="vertical", size=9, thickness=1.2, color=FOR).encode(
            y=place("y"),
            tooltip=["feature:N", "label:N", alt.Tooltip("points:Q", format=".1f")],
        ),
        mark.transform_filter("datum.shown")
        .mark_text(baseline="top", fontSize=10)
        .encode(y=place("text_y"), text="label:N"),
    ).properties(width=RULER, height=height)


def _placed(scale: Any) -> tuple[list[dict[str, Any]], int]:
    """The ticks of a scale; each label in the first line that has room for it."""
    points = scale.points.tolist()
    wanted = _wanted(scale)
    ends = [-1e9] * LANES
    marks = []
    for i in sorted(range(len(points)), key=points.__getitem__):
        label = scale.labels[i] if len(scale.labels[i]) <= 24 else scale.labels[i][:23] + "…"
        centre, half = points[i] * RULER / 100, CHARACTER * len(label) / 2 + 3
        room = [lane for lane, end in enumerate(ends) if centre - half > end]
        shown = i in wanted and bool(room)
        if shown:
            ends[room[0]] = centre + half
        marks.append(
            {"label": label, "points": points[i], "shown": shown, "lane": room[0] if shown else 0}
        )
    return marks, 1 + max((m["lane"] for m in marks if m["shown"]), default=0)


def _wanted(scale: Any) -> set[int]:
    """The values that get a label: of a curve of numbers only some, evenly spaced."""
    n = len(scale.values)
    if scale.kind == "number" and scale.edges is None and n > NUMBERS:
        return set(np.linspace(0, n - 1, NUMBERS).round().astype(int).tolist())
    return set(range(n))


def _totals(alt: Any, found: Any) -> Any:
    """Total points above a line, probabilities below it."""
    low, high = _reach(found)
    x = alt.Scale(domain=[low, high], nice=False)
    axis = alt.Axis(title="total points", orient="top", grid=False, tickCount=12)
    some = _marks(found, low, high)
    base = alt.Chart(data(some)).encode(x=alt.X("points:Q", scale=x, axis=axis))
    line = alt.Chart(data([{"x": low, "x2": high}])).mark_rule(color="#33434f")
    return alt.layer(
        line.encode(x=alt.X("x:Q", scale=x, axis=axis), x2="x2:Q", y=alt.value(24)),
        base.mark_tick(orient="vertical", size=9, thickness=1.2, color=AGAINST).encode(
            y=alt.value(24), tooltip=["label:N", alt.Tooltip("points:Q", format=".1f")]
        ),
        base.transform_filter("datum.shown")
        .mark_text(baseline="top", fontSize=10)
        .encode(y=alt.value(33), text="label:N"),
        alt.Chart(data([{"label": "probability"}]))
        .mark_text(align="right", fontWeight="bold")
        .encode(x=alt.value(-14), y=alt.value(24), text="label:N"),
    ).properties(width=RULER, height=50)


def _reach(found: Any) -> tuple[float, float]:
    """The totals that are drawn: where the probability is neither 0 nor 1."""
    most = max(found.most, 1.0)
    low, high = found.points(MARKS[0] / 2), found.points(1 - MARKS[0] / 2)
    low, high = max(0.0, 10 * (low // 10)), min(most, 10 * (high // 10 + 1))
    return (low, high) if low < high else (0.0, most)


def _marks(found: Any, low: float, high: float) -> list[dict[str, Any]]:
    """The probabilities within reach, each labelled where there is room."""
    marks, end = [], -1e9
    for probability in MARKS:
        points = found.points(probability)
        if low <= points <= high:
            centre, label = (points - low) * RULER / (high - low), f"{probability:g}"
            half = CHARACTER * len(label) / 2 + 2
            shown = centre - half > end
            end = centre + half if shown else end
            marks.append(
                {"label": label, "points": points, "shown": shown, "probability": probability}
            )
    return marks
