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
from deciban.mail.mime import Mail, Part, parse
from deciban.mail.words import MAX_WORD_LENGTH, add_hosts, add_words

__all__ = ["tokens"]

#: The characters of a header that are looked at.
MAX_HEADER_LENGTH = 2000

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
    mail = parse(message)
    out: set[str] = set()
    _add_headers(mail, out)
    for part in mail.parts:
        _add_part(part, out)
    return out


def _add_headers(mail: Mail, out: set[str]) -> None:
    fields: dict[str, list[str]] = {}
    for name, whole in mail.headers:
        value = whole[:MAX_HEADER_LENGTH]
        if name == "subject":
            _add_text(value, out, "subject:")
        elif name == "date":
            out.update([f"date:{zone}" for zone in _ZONE.findall(value)])
        elif name == "received":
            fields.setdefault(name, []).append(value.partition(";")[0])  # what follows is a time
        elif name not in _PASSING:
            fields.setdefault(_PREFIXES.get(name, "head"), []).append(value)
    out.update([_header_token(name[:MAX_WORD_LENGTH]) for name, _ in mail.headers])
    for prefix, values in fields.items():
        _add_field(f"{prefix}:", " \n ".join(values), out)


def _add_field(prefix: str, value: str, out: set[str]) -> None:
    """The words of headers, and of those that name machines the hosts."""
    if prefix != "head:":
        add_hosts(out, value, prefix)
    add_words(out, value, prefix, numbers=False)


def _add_text(text: str, out: set[str], prefix: str = "") -> None:
    add_words(out, text, prefix)
    out.update([prefix + sign for sign in _SIGNS.findall(text)])


def _add_part(part: Part, out: set[str]) -> None:
    out.add(f"type:{_printable(part.type)}")
    if part.charset:
        out.add(f"charset:{_printable(part.charset)}")
    if part.filename:
        add_words(out, part.filename, "attachment:")
        out.add(f"attachment:.{_printable(part.filename.lower().rpartition('.')[2])}")
    if not part.text:
        return
    if part.type == "text/html" or "<html" in part.text[:500].lower():
        _add_page(html.read(part.text), out)
    else:
        _add_shown(part.text, out)


def _add_page(page: html.Page, out: set[str]) -> None:
    out.update(f"html:{name}" for name in page.tags)
    add_words(out, page.hidden, "hidden:")
    _add_links((link.lower() for link in page.links), out)
    _add_shown(page.shown, out)


def _add_shown(text: str, out: set[str]) -> None:
    _add_text(text, out)
    lower = text.lower()
    if "://" in lower or "www." in lower:
        _add_links((link[0] for link in _URL.finditer(lower)), out)


def _add_links(links: Iterable[str], out: set[str]) -> None:
    """Where links go: hosts with their domains, and the words of the paths."""
    machines, paths = [], []
    for link in set(links):
        target = _URL.match(link)
        if target:
            machines.append(target[1])
            paths.append(target[2] or "")
        elif link.startswith("mailto:"):
            out.add("url:mailto")
    add_hosts(out, " ".join(machines), "url:")
    add_words(out, " ".join(paths), "url:")


@lru_cache(1 << 10)  # every message has mostly the headers of the others
def _header_token(name: str) -> str:
    return f"header:{_printable(name)}"


def _printable(text: str) -> str:
    """A name that somebody made up, as far as it can be written down."""
    short = text[:MAX_WORD_LENGTH]
    return short if short.isprintable() else "".join(filter(str.isprintable, short))
