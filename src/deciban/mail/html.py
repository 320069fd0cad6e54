"""HTML to text: what a reader sees, what is hidden from them, and where links go.

A scanner rather than a parser: spam is rarely well-formed, and one pass in linear
time gives what a filter needs. Tags within a word do not split it ("Vi<b>ag</b>ra"), comments
vanish, and text that a style hides is kept apart from what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import NamedTuple, cast

from deciban.kernels import pages

__all__ = ["Page", "read"]


class Page(NamedTuple):
    """What is on a page."""

    shown: str
    hidden: str
    links: list[str]
    tags: set[str]


_TAG = re.compile(r"(/?)([a-zA-Z!][a-zA-Z0-9]*)(.*)", re.DOTALL)
_LINK = re.compile(
    r"""\b(?:href|src|action|background)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I
)
_HIDING = re.compile(
    r"""display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*(?:[;"']|$)
    |opacity\s*:\s*0(?![.\d])|\shidden(?:\s|$)""",
    re.I | re.X,
)
#: Between these is what nobody reads; comments first, which may hold the others.
_UNREAD = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
#: Tags inside which a word goes on.
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "o", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "tt", "u", "var", "wbr",
))  # fmt: skip
#: Tags that have no end, and those that are the whole page.
_NEVER_HIDING = frozenset((
    "area", "base", "body", "br", "col", "embed", "frame", "hr", "html", "img", "input", "link",
    "meta", "param", "source",
))  # fmt: skip


def read(text: str) -> Page:
    """Shown and hidden text, link targets, and names of tags.

    >>> page = read('Vi<b>ag</b>ra <p style="display:none">poetry</p><a href="http://x.biz/">go</a>')
    >>> page.shown.split(), page.hidden.split(), page.links
    (['Viagra', 'go'], ['poetry'], ['http://x.biz/'])
    """
    text = _without(text, _UNREAD)
    shown, hidden, links, tags = pages.scan(text, _INLINE, _tag)
    return Page(_unescape(shown), _unescape(hidden), list(map(_unescape, links)), tags)


def _without(text: str, marks: Iterable[tuple[str, str]]) -> str:
    """The text without what is between two marks; one that is never closed is left alone."""
    lower = text.lower()
    if len(lower) != len(text):  # places in one are not those in the other
        return text
    for start, end in marks:
        if start in lower:
            pieces = list(_outside(lower, start, end))
            text, lower = ("".join([whole[a:b] for a, b in pieces]) for whole in (text, lower))
    return text


def _outside(lower: str, start: str, end: str) -> Iterator[tuple[int, int]]:
    """Where what is not between two marks begins and ends."""
    at = 0
    while (begin := lower.find(start, at)) >= 0:
        stop = lower.find(end, begin + len(start))
        if stop < 0:
            break
        yield at, begin
        at = stop + len(end)
    yield at, len(lower)


class Tag(NamedTuple):
    """What a tag does: a gap between words, links, and text that is hidden up to its end."""

    name: str
    opens: bool
    gap: str
    links: list[str]
    hides: bool


def _tag(inside: str) -> Tag:
    slash, name, rest = cast("re.Match[str]", _TAG.match(inside)).groups()
    name = name.lower()
    gap = "" if name in _INLINE else " "
    if slash or not ("=" in rest or "hidden" in rest):
        return Tag(name, not slash, gap, [], False)
    lower = rest.lower()
    linking = "href" in lower or "src" in lower or "action" in lower or "background" in lower
    links = _links(rest) if linking else []
    styled = "none" in lower or "hidden" in lower or "font-size" in lower or "opacity" in lower
    hides = styled and name not in _NEVER_HIDING and bool(_HIDING.search(rest))
    return Tag(name, True, gap, links, hides)


def _links(attributes: str) -> list[str]:
    matches = _LINK.finditer(attributes)
    return [link[1] or link[2] or link[3] or "" for link in matches]


def _unescape(text: str) -> str:
    return pages.unescape(text, _meaning) if "&" in text else text


def _meaning(reference: str) -> str:
    """What a reference to a character stands for."""
    try:
        return unescape(reference)
    except ValueError:  # a number of thousands of digits
        return "\ufffd"
