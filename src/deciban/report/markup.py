"""Small pieces of HTML; every text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from deciban.report.drawn import Figure

#: Wider pictures are scrolled on a small screen, since their letters would be too small.
WIDE = 640


def text(value: object) -> str:
    """Any value as text, at most some lines of it.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    shown = str(value)
    return escape(shown if len(shown) <= 400 else shown[:399] + "…")


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain words."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{text(words)}</p>"


def items(lines: Iterable[str]) -> str:
    """A list of lines that are HTML."""
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()
) -> str:
    """A table that scrolls by itself; the first cell of each row is its name."""
    to_right = set(right)

    def cell(tag: str, j: int, value: object, scope: str = "") -> str:
        kind = ' class="number"' if j in to_right else ""
        return f"<{tag}{kind}{scope}>{text(value)}</{tag}>"

    top = "".join(cell("th", j, value, ' scope="col"') for j, value in enumerate(head))
    body = "".join(
        "<tr>"
        + cell("th", 0, row[0], ' scope="row"')
        + "".join(cell("td", j, value) for j, value in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    whole = (
        f"<table><caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return scrolled(whole, caption)


def scrolled(content: str, label: str) -> str:
    """What may be wider than the page: scrolled by finger, mouse or keyboard."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}">{content}</div>'
    )


def figure(found: Figure) -> str:
    """A picture with its words below."""
    picture = found.inline()
    if found.width > WIDE:
        picture = f'<div class="wide">{scrolled(picture, found.title)}</div>'
    return (
        f'<figure id="figure-{text(found.name)}">{picture}'
        f"<figcaption>{text(found.shows)}</figcaption></figure>"
    )


def details(summary: str, content: str, *, shown: bool = False) -> str:
    """Something to open."""
    return (
        f"<details{' open' if shown else ''}><summary>{text(summary)}</summary>{content}</details>"
    )
