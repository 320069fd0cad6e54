"""Plain values: what JSON knows, from what Python and NumPy have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, time
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

#: What JSON knows, and what is turned into it.
Plain: TypeAlias = Any
#: Plain values by name: an object of JSON.
PlainDict: TypeAlias = dict[str, Plain]


def plain(value: Plain, *, strict: bool = False) -> Plain:
    """Lists, names and finite numbers; times as ISO 8601 writes them, and the rest as text.

    A number that is not finite is None. If ``strict``, what JSON does not know stays as it is, so
    that whoever writes it can refuse it.

    >>> plain({"a": (np.int64(1), float("nan")), 2: date(2025, 6, 21)})
    {'a': [1, None], '2': '2025-06-21'}
    >>> plain([np.float64(0.5), float("inf")], strict=True)
    [0.5, inf]
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item, strict=strict) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, strict=strict) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), strict=strict)
    if isinstance(value, Real):
        number = float(value)
        return number if strict or math.isfinite(number) else None
    if strict:
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)
