"""HTML to text: what a reader sees, what is hidden from them, and where links go.

A scanner rather than a parser: spam is rarely well-formed, and one pass in linear
time gives what a filter needs. Tags within a word do not split it ("Vi<b>ag</b>ra"), comments
vanish, and text that a style hides is kept apart from what is shown.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import NamedTuple, cast

__all__ = ["Page", "read"]


class Page(NamedTuple):
    """What is on a page."""

    shown: str
    hidden: str
    links: list[str]
    tags: set[str]


_TAGS = re.compile(r"<(/?[a-zA-Z!][^<>]*)>")
_TAG = re.compile(r"(/?)([a-zA-Z!][a-zA-Z0-9]*)(.*)", re.DOTALL)
_LINK = re.compile(
    r"""\b(?:href|src|action|background)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.I
)
_HIDING = re.compile(
    r"""display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*(?:[;"']|$)
    |opacity\s*:\s*0(?![.\d])|\shidden(?:\s|$)""",
    re.I | re.X,
)
#: Tags of so many characters may be remembered.
MAX_KNOWN_LENGTH = 80
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
    return _scan(text)


def _without(text: str, start: str, end: str) -> str:
    """The text without what is between two marks; one that is never closed is left alone."""
    lower = text.lower()
    if start not in lower or len(lower) != len(text):
        return text
    pieces, at = [], 0
    while (begin := lower.find(start, at)) >= 0:
        stop = lower.find(end, begin + len(start))
        if stop < 0:
            break
        pieces.append(text[at:begin])
        at = stop + len(end)
    pieces.append(text[at:])
    return "".join(pieces)


class Tag(NamedTuple):
    """What a tag does: a gap between words, links, and text that is hidden up to its end."""

    name: str
    opens: bool
    gap: str
    links: list[str]
    hides: bool


def _scan(text: str) -> Page:
    """A page without comments, scripts and styles."""
    pieces = _TAGS.split(text)  # a text, a tag, a text, ... a text
    tags = {
        inside: _known_tag(inside) if len(inside) <= MAX_KNOWN_LENGTH else _tag(inside)
        for inside in dict.fromkeys(pieces[1::2])
    }
    opened = [tag for tag in tags.values() if tag.opens]
    names, links = {tag.name for tag in opened}, [link for tag in opened for link in tag.links]
    if not any(tag.hides for tag in opened):
        pieces[1::2] = [tags[inside].gap for inside in pieces[1::2]]
        return Page(_unescape(pieces), "", links, names)
    shown, hidden = _split_hidden(pieces, tags)
    return Page(_unescape(shown), _unescape(hidden), links, names | {"hidden"})


@lru_cache(1 << 12)  # most tags of a page are on others as well
def _known_tag(inside: str) -> Tag:
    return _tag(inside)


def _tag(inside: str) -> Tag:
    """What is between angle brackets; a page has far fewer different tags than tags."""
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


def _split_hidden(pieces: list[str], tags: dict[str, Tag]) -> tuple[list[str], list[str]]:
    """What is shown, and what is between a tag that hides and the end of it."""
    shown, hidden = [pieces[0]], [""]
    into, hiding, depth = shown, "", 0
    for inside, text in zip(pieces[1::2], pieces[2::2], strict=True):
        tag = tags[inside]
        into.append(tag.gap)
        if tag.name == hiding:
            depth += 1 if tag.opens else -1
            if not depth:
                into, hiding = shown, ""
        elif tag.hides and not hiding:
            into, hiding, depth = hidden, tag.name, 1
        into.append(text)
    return shown, hidden


def _links(attributes: str) -> list[str]:
    matches = _LINK.finditer(attributes)
    return [unescape(link[1] or link[2] or link[3] or "") for link in matches]


def _unescape(pieces: list[str]) -> str:
    text = "".join(pieces)
    return unescape(text) if "&" in text else text
