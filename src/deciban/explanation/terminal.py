"""Explanations as Rich tables: bars to the right are for the answer, to the left against it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from deciban.explanation.explained import Explanation, Term
    from deciban.explanation.importance import Importance

#: The widest bar, the widest to one side, the most lines, and what is too small for one.
WIDTH, HALF, LINES, SMALL = 24, 16, 15, 0.05
#: How many words of a text are listed.
WORDS = 12
#: Longer values are cut.
LONGEST = 48
FOR, AGAINST = "green", "red"


def text(shown: RenderableType, width: int = 100) -> str:
    """What is printed, without colours."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None, legacy_windows=False).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def folded(why: Explanation, most: int = LINES) -> tuple[list[Term], list[Term]]:
    """The terms that are shown, the strongest first, and the small ones that are not."""
    terms = why.strongest()
    shown = [term for term in terms[:most] if abs(term.decibans) >= SMALL]
    rest = terms[len(shown) :]
    return (terms, []) if len(rest) == 1 and len(terms) <= most else (shown, rest)


def lines(why: Explanation, most: int = LINES) -> list[tuple[str, float]]:
    """Every line and its decibans: features and prior by strength, others, the total."""
    shown, rest = folded(why, most)
    found = [(f"{term.feature} = {value(term.value)}", term.decibans) for term in shown]
    found.append(("prior", why.prior))
    found.sort(key=lambda line: -abs(line[1]))
    if rest:
        found.append((f"{len(rest)} others", math.fsum(term.decibans for term in rest)))
    return [*found, ("total", why.total)]


def value(of: Any, longest: int = LONGEST) -> str:
    """A value in words, on one line.

    >>> value(2.50), value(None), value("x" * 60)[-3:]
    ('2.5', 'missing', 'xx…')
    """
    if of is None or (isinstance(of, float) and math.isnan(of)):
        return "missing"
    said = f"{of:.6g}" if isinstance(of, float) else " ".join(str(of).split())
    said = said if said.isprintable() else repr(said)
    return said if len(said) <= longest else said[: longest - 1] + "…"


def explanation(why: Explanation) -> RenderableType:
    """The table, its heading, and texts with their words marked."""
    from rich.console import Group
    from rich.text import Text

    table, found = _table(), lines(why)
    table.add_row("", Text("decibans", style="dim"), "")
    most = max((abs(said) for _, said in found if math.isfinite(said)), default=0.0)
    for name, said in found:
        style = "bold" if name == "total" else ""
        table.add_row(Text(name, style=style), Text(signed(said), style=style), _bars(said, most))
    rather = "" if why.runner_up is None else f" rather than {why.runner_up}"
    head = Text(f"{why.answer}{rather}: {100 * why.probability:.1f} %", style="bold")
    texts = [shown(term) for term in why.terms if term.parts for shown in (_marked, _words)]
    return Group(head, table, *texts)


def importance(found: Importance) -> RenderableType:
    """The features, the strongest first."""
    from rich.text import Text

    table = _table()
    table.add_row(Text("feature", style="dim"), Text("decibans a row", style="dim"), "")
    most = max((weight.decibans for weight in found), default=0.0)
    for weight in found:
        bar = Text("▇" * bar_length(weight.decibans, most, WIDTH), style="blue")
        table.add_row(Text(weight.feature), f"{weight.decibans:.1f}", bar)
    return table


def signed(said: float) -> str:
    """Decibans with a sign; certainty is infinite.

    >>> signed(2.04), signed(-0.0), signed(float("-inf"))
    ('+2.0', '+0.0', '-∞')
    """
    return f"{said + 0.0:+.1f}".replace("inf", "∞")


def bar_length(said: float, most: float, width: int) -> int:
    """How long a bar is."""
    if not math.isfinite(said):
        return width
    return round(width * abs(said) / most) if most > 0 else 0


def _table() -> Table:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="ellipsis", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    return table


def _bars(said: float, most: float) -> Text:
    from rich.text import Text

    bar = "▇" * bar_length(said, most, HALF)
    left, right = (bar, "") if said < 0 else ("", bar)
    return Text.assemble((left.rjust(HALF), AGAINST), ("│", "dim"), (right, FOR))


def _marked(term: Term) -> Text:
    """A text with the words that say something in colour."""
    from rich.text import Text

    said = Text(str(term.value))
    strong = _strong([abs(part.decibans) for part in term.parts])
    for part in term.parts:
        if abs(part.decibans) >= strong:
            said.stylize(FOR if part.decibans > 0 else AGAINST, part.start, part.stop)
    return said


def _words(term: Term) -> Text:
    """The words of a text that say most, for those who see no colours."""
    from rich.text import Text

    said: dict[str, float] = {}
    for part in term.parts:
        said[part.text] = said.get(part.text, 0.0) + part.decibans
    strongest = sorted(said.items(), key=lambda word: -abs(word[1]))[:WORDS]
    return Text("   ").join(
        Text(f"{word} {signed(decibans)}", FOR if decibans > 0 else AGAINST)
        for word, decibans in strongest
        if abs(decibans) >= SMALL
    )


def _strong(sizes: Sequence[float]) -> float:
    """Words that say less than a tenth of the strongest are left as they are."""
    return max(max(sizes, default=0.0) / 10, SMALL)
