"""Columns whose values are lists of texts: tags, colours, items of an order."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deciban.sources.columns import Strings

#: A sign of ASCII, or a blank.
_SIGN = re.compile(r"[\s!-/:-@\[-`{-~]")


class Lists(Strings):
    """Texts, each of which was a list of texts: their order says nothing."""


def join_items(items: Iterable[str | None]) -> str:
    """The items of a list as a text in which each is one word, with no sign or blank in it.

    >>> join_items(["red", None, "New York", "c++", "c"])
    'red New_York c__ _c'
    """
    words = [_SIGN.sub("_", item.strip()) for item in items if item is not None]
    return " ".join(f"_{word}" if len(word) == 1 else word for word in words)
