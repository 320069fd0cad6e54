"""Kinds of columns: a name, and for some a parameter after a colon, such as ``"cyclic:360"``."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from deciban.errors import ParameterError

#: What is inferred of a column.
Inferred = Literal["numeric", "categorical", "boolean", "time", "text", "identifier"]

#: The kinds without a parameter.
PLAIN_KINDS: tuple[str, ...] = get_args(Inferred)
#: The name of the kind whose parameter is a period.
CYCLIC = "cyclic"


def cyclic(period: float) -> str:
    """The kind of numbers that begin again after a period.

    >>> cyclic(24)
    'cyclic:24'
    """
    return f"{CYCLIC}:{period:g}"


#: The kinds of what is derived from a time.
HOUR, WEEKDAY = cyclic(24), cyclic(7)


@cache
def period_of(kind: str) -> float | None:
    """The period of a cyclic kind; None of any other.

    >>> period_of("cyclic:365.25"), period_of("numeric")
    (365.25, None)
    """
    name, _, period = kind.partition(":")
    return float(period) if name == CYCLIC else None


def check_kind(column: str, kind: object) -> None:
    """Refuse what is no kind of a column, or lacks its parameter.

    >>> check_kind("wind", "cyclic:0")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: the kind of column 'wind' needs a period, a number > 0, ...
    """
    if is_kind(kind):
        return
    if str(kind).partition(":")[0] == CYCLIC:
        raise ParameterError(
            f"the kind of column {column!r} needs a period, a number > 0, after the colon; "
            f"got {kind!r}.",
            hint="such as 'cyclic:360' for degrees, 'cyclic:24' for hours",
        )
    raise ParameterError(
        f"the kind of column {column!r} is one of {', '.join(PLAIN_KINDS)}, {CYCLIC}:PERIOD; "
        f"got {kind!r}.",
        hint="leave it out to have it inferred",
    )


def is_kind(kind: object) -> bool:
    """Whether it is a kind, with its parameter if it has one.

    >>> is_kind("numeric"), is_kind("cyclic:360"), is_kind("cyclic")
    (True, True, False)
    """
    if not isinstance(kind, str):
        return False
    name, _, parameter = kind.partition(":")
    return _is_positive(parameter) if name == CYCLIC else kind in PLAIN_KINDS


def _is_positive(text: str) -> bool:
    """Whether a text is a finite number above zero."""
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False
