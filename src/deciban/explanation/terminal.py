"""Explanations as Rich tables: bars to the right are for the answer, to the left against it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from deciban.explanation.explanation import Explanation, Term
    from deciban.explanation.importance import Importance
    from deciban.explanation.strongest import StrongestEvidence

#: The widest bar, and the widest to one side, in characters.
BAR_WIDTH, SIDE_WIDTH = 24, 16
#: More features are added up in one line, and so are those of fewer decibans.
MAX_LINES, MIN_LINE_DECIBANS = 15, 0.05
#: How many words of a text are listed.
MAX_LISTED_WORDS = 12
#: Longer values are cut.
MAX_VALUE_CHARACTERS = 48
FOR_COLOUR, AGAINST_COLOUR = "green", "red"


def text(shown: RenderableType, width: int = 100) -> str:
    """The text that is printed, without colours."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def fold(why: Explanation, limit: int = MAX_LINES) -> tuple[list[Term], list[Term]]:
    """The terms that are shown, the strongest first, and the small ones that are not.

    A value that training did not have is shown also where it says nothing.
    """
    terms = why.strongest()
    told = [abs(term.decibans) >= MIN_LINE_DECIBANS or bool(term.unseen) for term in terms]
    shown = [term for term, one in zip(terms[:limit], told, strict=False) if one]
    rest = [term for i, term in enumerate(terms) if i >= limit or not told[i]]
    return (terms, []) if len(rest) == 1 and len(terms) <= limit else (shown, rest)


def lines(why: Explanation, limit: int = MAX_LINES) -> list[tuple[str, float]]:
    """Every line and its decibans: features and prior by strength, others, the total."""
    shown, rest = fold(why, limit)
    rows = [(name(term), term.decibans) for term in shown]
    rows.append(("prior", why.prior))
    rows.sort(key=lambda line: -abs(line[1]))
    if rest:
        rows.append((f"{len(rest)} others", math.fsum(term.decibans for term in rest)))
    return [*rows, ("total", why.total)]


def name(term: Term) -> str:
    """A feature and its value; and that training did not have it, if so."""
    mark = f" ({term.unseen})" if term.unseen else ""
    return f"{term.feature} = {value(term.value)}{mark}"


def value(of: object, limit: int = MAX_VALUE_CHARACTERS) -> str:
    """A value in words, on one line.

    >>> value(2.50), value(None), value("x" * 60)[-3:]
    ('2.5', 'missing', 'xx…')
    """
    if of is None or (isinstance(of, float) and math.isnan(of)):
        return "missing"
    words = f"{of:.6g}" if isinstance(of, float) else " ".join(str(of).split())
    words = words if words.isprintable() else repr(words)
    return words if len(words) <= limit else words[: limit - 1] + "…"


def explanation(why: Explanation) -> RenderableType:
    """The table, its heading, and texts with their words marked."""
    from rich.console import Group
    from rich.text import Text

    table, rows = _table(), lines(why)
    table.add_row("", Text("decibans", style="dim"), "")
    longest = max((abs(db) for _, db in rows if math.isfinite(db)), default=0.0)
    for name, decibans in rows:
        style, bar = "bold" if name == "total" else "", _two_sided_bar(decibans, longest)
        table.add_row(Text(name, style=style), Text(signed(decibans), style=style), bar)
    rather = "" if why.runner_up is None else f" rather than {why.runner_up}"
    head = Text(f"{why.answer}{rather}: {100 * why.probability:.1f} %", style="bold")
    texts = [
        shown(term) for term in why.terms if term.parts for shown in (_marked_text, _word_list)
    ]
    unlike = [Text(why.unlike)] if why.unlike else []
    return Group(head, table, *unlike, *texts)


def importance(features: Importance) -> RenderableType:
    """The features, the strongest first."""
    from rich.text import Text

    table = _table()
    table.add_row(Text("feature", style="dim"), Text("decibans a row", style="dim"), "")
    longest = max((abs(weight.decibans) for weight in features), default=0.0)
    for weight in features:
        bar = Text("▇" * bar_length(weight.decibans, longest, BAR_WIDTH), style="blue")
        table.add_row(Text(weight.feature), f"{weight.decibans:.1f}", bar)
    return table


def strongest(evidence: StrongestEvidence) -> RenderableType:
    """Words or values, the strongest first, and how many rows of training had them."""
    from rich.console import Group
    from rich.text import Text

    counted = any(one.rows is not None for one in evidence)
    table = _table()
    table.add_column(justify="right", no_wrap=True)
    head = ["", "decibans", "", f"rows of {evidence.of}, of others" if counted else ""]
    table.add_row(*(Text(cell, style="dim") for cell in head))
    longest = max((abs(one.decibans) for one in evidence), default=0.0)
    for one in evidence:
        bar = Text("▇" * bar_length(one.decibans, longest, BAR_WIDTH), style=FOR_COLOUR)
        rows = "" if one.rows is None else f"{one.rows:,.6g}, {one.others:,.6g}"
        table.add_row(Text(value(one.name)), signed(one.decibans), bar, rows)
    return Group(Text(evidence.title, style="bold"), table)


def signed(decibans: float) -> str:
    """Decibans with a sign; certainty is infinite.

    >>> signed(2.04), signed(-0.0), signed(float("-inf"))
    ('+2.0', '+0.0', '-∞')
    """
    return f"{decibans + 0.0:+.1f}".replace("inf", "∞")


def bar_length(decibans: float, longest: float, width: int) -> int:
    """How long a bar is, if the longest is as long as the width."""
    if not math.isfinite(decibans):
        return width
    return round(width * abs(decibans) / longest) if longest > 0 else 0


def _table() -> Table:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="ellipsis", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    return table


def _two_sided_bar(decibans: float, longest: float) -> Text:
    from rich.text import Text

    bar = "▇" * bar_length(decibans, longest, SIDE_WIDTH)
    left, right = (bar, "") if decibans < 0 else ("", bar)
    sides = (left.rjust(SIDE_WIDTH), AGAINST_COLOUR), ("│", "dim"), (right, FOR_COLOUR)
    return Text.assemble(*sides)


def _marked_text(term: Term) -> Text:
    """A text with the words that are evidence in colour."""
    from rich.text import Text

    text = Text(str(term.value))
    least = _least_marked([abs(part.decibans) for part in term.parts])
    for part in term.parts:
        if abs(part.decibans) >= least:
            text.stylize(_colour(part.decibans), part.start, part.stop)
    return text


def _word_list(term: Term) -> Text:
    """The strongest words of a text, for those who see no colours."""
    from rich.text import Text

    words: dict[str, float] = {}
    for part in term.parts:
        words[part.text] = words.get(part.text, 0.0) + part.decibans
    strongest = sorted(words.items(), key=lambda word: -abs(word[1]))[:MAX_LISTED_WORDS]
    return Text("   ").join(
        Text(f"{word} {signed(decibans)}", _colour(decibans))
        for word, decibans in strongest
        if abs(decibans) >= MIN_LINE_DECIBANS
    )


def _colour(decibans: float) -> str:
    return FOR_COLOUR if decibans > 0 else AGAINST_COLOUR


def _least_marked(sizes: Sequence[float]) -> float:
    """Words of less than a tenth of the strongest's decibans are left as they are."""
    return max(max(sizes, default=0.0) / 10, MIN_LINE_DECIBANS)
