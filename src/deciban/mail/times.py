"""When a message was delivered, by its headers.

The topmost ``Received`` is the one that the last server wrote, which is the reader's own; ``Date``
is what the sender says. What cannot be read as a time is none, whatever it is.
"""

from __future__ import annotations

import re
from datetime import date

__all__ = ["delivery_time"]

#: A header up to its end, which is a line that is not indented.
_VALUE = re.compile(rb"[^\n]*(?:\n[ \t][^\n]*)*")
#: A time as nearly all servers and programs write it, in lower case.
_USUAL = re.compile(
    rb"\s*(?:[a-z]{3},\s*)?(\d\d?)\s+([a-z]{3})\s+([1-9]\d{3})\s+(\d\d):(\d\d):(\d\d)"
    rb"\s+([+-])(\d\d)(\d\d)(?:\s|\Z)"
)
_MONTHS = b"jan feb mar apr may jun jul aug sep oct nov dec".split()
_EPOCH = date(1970, 1, 1).toordinal()
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
    usual = _USUAL.match(text)
    if not usual or usual[2] not in _MONTHS:
        return _seconds_by_package(text) if text else None
    numbers = map(int, usual.group(1, 3, 4, 5, 6, 8, 9))
    day, year, hours, minutes, seconds, zone_hours, zone_minutes = numbers
    days = date(year, _MONTHS.index(usual[2]) + 1, 1).toordinal() - _EPOCH + day - 1
    zone = 60 * zone_hours + zone_minutes
    minutes += 60 * (24 * days + hours) + (zone if usual[7] == b"-" else -zone)
    return float(60 * minutes + seconds)


def _seconds_by_package(text: bytes) -> float | None:
    """Of a time that is written otherwise; the package takes long to import."""
    from email.utils import mktime_tz, parsedate_tz

    try:
        parts = parsedate_tz(text.decode("ascii", "replace"))
        return float(mktime_tz(parts)) if parts else None
    except (ValueError, TypeError, OverflowError, IndexError):  # a 40th of May, a year 0
        return None
