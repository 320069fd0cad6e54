"""One message as a set of tokens: what is counted.

A word of the body stands for itself; everything else says where it was found:
``subject:free``, ``from:example.org``, ``received:203.0.113``, ``url:example.biz``,
``html:hidden``, ``attachment:.exe``. Hosts come with the domains above them and addresses with
their networks, so that a new server of a known provider is not unknown. Headers
that have no prefix of their own share ``head``: a mailing list repeats its name in ten of them, and
that is one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from deciban.mail import html
from deciban.mail.mime import Mail, Part, parsed
from deciban.mail.words import LONGEST, hosts, words

__all__ = ["tokens"]

#: No more than this of a header is looked at, in characters.
HEADER = 2000

# Those that are looked for everywhere begin with a set of characters, which `re` is quick to find.
_URL = re.compile(
    r"[hw](?:(?<=h)ttps?://|(?<=w)ww\.)([^\s/\"'<>()\[\]]{1,200})(/[^\s\"'<>()]{0,200})?"
)
_SIGNS = re.compile(r"[$£€¥!?](?:(?<=[$£€¥]) ?\d[\d.,]*|(?<=[!?])[!?]+)")
_ZONE = re.compile(r"[+-]\d{4}\b")
#: Headers with a prefix of their own.
_PREFIXES = {
    "from": "from",
    "reply-to": "from",
    "sender": "from",
    "return-path": "from",
    "to": "to",
    "cc": "to",
    "x-originating-ip": "received",
    "message-id": "message-id",
}
#: Headers that name a time or a message: what they say will not be said again.
_PASSING = frozenset(("date", "delivery-date", "x-original-date", "references", "in-reply-to"))


def tokens(message: bytes) -> set[str]:
    r"""The tokens of a message.

    >>> sorted(tokens(b"Subject: Free\n\nSee www.x.example"))
    ['example', 'header:subject', 'see', 'subject:free', 'type:text/plain', 'url:x.example', 'www']
    """
    mail = parsed(message)
    found: set[str] = set()
    _headers(mail, found)
    for part in mail.parts:
        _part(part, found)
    return found


def _headers(mail: Mail, found: set[str]) -> None:
    fields: dict[str, list[str]] = {}
    for name, whole in mail.headers:
        value = whole[:HEADER]
        if name == "subject":
            _text(value, found, "subject:")
        elif name == "date":
            found.update([f"date:{zone}" for zone in _ZONE.findall(value)])
        elif name == "received":
            fields.setdefault(name, []).append(value.partition(";")[0])  # what follows is a time
        elif name not in _PASSING:
            fields.setdefault(_PREFIXES.get(name, "head"), []).append(value)
    found.update([_named(name[:LONGEST]) for name, _ in mail.headers])
    for prefix, values in fields.items():
        _field(f"{prefix}:", " \n ".join(values), found)


def _field(prefix: str, value: str, found: set[str]) -> None:
    """The words of headers, and of those that name machines the hosts."""
    if prefix != "head:":
        hosts(found, value, prefix)
    words(found, value, prefix, numbers=False)


def _text(text: str, found: set[str], prefix: str = "") -> None:
    words(found, text, prefix)
    found.update([prefix + sign for sign in _SIGNS.findall(text)])


def _part(part: Part, found: set[str]) -> None:
    found.add(f"type:{_name(part.type)}")
    if part.charset:
        found.add(f"charset:{_name(part.charset)}")
    if part.filename:
        words(found, part.filename, "attachment:")
        found.add(f"attachment:.{_name(part.filename.lower().rpartition('.')[2])}")
    if not part.text:
        return
    if part.type == "text/html" or "<html" in part.text[:500].lower():
        _page(html.read(part.text), found)
    else:
        _shown(part.text, found)


def _page(page: html.Page, found: set[str]) -> None:
    found.update(f"html:{name}" for name in page.tags)
    words(found, page.hidden, "hidden:")
    _links((link.lower() for link in page.links), found)
    _shown(page.shown, found)


def _shown(text: str, found: set[str]) -> None:
    _text(text, found)
    lower = text.lower()
    if "://" in lower or "www." in lower:
        _links((link[0] for link in _URL.finditer(lower)), found)


def _links(links: Iterable[str], found: set[str]) -> None:
    """Where links go: hosts with their domains, and the words of the paths."""
    machines, paths = [], []
    for link in set(links):
        target = _URL.match(link)
        if target:
            machines.append(target[1])
            paths.append(target[2] or "")
        elif link.startswith("mailto:"):
            found.add("url:mailto")
    hosts(found, " ".join(machines), "url:")
    words(found, " ".join(paths), "url:")


@lru_cache(1 << 10)  # the same headers are in every message
def _named(name: str) -> str:
    return f"header:{_name(name)}"


def _name(text: str) -> str:
    """A name that somebody made up, as far as it can be written down."""
    short = text[:LONGEST]
    return short if short.isprintable() else "".join(filter(str.isprintable, short))
