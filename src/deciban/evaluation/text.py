"""Tables for people: plain text with the columns below each other, and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence


def align(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> Iterator[str]:
    r"""Lines with the columns below each other.

    >>> print(*align([("a", "10"), ("bcd", "5")], right=[1]), sep="\n")
    a    10
    bcd   5
    """
    lines = [[_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    to_right = set(right)
    for line in lines:
        cells = (
            cell.rjust(width) if i in to_right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _one_line(cell: str) -> str:
    """Text that stays on its line."""
    return cell if cell.isprintable() else repr(cell)


def html(*tables: tuple[str, Sequence[Sequence[str]]]) -> str:
    """Tables for a notebook, each with its title; the first row is the head.

    >>> html(("", [("", "model"), ("accuracy", "0.9")]))
    '<table><tr><th></th><th>model</th></tr><tr><th>accuracy</th><td>0.9</td></tr></table>'
    """
    from deciban.templates import html_tables

    return html_tables(*tables)


def figure(value: float | None) -> str:
    """A figure with three digits after the point; large ones with fewer.

    >>> figure(0.12345), figure(1234.5), figure(float("nan"))
    ('0.123', '1,234', 'undefined')
    """
    if value is None or math.isnan(value):
        return "undefined"
    return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"


def between(ends: Sequence[float] | None) -> str:
    """An interval.

    >>> between((0.1, 0.25)), between(None)
    ('0.100 to 0.250', '')
    """
    if ends is None or math.isnan(ends[0]):
        return ""
    return f"{figure(ends[0])} to {figure(ends[1])}"
