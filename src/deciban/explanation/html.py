"""Explanations as HTML that stands alone: no script, no link, every text escaped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from deciban.charts import AGAINST, FOR, PLAIN
from deciban.explanation.terminal import bar_length, lines, signed
from deciban.templates import render

if TYPE_CHECKING:
    from deciban.explanation.explanation import Explanation, Part, Term
    from deciban.explanation.importance import Importance
    from deciban.explanation.strongest import StrongestEvidence

#: The width of the bars, in pixels; those of an explanation start in the middle.
BAR_PIXELS = 240
#: More features are not listed.
MAX_BARS = 60


class Bar(NamedTuple):
    """A name, its number, and the bar beside it: where it starts and how wide it is, in pixels."""

    name: str
    number: str
    start: int
    width: int
    colour: str


class Span(NamedTuple):
    """A stretch of a text; if it is a word that is evidence, its decibans and its colour."""

    text: str
    decibans: str = ""
    colour: str = ""


def explanation(why: Explanation) -> str:
    """The heading, a table with bars for and against, and texts with their words marked."""
    rows = lines(why)
    longest = max((abs(decibans) for _, decibans in rows if math.isfinite(decibans)), default=0.0)
    return render(
        "explanation.html.jinja",
        why=why,
        bars=[_two_sided(name, decibans, longest) for name, decibans in rows],
        width=BAR_PIXELS,
        texts=[list(_spans(term)) for term in why.terms if term.parts],
    )


def importance(features: Importance) -> str:
    """The features, the strongest first."""
    longest = max((abs(weight.decibans) for weight in features), default=0.0)
    bars = [
        Bar(w.feature, f"{w.decibans:.1f}", 0, bar_length(w.decibans, longest, BAR_PIXELS), PLAIN)
        for w in features[:MAX_BARS]
    ]
    if len(features) > MAX_BARS:
        bars.append(Bar(f"and {len(features) - MAX_BARS:,} more", "", 0, 0, PLAIN))
    head = {"title": "Importance", "unit": "decibans a row"}
    return render("importance.html.jinja", bars=bars, width=BAR_PIXELS, **head)


def strongest(evidence: StrongestEvidence) -> str:
    """The words or values, the strongest first."""
    longest = max((abs(one.decibans) for one in evidence), default=0.0)
    bars = [
        Bar(one.name, signed(one.decibans), 0, bar_length(one.decibans, longest, BAR_PIXELS), FOR)
        for one in evidence
    ]
    head = {"title": evidence.title, "unit": "decibans"}
    return render("importance.html.jinja", bars=bars, width=BAR_PIXELS, **head)


def _two_sided(name: str, decibans: float, longest: float) -> Bar:
    """A bar from the middle: to the right for the answer, to the left against it."""
    middle = BAR_PIXELS // 2
    width = bar_length(decibans, longest, middle)
    colour, start = (FOR, middle) if decibans >= 0 else (AGAINST, middle - width)
    return Bar(name, signed(decibans), start, width, colour)


def _spans(term: Term) -> Iterator[Span]:
    """A text in stretches, its words shaded by their evidence."""
    text, at = str(term.value), 0
    strongest = max(abs(part.decibans) for part in term.parts)
    for part in sorted(term.parts, key=lambda part: part.start):
        if part.start >= at:
            yield Span(text[at : part.start])
            colour = _shade(part, strongest)
            yield Span(text[part.start : part.stop], signed(part.decibans), colour)
            at = part.stop
    yield Span(text[at:])


def _shade(part: Part, strongest: float) -> str:
    finite = strongest > 0 and math.isfinite(part.decibans)
    opacity = 0.6 * (abs(part.decibans) / strongest if finite else 1.0)
    red, green, blue = bytes.fromhex((FOR if part.decibans >= 0 else AGAINST)[1:])
    return f"rgba({red},{green},{blue},{opacity:.2f})"
