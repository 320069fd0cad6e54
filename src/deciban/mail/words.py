"""The words and hosts of a text, each once, by the rule of :class:`deciban.text.Tokenizer`.

A program that reads one message has to start at once, and NumPy alone would take longer
to import than all else: so words are found by loops of their own.
"""

from __future__ import annotations

import re
from functools import cache

from deciban.kernels import letters
from deciban.text import scripts

__all__ = ["MAX_WORD_LENGTH", "add_hosts", "add_words"]

#: In characters; longer words are debris of encodings.
MAX_WORD_LENGTH = 30

_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in scripts.UNSPACED)


def add_words(out: set[str], text: str, prefix: str = "", *, numbers: bool = True) -> None:
    """Add the words of a text in lower case; characters and pairs of scripts that have no spaces.

    Without ``numbers``, none that begins with a digit.

    >>> out = set()
    >>> add_words(out, "Win a Prize!"), add_words(out, "我爱", "subject:"), sorted(out)
    (None, None, ['prize', 'subject:我', 'subject:我爱', 'subject:爱', 'win'])
    """
    text = text.lower()
    if text.isascii() or not _perhaps_unspaced().search(text):
        letters.words(text, prefix, MAX_WORD_LENGTH, numbers, out)
        return
    letters.any_words(text, _unspaced(), prefix, MAX_WORD_LENGTH, numbers, out)


def add_hosts(out: set[str], text: str, prefix: str = "") -> None:
    """Add the hosts in a text, with the domains above each; addresses with their networks.

    >>> out = set()
    >>> add_hosts(out, "by mx.example.org [192.0.2.1]")
    >>> sorted(out)
    ['192.0', '192.0.2', '192.0.2.1', 'example.org', 'mx.example.org']
    """
    letters.hosts(text.lower(), prefix, out)


@cache
def _perhaps_unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _unspaced() -> letters.Unspaced:
    return letters.Unspaced(scripts.UNSPACED, scripts.marks())
