"""One message as headers and parts, by the standard ``email`` package.

Its parser goes line by line, which is most of what reading a message costs. So headers and parts
that are well formed are found by a compiled loop or cut; only what is not is parsed as a whole.
Whatever it is fed, it answers: what cannot be understood as MIME is one part of plain text.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from deciban.kernels import heads
from deciban.mail.charsets import decode

if TYPE_CHECKING:
    from email.message import Message

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


#: Headers in order.
Fields: TypeAlias = list[tuple[str, str]]
#: How the names of the headers begin that say what a part is.
_CONTENT = "content-"
#: Transfer encodings that the package takes off, besides quoted-printable.
_ENCODINGS = frozenset(("base64", "x-uuencode", "uuencode", "uue", "x-uue"))

#: The bytes of a part that are looked at: bodies of many megabytes are attachments in disguise.
MAX_PART_BYTES = 1 << 18
#: Parts of parts that are cut; deeper ones are left to the package.
MAX_CUT_DEPTH = 8
#: Parameters that say nothing of how to read a message.
_ASIDE = r"""(?:type|micalg|protocol)=(?:"[\w/-]+"|[\w/-]+)"""
#: Most types of messages with parts: they differ in their boundaries.
_MULTIPART = re.compile(
    rf"""(multipart/(?!digest)[a-z-]+);\s*(?:{_ASIDE};\s*)*boundary="([\w'()+,./:=?-]+)\""""
    rf"""(?:;\s*{_ASIDE})*\s*""",
    re.ASCII | re.I,
)
#: Most types of texts.
_TEXT = re.compile(
    r"""(text/(?:plain|html))(?:; ?charset=("?)([\w-]+)\2)?(?:; ?format=flowed)?""", re.A | re.I
)


def parse(raw: bytes) -> Mail:
    r"""The message of these bytes.

    >>> mail = parse(b"Subject: =?gb2312?b?w+K30Q==?=\n\nHello")
    >>> mail.headers, mail.parts[0].text
    ([('subject', '免费')], 'Hello')
    """
    try:
        start = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0  # the separator of an mbox
        end = _end(raw, start)
        fields = heads.fields(raw, start, end)
        if fields is None:
            message = _by_package(_as_text(raw[start:end]), _as_text(raw[end:]))
            headers = [(name.lower(), _header(str(value))) for name, value in message.raw_items()]
            return Mail(headers, _leaves(message))
        body = raw[end:]
        leaves = _cut(fields, body)
        parts = _parse_parts(fields, body) if leaves is None else [_read(leaf) for leaf in leaves]
        return Mail(heads.unfold(fields, _header), parts)
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


def _as_text(raw: bytes) -> str:
    """Bytes as the package wants them: those that are not ASCII are surrogates."""
    return raw.decode("ascii", "surrogateescape")


class Leaf(NamedTuple):
    """A part that was cut: what it is, its transfer encoding, and its bytes."""

    part: Part
    encoding: str
    body: bytes


def _cut(fields: Fields, body: bytes, depth: int = 0) -> list[Leaf] | None:
    """The parts of a message, cut at its boundaries; None if something is not well formed."""
    first = heads.first(fields, _CONTENT)
    kind = first.get("content-type")
    part = _describe(kind, first.get("content-disposition"))
    if not part.type.startswith(("multipart/", "message/")):
        return [Leaf(part, first.get("content-transfer-encoding", "").lower(), body)]
    boundary = _boundary(kind)
    if not boundary or part.type == "multipart/digest" or part.type.startswith("message/"):
        return None
    if b"\r" in body or depth == MAX_CUT_DEPTH:
        return None
    leaves: list[Leaf] = []
    for piece in (b"\n" + body).split(b"\n--" + boundary)[1:]:
        rest, newline, text = piece.partition(b"\n")
        if rest.rstrip(b" \t") == b"--" and leaves:
            return leaves
        end = text.find(b"\n\n") + 2
        own = [] if text.startswith(b"\n") else heads.fields(text, 0, end)
        if rest.strip(b" \t") or not newline or own is None:
            return None
        more = _cut(own, text[end if own else 1 :], depth + 1)
        if more is None:
            return None
        leaves += more
    return None


def _boundary(kind: str | None) -> bytes:
    """What separates the parts of such a type."""
    plain = _MULTIPART.fullmatch(kind or "")
    if plain:
        return plain[2].encode()
    message = _message()
    if kind is not None:
        message.set_raw("Content-Type", kind)
    boundary = message.get_boundary() or ""
    try:
        return boundary.encode("ascii", "surrogateescape")
    except UnicodeEncodeError:  # no bytes are so, as far as the package knows
        return b""


def _read(leaf: Leaf) -> Part:
    """A part that was cut, with its text."""
    part, encoding, body = leaf
    if part.filename and not part.type.startswith(("text/", "message/")):
        return part
    if encoding == "quoted-printable":
        return _with_text(part, a2b_qp(body))
    if encoding not in _ENCODINGS:
        return _with_text(part, body)
    message = _message()
    message.set_raw("Content-Transfer-Encoding", encoding)
    message.set_payload(_as_text(body))
    return _with_text(part, message.get_payload(decode=True))


def _with_text(part: Part, data: object) -> Part:
    """A part with its text, if it has one."""
    if not isinstance(data, bytes):
        data = b""
    readable = part.type.startswith(("text/", "message/")) or (
        not part.filename and b"\0" not in data[:1024]
    )
    if not readable:
        return part
    text = decode(data[:MAX_PART_BYTES], part.charset)
    return Part(part.type, part.charset, part.filename, text)


# What is not well formed


def _parse_parts(fields: Fields, body: bytes) -> list[Part]:
    """The parts of a message with these headers, by the package."""
    own = [f"{name}: {value}\n" for name, value in fields if name.startswith(_CONTENT)]
    return _leaves(_parsed(f"{''.join(own)}\n{_as_text(body)}"))


def _message() -> Message:
    """An empty message of the package, which takes long to import: plain messages do without."""
    from email.message import Message

    return Message()


def _parsed(text: str, *, headers_only: bool = False) -> Message:
    from email.parser import Parser

    return Parser().parsestr(text, headersonly=headers_only)


def _leaves(message: Message) -> list[Part]:
    return [_part(leaf) for leaf in message.walk() if not leaf.is_multipart()]


def _by_package(head: str, body: str) -> Message:
    """Headers that are not well formed may end early; what is left of them is body."""
    message = _parsed(head, headers_only=True)
    if _has_parts(message):
        return _parsed(head + body)
    message.set_payload(f"{message.get_payload()}{body}")
    return message


def _has_parts(message: Message) -> bool:
    return _description_of(message).type.startswith(("multipart/", "message/"))


def _header(value: str) -> str:
    """A header's value in Unicode, on one line."""
    if "=?" in value:
        from email.header import decode_header

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
    return _with_text(_description_of(part), part.get_payload(decode=True))


def _description_of(part: Message) -> Part:
    """What its headers say a part is, without its text."""
    first = heads.first([(name.lower(), value) for name, value in part.raw_items()], _CONTENT)
    kind, disposition = first.get("content-type"), first.get("content-disposition")
    return _describe(kind, disposition, part.get_default_type())


def _describe(kind: str | None, disposition: str | None, default: str = "text/plain") -> Part:
    """What two headers say a part is."""
    if kind and kind[0] in "mM" and disposition in (None, "inline"):
        plain = _MULTIPART.fullmatch(kind)
        if plain:
            return Part(plain[1].lower(), "", "")
    short = len(kind or "") + len(disposition or "") < 500  # nobody can make us keep long ones
    return (_description if short else _description.__wrapped__)(kind, disposition, default)


@lru_cache(1 << 10)  # most parts of most messages are alike, and asking takes time
def _description(kind: str | None, disposition: str | None, default: str) -> Part:
    plain = _TEXT.fullmatch(kind or default) if disposition is None else None
    if plain:
        return Part(plain[1].lower(), (plain[3] or "").lower(), "")
    part = _message()
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
