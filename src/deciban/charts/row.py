"""One row's explanation: a bar for every feature, for the prior, and for the total."""

from __future__ import annotations

import math
from typing import Any

from deciban.charts import AGAINST, FOR, PLAIN, TOTAL, WIDTH, altair, data, finite

#: More features are folded into one bar.
LINES = 20


def chart(why: Any) -> Any:
    """Bars to the right are for the answer, bars to the left against it."""
    alt = altair()
    found = _rows(why)
    order = [row["name"] for row in found]
    bars = alt.Chart(data(found)).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=_names(alt)),
    )
    x = alt.X(
        "bar:Q",
        title=f"decibans for {why.answer} against {why.runner_up}",
        scale=alt.Scale(domain=_reach([row["bar"] for row in found]), nice=False),
        axis=_ruler(alt),
    )
    colour = alt.Color("side:N", scale=_colours(alt), legend=None)
    tips = [alt.Tooltip("name:N", title="feature"), alt.Tooltip("said:N", title="decibans")]
    right, left = alt.datum.bar >= 0, alt.datum.bar < 0
    texts = bars.encode(x=x, text="said:N")
    title = f"{why.answer} rather than {why.runner_up}: {100 * why.probability:.1f} %"
    return (
        alt.layer(
            bars.mark_bar(height={"band": 0.72}).encode(x=x, color=colour, tooltip=tips),
            texts.mark_text(align="left", dx=4).transform_filter(right),
            texts.mark_text(align="right", dx=-4).transform_filter(left),
        )
        .properties(width=WIDTH, height=alt.Step(22), title=alt.Title(title, anchor="start"))
        .configure_view(stroke=None)
    )


def _names(alt: Any) -> Any:
    return alt.Axis(labelLimit=260, labelPadding=8, ticks=False, domain=False)


def _ruler(alt: Any) -> Any:
    """Faint lines, and a plain one between for and against."""
    zero = alt.condition("datum.value == 0", alt.value(PLAIN), alt.value("#e4e8eb"))
    return alt.Axis(gridColor=zero, ticks=False, domain=False, titleFontWeight="normal")


def _reach(bars: list[float]) -> list[float]:
    """The ends of the axis, with room for the numbers beside the bars."""
    low, high = min(0.0, *bars), max(0.0, *bars)
    room = 0.1 * ((high - low) or 1.0)
    return [low - room if low < 0 else 0.0, high + room]


def _colours(alt: Any) -> Any:
    return alt.Scale(domain=["for", "against", "total"], range=[FOR, AGAINST, TOTAL])


def _rows(why: Any) -> list[dict[str, Any]]:
    terms = why.strongest()
    shown, rest = (terms, []) if len(terms) <= LINES else (terms[: LINES - 1], terms[LINES - 1 :])
    found = [(_name(term), term.decibans) for term in shown]
    if rest:
        found.append((f"{len(rest)} others", math.fsum(term.decibans for term in rest)))
    found.append(("prior", why.prior))
    found.sort(key=lambda line: -abs(line[1]))
    found.append(("total", why.total))
    most = max((abs(said) for _, said in found if math.isfinite(said)), default=1.0)
    return [_bar(name, said, 1.2 * most or 1.0) for name, said in found]


def _bar(name: str, said: float, most: float) -> dict[str, Any]:
    side = "total" if name == "total" else "for" if said >= 0 else "against"
    return {
        "name": name,
        "bar": finite(said, most),
        "said": f"{said + 0.0:+.1f}".replace("inf", "∞"),
        "side": side,
    }


def _name(term: Any) -> str:
    value = f"{term.value:.6g}" if isinstance(term.value, float) else str(term.value)
    missing = term.value is None or term.value != term.value
    return f"{term.feature} = {'missing' if missing else value[:40]}"
