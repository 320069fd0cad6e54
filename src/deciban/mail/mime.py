"""One message as headers and parts, by the standard ``email`` package.

Only what has parts is parsed as a whole; of any other message the package reads
the head, which is most of what its parsing costs. Whatever it is fed, it answers: what cannot be
understood as MIME is one part of plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from email.header import decode_header
from email.message import Message
from email.parser import Parser
from typing import NamedTuple

from deciban.mail.charsets import decoded

__all__ = ["Mail", "Part", "parsed"]


class Part(NamedTuple):
    """A leaf of the tree of parts; ``text`` is empty if it is not text."""

    type: str
    charset: str
    filename: str
    text: str


class Mail(NamedTuple):
    """Headers in order, with names in lower case and values in Unicode; and the parts."""

    headers: list[tuple[str, str]]
    parts: list[Part]


#: No more than this of a part is looked at: bodies of many megabytes are attachments in disguise.
LONGEST = 1 << 18
_BLANK = re.compile(rb"\r?\n\r?\n|\r\r")
_WELL_FORMED = re.compile(r"(?:[!-9;-~]++:[^\r\n]*+\n(?:[ \t][^\r\n]*+\n)*+)*+\n")
_FIELD = re.compile(r"([!-9;-~]++):[ \t]*+([^\n]*+(?:\n[ \t][^\n]*+)*+)\n")
_PARSER = Parser()


def parsed(raw: bytes) -> Mail:
    r"""The message of these bytes.

    >>> mail = parsed(b"Subject: =?gb2312?b?w+K30Q==?=\n\nHello")
    >>> mail.headers, mail.parts[0].text
    ([('subject', '免费')], 'Hello')
    """
    try:
        message = _message(raw)
        return Mail(_headers(message), list(_parts(message)))
    except Exception:  # the package raises all sorts of things on hostile input
        return Mail([], [Part("text/plain", "", "", decoded(raw[:LONGEST]))])


def _message(raw: bytes) -> Message:
    if raw.startswith(b"From "):  # the separator of an mbox
        raw = raw[raw.find(b"\n") + 1 :]
    blank = _BLANK.search(raw)
    end = blank.end() if blank else len(raw)
    message = _head(raw[:end].decode("ascii", "surrogateescape"))
    if message.get_content_maintype() in ("multipart", "message"):
        return _PARSER.parsestr(raw.decode("ascii", "surrogateescape"))
    left = message.get_payload()
    body = raw[end:].decode("ascii", "surrogateescape")
    message.set_payload(left + body if isinstance(left, str) else body)
    return message


def _head(text: str) -> Message:
    """A message of headers alone; those that are well formed are cut by one expression."""
    if not _WELL_FORMED.fullmatch(text):
        return _PARSER.parsestr(text, headersonly=True)
    message = Message()
    for name, value in _FIELD.findall(text):
        message.set_raw(name, value)
    message.set_payload("")
    return message


def _headers(message: Message) -> list[tuple[str, str]]:
    return [(name.lower(), _header(value)) for name, value in message.raw_items()]


def _header(value: str) -> str:
    """A header's value in Unicode, on one line."""
    value = str(value)
    if "=?" in value:
        try:
            pieces = decode_header(value)
        except Exception:
            pieces = [(value, None)]
        value = "".join(_chunk(text, charset) for text, charset in pieces)
    elif not value.isascii():
        value = _chunk(value, None)
    return value.replace("\n", " ").replace("\r", " ")


def _chunk(text: str | bytes, charset: str | None) -> str:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return decoded(text, charset)


def _parts(message: Message) -> Iterator[Part]:
    for part in message.walk():
        if not part.is_multipart():
            yield _part(part)


def _part(part: Message) -> Part:
    kind = part.get_content_type()
    charset, filename = _parameters(part)
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        data = b""
    readable = kind.startswith(("text/", "message/")) or (not filename and b"\0" not in data[:1024])
    text = decoded(data[:LONGEST], charset) if readable else ""
    return Part(kind, charset, filename, text)


def _parameters(part: Message) -> tuple[str, str]:
    """The character set and the file name; most parts have none, and looking costs time."""
    said = f"{part.get('content-type', '')}{part.get('content-disposition', '')}".lower()
    charset = _asked(part.get_content_charset) if "charset" in said else ""
    filename = _asked(part.get_filename) if "name" in said else ""
    return charset, _header(filename)


def _asked(question: Callable[[], str | None]) -> str:
    """An answer of the package, or nothing: odd parameters make it raise."""
    try:
        return str(question() or "")
    except Exception:
        return ""
