"""A message as bytes: its head, the one header that is added, and what makes it the same message.

Everything here is about bytes and never decodes them, so what is not touched is
not altered: the line of an mbox, the kind of line ends, bytes that are no text.
"""

from __future__ import annotations

import re
from hashlib import blake2b

__all__ = ["HEADER", "canonical", "digest", "with_header", "without_header"]

#: The header that ``deciban mail filter`` adds.
HEADER = "X-Deciban"

_MBOX_LINE = re.compile(rb"From [^\n]*\n")
_FIELDS = re.compile(rb"(?:[!-9;-~]+[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*)*")
_OURS = re.compile(rb"^X-Deciban[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)", re.M | re.I)
#: What mail programs write into a message after its delivery, and what we do.
_CHANGING = re.compile(
    rb"^(?:X-Deciban|Status|X-Status|X-Keywords|X-UID|X-UIDL|Content-Length|Lines"
    rb"|X-Mozilla-(?:Status2?|Keys))[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)",
    re.M | re.I,
)
#: How these begin, in lower case: most messages have none, which this finds out much faster.
_PERHAPS = re.compile(
    rb"\n(?:x-(?:deciban|status|keywords|uid|mozilla)|status|content-length|lines)"
)


def with_header(raw: bytes, value: str) -> bytes:
    r"""The message with one more header, after all others; one of that name it had is removed.

    A message that starts with the second line of a folded header, which no mail server would
    deliver, has no place for a header, and stays as it is.

    >>> with_header(b"Subject: x\r\nX-Deciban: ham\r\n\r\nHello", "spam")
    b'Subject: x\r\nX-Deciban: spam\r\n\r\nHello'
    """
    raw = without_header(raw)
    start = _start(raw)
    fields = _FIELDS.match(raw, start)
    at = fields.end() if fields else start
    if raw[at : at + 1] in (b" ", b"\t"):  # it would become a part of our header
        at = start
        if fields is None or not fields[0]:
            return raw
    line_end = "\r\n" if raw[start:].partition(b"\n")[0].endswith(b"\r") else "\n"
    return raw[:at] + f"{HEADER}: {value}{line_end}".encode() + raw[at:]


def without_header(raw: bytes) -> bytes:
    """The message without headers of our name: nobody else can say what we say."""
    return _without(_OURS, raw, _start(raw))


def canonical(raw: bytes) -> bytes:
    r"""What stays the same while a message is filed, copied and read.

    >>> canonical(b"From me\nStatus: RO\nSubject: x\n\nHello\n\n")
    b'Subject: x\n\nHello'
    >>> canonical(b"Subject: x\r\nX-Deciban: ham\r\n\r\nHello")
    b'Subject: x\n\nHello'
    """
    raw = raw[_start(raw) :]
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
    return _without(_CHANGING, raw, 0).rstrip(b"\n")


def digest(message: bytes) -> bytes:
    """Sixteen bytes that name a canonical message."""
    return blake2b(message, digest_size=16).digest()


def _start(raw: bytes) -> int:
    """Where the headers start: after the line that separates messages in an mbox."""
    line = _MBOX_LINE.match(raw)
    return line.end() if line else 0


def _without(pattern: re.Pattern[bytes], raw: bytes, start: int) -> bytes:
    end = _end(raw, start)
    head = raw[start:end]
    if not _PERHAPS.search(b"\n" + head.lower()):
        return raw
    return raw[:start] + pattern.sub(b"", head) + raw[end:]


def _end(raw: bytes, start: int) -> int:
    """Where the first empty line starts."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return start
    end = len(raw)
    for blank in (b"\n\n", b"\n\r\n"):
        at = raw.find(blank, start, end)
        if at >= 0:
            end = at + 1
    return end
