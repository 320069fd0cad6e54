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
from functools import lru_cache
from typing import NamedTuple

from deciban.kernels.heads import by_field
from deciban.kernels.lexicon import Lexicon, Tokens
from deciban.mail.mime import Mail, Part, parse
from deciban.mail.model import PREFIXES
from deciban.mail.words import MAX_WORD_LENGTH, add_hosts, add_link, add_text, add_words

__all__ = ["tokens"]

#: The characters of a header that are looked at.
MAX_HEADER_LENGTH = 2000

_ZONE = re.compile(r"[+-]\d{4}\b")


class Field(NamedTuple):
    """What is read of a header: what its tokens begin with, whether hosts too, and up to where."""

    prefix: str
    hosts: bool = True
    end: str = ""


_HEAD, _SUBJECT, _DATE = Field("head:", hosts=False), Field("subject:"), Field("date:")
_FROM, _TO, _ADDRESS = Field("from:"), Field("to:"), Field("received:")
#: By the names of headers; the others are of the head. Of those that name a time or a message
#: nothing is read: what they say will not be said again.
_FIELDS = {
    "subject": _SUBJECT,
    "from": _FROM,
    "reply-to": _FROM,
    "sender": _FROM,
    "return-path": _FROM,
    "to": _TO,
    "cc": _TO,
    "received": Field("received:", end=";"),  # what follows is a time
    "x-originating-ip": _ADDRESS,
    "message-id": Field("message-id:"),
    "date": _DATE,
    "delivery-date": None,
    "x-original-date": None,
    "references": None,
    "in-reply-to": None,
}


def tokens(message: bytes, lexicon: Lexicon | None = None) -> Tokens:
    r"""The tokens of a message; of several, those of one lexicon are compared and counted faster.

    >>> sorted(tokens(b"Subject: Free\n\nSee www.x.example"))
    ['example', 'header:subject', 'see', 'subject:free', 'type:text/plain', 'url:x.example', 'www']
    """
    mail = parse(message)
    out = Tokens(Lexicon(PREFIXES) if lexicon is None else lexicon)
    _add_headers(mail, out)
    for part in mail.parts:
        _add_part(part, out)
    return out


def _add_headers(mail: Mail, out: Tokens) -> None:
    out.update([_header_token(name[:MAX_WORD_LENGTH]) for name, _ in mail.headers])
    for field, values in by_field(mail.headers, _FIELDS, _HEAD, MAX_HEADER_LENGTH).items():
        if field is _DATE:
            out.update([f"date:{zone}" for value in values for zone in _ZONE.findall(value)])
        elif field is _SUBJECT:
            add_text(out, " \n ".join(values), field.prefix)
        else:
            _add_field(field, values, out)


def _add_field(field: Field, values: list[str], out: Tokens) -> None:
    """The words of headers, and of those that name machines the hosts."""
    if field.end:
        values = [value.partition(field.end)[0] for value in values]
    text = " \n ".join(values)
    if field.hosts:
        add_hosts(out, text, field.prefix)
    add_words(out, text, field.prefix, numbers=False)


def _add_part(part: Part, out: Tokens) -> None:
    out.update(_kind_tokens(part.type[:MAX_WORD_LENGTH], part.charset[:MAX_WORD_LENGTH]))
    if part.filename:
        add_words(out, part.filename, "attachment:")
        out.add(f"attachment:.{_printable(part.filename.lower().rpartition('.')[2])}")
    if not part.text:
        return
    if part.type == "text/html" or _begins_as_page(part.text):
        _add_page(part.text, out)
    else:
        add_text(out, part.text, links=True)


def _begins_as_page(text: str) -> bool:
    """Whether a text says soon that it is HTML."""
    return text.find("<", 0, 500) >= 0 and "<html" in text[:500].lower()


def _add_page(text: str, out: Tokens) -> None:
    from deciban.mail import html  # plain messages do without its tables

    page = html.read(text)
    out.update([f"html:{name}" for name in page.tags])
    add_words(out, page.hidden, "hidden:")
    for target in set(page.links):
        add_link(out, target)
    add_text(out, page.shown, links=True)


@lru_cache(1 << 10)  # every message has mostly the headers of the others
def _header_token(name: str) -> str:
    return f"header:{_printable(name)}"


@lru_cache(1 << 10)  # and its parts are of few kinds
def _kind_tokens(type_: str, charset: str) -> list[str]:
    tokens = [f"type:{_printable(type_)}"]
    return [*tokens, f"charset:{_printable(charset)}"] if charset else tokens


def _printable(text: str) -> str:
    """A name that somebody made up, as far as it can be written down."""
    short = text[:MAX_WORD_LENGTH]
    return short if short.isprintable() else "".join(filter(str.isprintable, short))
