"""One row's explanation: a bar for every feature, for the prior, and for the total."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from types import ModuleType
from typing import Protocol

from deciban.charts import (
    AGAINST,
    CHART_WIDTH,
    FOR,
    PLAIN,
    RULE,
    TOTAL,
    Chart,
    Row,
    altair,
    data,
    finite,
    label_axis,
)

#: More features are folded into one bar.
MAX_BARS = 20


class Term(Protocol):
    """A feature of the row, its value, and its evidence for the answer."""

    @property
    def feature(self) -> str:
        """The name of the feature."""

    @property
    def value(self) -> object:
        """Its value in the row."""

    @property
    def unseen(self) -> str:
        """Why training did not have the value; empty where it had."""

    @property
    def decibans(self) -> float:
        """Its evidence."""


class Explanation(Protocol):
    """The evidence of prior and features for the answer against the runner-up, in decibans."""

    @property
    def answer(self) -> Hashable:
        """The likeliest class."""

    @property
    def runner_up(self) -> Hashable:
        """The class that it is compared with."""

    @property
    def probability(self) -> float:
        """The probability of the answer."""

    @property
    def prior(self) -> float:
        """The evidence of the prior."""

    @property
    def total(self) -> float:
        """The sum of prior and features."""

    def strongest(self) -> Sequence[Term]:
        """The features, the strongest first."""


def chart(why: Explanation) -> Chart:
    """Bars to the right are for the answer, bars to the left against it."""
    alt = altair()
    rows = _rows(why)
    order = [row["name"] for row in rows]
    bars = alt.Chart(data(rows)).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=_names(order)),
    )
    x = alt.X(
        "bar:Q",
        title=f"decibans for {why.answer} against {why.runner_up}",
        scale=alt.Scale(domain=_domain([row["bar"] for row in rows]), nice=False),
        axis=_ruler(alt),
    )
    colour = alt.Color("side:N", scale=_colours(alt), legend=None)
    tips = [alt.Tooltip("name:N", title="feature"), alt.Tooltip("label:N", title="decibans")]
    right, left = alt.datum.bar >= 0, alt.datum.bar < 0
    texts = bars.encode(x=x, text="label:N")
    title = f"{why.answer} rather than {why.runner_up}: {100 * why.probability:.1f} %"
    return (
        alt.layer(
            bars.mark_bar(height={"band": 0.72}).encode(x=x, color=colour, tooltip=tips),
            texts.mark_text(align="left", dx=4).transform_filter(right),
            texts.mark_text(align="right", dx=-4).transform_filter(left),
        )
        .properties(width=CHART_WIDTH, height=alt.Step(22), title=alt.Title(title, anchor="start"))
        .configure_view(stroke=None)
    )


def _names(names: list[str]) -> Chart:
    return label_axis(names, 260, labelPadding=8, ticks=False, domain=False)


def _ruler(alt: ModuleType) -> Chart:
    """Faint lines, and a plain one between for and against."""
    zero = alt.condition("datum.value == 0", alt.value(PLAIN), alt.value(RULE))
    return alt.Axis(gridColor=zero, ticks=False, domain=False, titleFontWeight="normal")


def _domain(bars: list[float]) -> list[float]:
    """The ends of the axis, with room for the numbers beside the bars."""
    low, high = min(0.0, *bars), max(0.0, *bars)
    room = 0.1 * ((high - low) or 1.0)
    return [low - room if low < 0 else 0.0, high + room]


def _colours(alt: ModuleType) -> Chart:
    return alt.Scale(domain=["for", "against", "total"], range=[FOR, AGAINST, TOTAL])


def _rows(why: Explanation) -> list[Row]:
    terms = why.strongest()
    n_shown = len(terms) if len(terms) <= MAX_BARS else MAX_BARS - 1
    lines = [(_name(term), term.decibans) for term in terms[:n_shown]]
    if rest := terms[n_shown:]:
        lines.append((f"{len(rest)} others", math.fsum(term.decibans for term in rest)))
    lines.append(("prior", why.prior))
    lines.sort(key=lambda line: -abs(line[1]))
    lines.append(("total", why.total))
    longest = max((abs(db) for _, db in lines if math.isfinite(db)), default=1.0)
    return [_bar(name, decibans, 1.2 * longest or 1.0) for name, decibans in lines]


def _bar(name: str, decibans: float, limit: float) -> Row:
    side = "total" if name == "total" else "for" if decibans >= 0 else "against"
    return {
        "name": name,
        "bar": finite(decibans, limit),
        "label": f"{decibans + 0.0:+.1f}".replace("inf", "∞"),
        "side": side,
    }


def _name(term: Term) -> str:
    value = f"{term.value:.6g}" if isinstance(term.value, float) else str(term.value)
    missing = term.value is None or term.value != term.value
    mark = f" ({term.unseen})" if term.unseen else ""
    return f"{term.feature} = {'missing' if missing else value[:40]}{mark}"
