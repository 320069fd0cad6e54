"""Explanations as HTML that stands alone: no script, no link, every text escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from deciban.explanation.terminal import length, lines, signed

if TYPE_CHECKING:
    from deciban.explanation.explained import Explanation, Part, Term
    from deciban.explanation.importance import Importance

#: Half the width of the bars, in pixels.
HALF = 120
#: Colours that people who do not tell red from green can tell apart.
FOR, AGAINST, PLAIN = "#2a7fb8", "#d1603d", "#5b7083"
_CELL = "padding:1px 10px 1px 0;border:0;text-align:{side};white-space:nowrap"


def explanation(why: Explanation) -> str:
    """The heading, a table with bars for and against, and texts with their words marked."""
    found = lines(why)
    most = max((abs(said) for _, said in found if math.isfinite(said)), default=0.0)
    rather = "" if why.runner_up is None else f" rather than <b>{escape(str(why.runner_up))}</b>"
    head = f"<b>{escape(str(why.answer))}</b>{rather}: {100 * why.probability:.1f} %"
    body = "".join(_line(name, said, most) for name, said in found)
    texts = "".join(_marked(term) for term in why.terms if term.parts)
    return _whole(head, "decibans", body, texts)


def importance(found: Importance) -> str:
    """The features, the strongest first."""
    most = max((weight.decibans for weight in found), default=0.0)
    body = "".join(
        _row(weight.feature, f"{weight.decibans:.1f}", _one_sided(weight.decibans, most))
        for weight in found
    )
    return _whole("<b>Importance</b>", "decibans a row", body, "")


def _whole(head: str, unit: str, body: str, rest: str) -> str:
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px">'
        f'<div style="margin-bottom:4px">{head}</div>'
        f'<table style="border-collapse:collapse;border:0">{_row("", unit, "")}{body}</table>'
        f"{rest}</div>"
    )


def _line(name: str, said: float, most: float) -> str:
    return _row(name, signed(said), _two_sided(said, most), bold=name == "total")


def _row(name: str, number: str, bar: str, *, bold: bool = False) -> str:
    weight = ";font-weight:bold;border-top:1px solid #999" if bold else ""
    left, right = (_CELL.format(side=side) + weight for side in ("left", "right"))
    return (
        f'<tr style="background:none"><td style="{left}">{escape(name)}</td>'
        f'<td style="{right}">{number}</td><td style="{left}">{bar}</td></tr>'
    )


def _two_sided(said: float, most: float) -> str:
    """A bar from the middle: to the right for the answer, to the left against it."""
    size = length(said, most, HALF)
    colour, start = (FOR, HALF) if said >= 0 else (AGAINST, HALF - size)
    return _box(start, size, colour, 2 * HALF)


def _one_sided(said: float, most: float) -> str:
    return _box(0, length(said, most, 2 * HALF), PLAIN, 2 * HALF)


def _box(start: int, size: int, colour: str, width: int) -> str:
    return (
        f'<div style="width:{width}px"><div style="margin-left:{start}px;width:{size}px;'
        f'height:10px;background:{colour}"></div></div>'
    )


def _marked(term: Term) -> str:
    """A text with its words shaded by what they say."""
    text, at, out = str(term.value), 0, []
    most = max(abs(part.decibans) for part in term.parts)
    for part in sorted(term.parts, key=lambda part: part.start):
        if part.start >= at:
            out.append(escape(text[at : part.start]) + _word(text, part, most))
            at = part.stop
    out.append(escape(text[at:]))
    style = "margin-top:6px;max-width:60em;white-space:pre-wrap"
    return f'<div style="{style}">{"".join(out)}</div>'


def _word(text: str, part: Part, most: float) -> str:
    strength = abs(part.decibans) / most if most > 0 and math.isfinite(part.decibans) else 1.0
    red, green, blue = (42, 127, 184) if part.decibans >= 0 else (209, 96, 61)
    return (
        f'<span title="{signed(part.decibans)} decibans" '
        f'style="background:rgba({red},{green},{blue},{0.6 * strength:.2f})">'
        f"{escape(text[part.start : part.stop])}</span>"
    )
