"""HTML to text: what a reader sees, what is hidden from them, and where links go.

A scanner rather than a parser: spam is rarely well-formed, and one pass in linear
time gives what a filter needs. Tags within a word do not split it ("Vi<b>ag</b>ra"), comments
vanish, and text that a style hides is kept apart from what is shown.
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

__all__ = ["Page", "read"]


class Page(NamedTuple):
    """What is on a page."""

    shown: str
    hidden: str
    links: list[str]
    tags: set[str]


_TAG = re.compile(r"<(/?)([a-zA-Z!][a-zA-Z0-9]*)([^<>]*)>")
_LINK = re.compile(
    r"""\b(?:href|src|action|background)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I
)
_HIDING = re.compile(
    r"""display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*(?:[;"']|$)
    |opacity\s*:\s*0(?![.\d])|\shidden(?:\s|$)""",
    re.I | re.X,
)
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
    text = _without(text, "<!--", "-->")
    for name in ("script", "style"):
        text = _without(text, f"<{name}", f"</{name}>")
    return _scanned(text)


def _without(text: str, start: str, end: str) -> str:
    """The text without what is between two marks; one that is never closed is left alone."""
    lower = text.lower()
    if start not in lower or len(lower) != len(text):
        return text
    kept, at = [], 0
    while (begin := lower.find(start, at)) >= 0:
        stop = lower.find(end, begin + len(start))
        if stop < 0:
            break
        kept.append(text[at:begin])
        at = stop + len(end)
    kept.append(text[at:])
    return "".join(kept)


def _scanned(text: str) -> Page:
    shown: list[str] = []
    hidden: list[str] = []
    links: list[str] = []
    tags: set[str] = set()
    into, hiding, depth, at = shown, "", 0, 0
    for tag in _TAG.finditer(text):
        begin, end = tag.span()
        into.append(text[at:begin])
        at = end
        slash, name, rest = tag.groups()
        name = name.lower()
        if name not in _INLINE:
            into.append(" ")
        if hiding and name == hiding:
            depth += -1 if slash else 1
            if not depth:
                into, hiding = shown, ""
        if slash:
            continue
        tags.add(name)
        if "=" in rest or "hidden" in rest:
            links += _links(rest)
            if not hiding and name not in _NEVER_HIDING and _HIDING.search(rest):
                into, hiding, depth = hidden, name, 1
                tags.add("hidden")
    into.append(text[at:])
    return Page(_unescaped(shown), _unescaped(hidden), links, tags)


def _links(attributes: str) -> list[str]:
    found = [link[1] or link[2] or link[3] or "" for link in _LINK.finditer(attributes)]
    return [unescape(link) for link in found]


def _unescaped(pieces: list[str]) -> str:
    text = "".join(pieces)
    return unescape(text) if "&" in text else text
