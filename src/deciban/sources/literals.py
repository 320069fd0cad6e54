"""Literals: numbers, truth values and times from their texts, one function a type."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Literal

__all__ = ["parse_boolean", "parse_integer", "parse_number", "parse_time", "time_unit"]

_TRUE = frozenset({"true", "yes", "t", "y", "on", "1"})
_FALSE = frozenset({"false", "no", "f", "n", "off", "0"})
_TIMES: dict[Literal["date", "time", "timestamp"], type[date | time]] = {
    "date": date, "time": time, "timestamp": datetime,
}  # fmt: skip


def parse_number(text: str) -> float | None:
    """The finite number that a text is, or None; an empty text is a missing one.

    >>> parse_number(" 1.5e3 "), parse_number(""), parse_number("1_000")
    (1500.0, nan, None)
    """
    if not text.strip():
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") and "_" not in text else None


def parse_integer(text: str) -> int | None:
    """The whole number that a text is, exact also beyond 2**53, or None.

    >>> parse_integer("9007199254740993"), parse_integer("2.0"), parse_integer("2.5")
    (9007199254740993, 2, None)
    """
    value = parse_number(text)
    if value is None or value % 1 != 0:
        return None
    try:
        return int(text)
    except ValueError:
        return int(value)


def parse_boolean(text: str) -> bool | None:
    """True or False from its text, in any case, or None.

    >>> parse_boolean("Yes"), parse_boolean("0"), parse_boolean("maybe")
    (True, False, None)
    """
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def parse_time(unit: str, text: str) -> date | time | None:
    """A date, a timestamp or a time of day from its ISO text, or None.

    A timestamp is cut to its date, or to its time of day.

    >>> parse_time("date", "2025-06-21"), parse_time("date", "2025-06-21T14:30")
    (datetime.date(2025, 6, 21), datetime.date(2025, 6, 21))
    """
    if unit != "timestamp" and (plain := _parse_plain(date if unit == "date" else time, text)):
        return plain
    moment = _parse_plain(datetime, text)
    if not isinstance(moment, datetime) or unit == "timestamp":
        return moment
    return moment.date() if unit == "date" else moment.time()


def time_unit(texts: Iterable[str]) -> Literal["", "date", "timestamp", "time"]:
    """What texts in ISO form are, if all of them are the same; otherwise "".

    >>> time_unit(["2025-06-21"]), time_unit(["2025-06-21", "2025-06-21 14:30"]), time_unit(["x"])
    ('date', 'timestamp', '')
    """
    some = [text.strip() for text in texts]
    for unit, of in _TIMES.items():
        if some and all(_parse_plain(of, text) is not None for text in some):
            return unit
    return ""


def _parse_plain(of: type[date | time], text: str) -> date | time | None:
    try:
        return of.fromisoformat(text.strip())
    except ValueError:
        return None
