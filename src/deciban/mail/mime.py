"""One message as headers and parts, by the standard ``email`` package.

Its parser goes line by line, which is most of what reading a message costs. So headers and parts
that are well formed are found by one expression or cut; only what is not is parsed as a whole.
Whatever it is fed, it answers: what cannot be understood as MIME is one part of plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from email.header import decode_header
from email.message import Message
from email.parser import Parser
from functools import lru_cache
from typing import NamedTuple

from deciban.mail.charsets import decode

__all__ = ["Mail", "Part", "parse"]


class Part(NamedTuple):
    """A leaf of the tree of parts; ``text`` is empty if it is not text."""

    type: str
    charset: str
    filename: str
    text: str = ""


class Mail(NamedTuple):
    """Headers in order, with names in lower case and values in Unicode; and the parts."""

    headers: list[tuple[str, str]]
    parts: list[Part]


#: The bytes of a part that are looked at: bodies of many megabytes are attachments in disguise.
MAX_PART_BYTES = 1 << 18
#: Parts of parts that are cut; deeper ones are left to the package.
MAX_CUT_DEPTH = 8
_FIELDS = re.compile(r"([!-9;-~]++):([^\r\n]*+(?:\n[ \t][^\r\n]*+)*+)\n")
_PARSER = Parser()


def parse(raw: bytes) -> Mail:
    r"""The message of these bytes.

    >>> mail = parse(b"Subject: =?gb2312?b?w+K30Q==?=\n\nHello")
    >>> mail.headers, mail.parts[0].text
    ([('subject', '免费')], 'Hello')
    """
    try:
        start = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0  # the separator of an mbox
        end = _end(raw, start)
        head = raw[start:end].decode("ascii", "surrogateescape")
        body = raw[end:].decode("ascii", "surrogateescape")
        fields = _fields(head)
        if fields is None:
            message = _by_package(head, body)
            leaves, fields = list(message.walk()), list(message.raw_items())
        else:
            leaves = _leaves(_message(fields), body)
        parts = [_part(leaf) for leaf in leaves if not leaf.is_multipart()]
        return Mail([(name.lower(), _header(value)) for name, value in fields], parts)
    except Exception:  # the package raises all sorts of things on hostile input
        return Mail([], [Part("text/plain", "", "", decode(raw[:MAX_PART_BYTES]))])


def _end(raw: bytes, start: int) -> int:
    """Where the first empty line ends, by all kinds of line ends."""
    end = len(raw)
    for blank in (b"\n\n", b"\n\r\n", b"\r\r"):
        at = raw.find(blank, start, end)
        if at >= 0:
            end = at + len(blank)
    return end


def _fields(head: str) -> list[tuple[str, str]] | None:
    """Headers that are well formed, by one expression; None if some are not."""
    fields = _FIELDS.findall(head)
    length = sum(len(name) + len(value) + 2 for name, value in fields) + 1
    if length != len(head) or not head.endswith("\n\n"):
        return None
    return [(name, value.lstrip(" \t")) for name, value in fields]


def _message(fields: list[tuple[str, str]]) -> Message:
    """A message for the package that has only those headers that describe its content."""
    message = Message()
    for name, value in fields:
        if name[:8].lower() == "content-":
            message.set_raw(name, value)
    return message


def _leaves(message: Message, body: str) -> list[Message]:
    """The parts of a message with these headers, and what holds them."""
    leaves = _cut(message, body)
    if leaves is not None:
        return leaves
    head = "".join([f"{name}: {value}\n" for name, value in message.raw_items()])
    return list(_PARSER.parsestr(f"{head}\n{body}").walk())


def _cut(message: Message, body: str, depth: int = 0) -> list[Message] | None:
    """The parts of a message, cut at its boundaries; None if something is not well formed."""
    kind = _describe(message).type
    if not kind.startswith(("multipart/", "message/")):
        message.set_payload(body)
        return [message]
    boundary = message.get_boundary()
    if not boundary or kind == "multipart/digest" or kind.startswith("message/"):
        return None
    if "\r" in body or depth == MAX_CUT_DEPTH:
        return None
    leaves: list[Message] = []
    for piece in f"\n{body}".split(f"\n--{boundary}")[1:]:
        rest, newline, text = piece.partition("\n")
        if rest.rstrip(" \t") == "--" and leaves:
            return leaves
        end = text.find("\n\n") + 2
        fields = [] if text.startswith("\n") else _fields(text[:end])
        if rest.strip(" \t") or not newline or fields is None:
            return None
        more = _cut(_message(fields), text[end if fields else 1 :], depth + 1)
        if more is None:
            return None
        leaves += more
    return None


def _by_package(head: str, body: str) -> Message:
    """Headers that are not well formed may end early; what is left of them is body."""
    message = _PARSER.parsestr(head, headersonly=True)
    if _has_parts(message):
        return _PARSER.parsestr(head + body)
    message.set_payload(f"{message.get_payload()}{body}")
    return message


def _has_parts(message: Message) -> bool:
    return _describe(message).type.startswith(("multipart/", "message/"))


def _header(value: str) -> str:
    """A header's value in Unicode, on one line."""
    value = str(value)
    if "=?" in value:
        try:
            pieces = decode_header(value)
        except Exception:
            pieces = [(value, None)]
        value = "".join(_decode_chunk(text, charset) for text, charset in pieces)
    elif not value.isascii():
        value = _decode_chunk(value, None)
    return value.replace("\n", " ").replace("\r", " ")


def _decode_chunk(text: str | bytes, charset: str | None) -> str:
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return decode(text, charset)


def _part(part: Message) -> Part:
    described = _describe(part)
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        data = b""
    readable = described.type.startswith(("text/", "message/")) or (
        not described.filename and b"\0" not in data[:1024]
    )
    if not readable:
        return described
    return described._replace(text=decode(data[:MAX_PART_BYTES], described.charset))


def _describe(part: Message) -> Part:
    """What its headers say a part is, without its text."""
    first: dict[str, str] = {}
    for name, value in part.raw_items():
        first.setdefault(name.lower(), value)
    kind, disposition = first.get("content-type"), first.get("content-disposition")
    short = len(kind or "") + len(disposition or "") < 500  # nobody can make us keep long ones
    describe = _description if short else _description.__wrapped__
    return describe(kind, disposition, part.get_default_type())


@lru_cache(1 << 10)  # most parts of most messages are alike, and asking takes time
def _description(kind: str | None, disposition: str | None, default: str) -> Part:
    part = Message()
    part.set_default_type(default)
    for name, value in (("Content-Type", kind), ("Content-Disposition", disposition)):
        if value is not None:
            part.set_raw(name, value)
    charset, filename = _answer(part.get_content_charset), _answer(part.get_filename)
    return Part(part.get_content_type(), charset, _header(filename))


def _answer(question: Callable[[], str | None]) -> str:
    """An answer of the package, or nothing: odd parameters make it raise."""
    try:
        return str(question() or "")
    except Exception:
        return ""
