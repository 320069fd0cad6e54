"""Checks of what a caller states: numbers in their range, and one of some words."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import TypeGuard

from deciban.errors import ParameterError

__all__ = [
    "MAX_FLOAT",
    "MAX_NUMBER",
    "is_number",
    "is_whole_number",
    "number",
    "one_of",
    "whole_number",
]

#: The largest number that a column may hold.
MAX_FLOAT = sys.float_info.max
#: The largest number that is summed or multiplied: squares of it are finite.
MAX_NUMBER = 1e150


def is_whole_number(value: object, least: float = -math.inf) -> TypeGuard[int]:
    """Whether it is an integer, ``least`` or more; a truth value is none.

    >>> is_whole_number(2, 1), is_whole_number(True), is_whole_number(2.0)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_number(value: object, least: float = -math.inf) -> TypeGuard[float]:
    """Whether it is a finite number, ``least`` or more; a truth value is none.

    >>> is_number(0.5), is_number(math.inf), is_number(True)
    (True, False, False)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value) and float(value) >= least
    except OverflowError:  # a whole number beyond every float
        return False


def whole_number(name: str, value: object, least: int, hint: str) -> int:
    """A whole number that is ``least`` or more.

    >>> whole_number("rows", 0, 1, "try 65536")
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: rows must be a whole number >= 1, got 0. Hint: try 65536.
    """
    if not is_whole_number(value, least):
        raise ParameterError(f"{name} must be a whole number >= {least}, got {value!r}.", hint=hint)
    return int(value)


def number(
    name: str, value: object, hint: str, *, least: float = 0.0, above: bool = False
) -> float:
    """A finite number that is ``least`` or more, or more than that.

    >>> number("tol", -1, "1e-8 is usual", above=True)
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: tol must be a number > 0, got -1. Hint: 1e-8 is usual.
    """
    if not is_number(value, least) or (above and value == least):
        sign = ">" if above else ">="
        raise ParameterError(f"{name} must be a number {sign} {least:g}, got {value!r}.", hint=hint)
    return float(value)


def one_of(name: str, value: object, *known: str) -> str:
    """One of some words, of which the first is the default.

    >>> one_of("start", "zero", "zero", "bayes")
    'zero'
    """
    if not isinstance(value, str) or value not in known:
        raise ParameterError(
            f"{name} must be {' or '.join(map(repr, known))}, got {value!r}.",
            hint=f"{known[0]!r} is the default",
        )
    return value
