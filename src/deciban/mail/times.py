"""When a message was delivered, by its headers.

The topmost ``Received`` is the one that the last server wrote, which is the reader's own; ``Date``
is what the sender says. What cannot be read as a time is none, whatever it is.
"""

from __future__ import annotations

import re
from email.utils import mktime_tz, parsedate_tz

__all__ = ["delivery_time"]

#: A header up to its end, which is a line that is not indented.
_VALUE = re.compile(rb"[^\n]*(?:\n[ \t][^\n]*)*")
#: The bytes of a message among which its first headers are looked for.
MAX_HEAD_BYTES = 1 << 14


def delivery_time(message: bytes) -> float | None:
    r"""Seconds since 1970 at which a canonical message was delivered; None if it does not say.

    >>> delivery_time(b"Received: by mx; Thu, 1 Jan 1970 00:01:00 +0000\nDate: x\n\nHello")
    60.0
    >>> delivery_time(b"Subject: x\n\nDate: Thu, 1 Jan 1970 00:01:00 +0000") is None
    True
    """
    head = b"\n" + message[:MAX_HEAD_BYTES].partition(b"\n\n")[0].lower()
    time = _seconds(_header(head, b"received").rpartition(b";")[2])
    return _seconds(_header(head, b"date")) if time is None else time


def _header(head: bytes, name: bytes) -> bytes:
    """The value of the first header of a name, in lower case like the head; empty without one."""
    _, colon, rest = head.partition(b"\n" + name + b":")
    value = _VALUE.match(rest) if colon else None
    return value[0] if value else b""


def _seconds(text: bytes) -> float | None:
    if not text:
        return None
    try:
        parts = parsedate_tz(text.decode("ascii", "replace"))
        return float(mktime_tz(parts)) if parts else None
    except (ValueError, TypeError, OverflowError, IndexError):  # a 40th of May, a year 0
        return None
