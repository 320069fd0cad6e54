"""Python strings as one column of UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Iterable

from deciban.errors import InputError
from deciban.kernels.texts import utf8
from deciban.sources.columns import Strings

__all__ = ["pack"]


def pack(texts: Iterable[str | None]) -> Strings:
    """Strings as a column; None is missing, a lone surrogate is three bytes that are not UTF-8.

    >>> pack(["a", None, "né"]).tolist()
    ['a', None, 'né']
    """
    try:
        return Strings(*utf8(texts if isinstance(texts, list) else list(texts)))
    except TypeError as error:
        raise InputError(f"{error}.", hint="texts are a list of str") from None
