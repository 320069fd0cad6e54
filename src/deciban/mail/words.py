"""The words and hosts of a text, each once, by the rule of :class:`deciban.text.Tokenizer`.

A program that reads one message has to start at once, and NumPy alone would take longer
to import than all else: so spaced words are found by a loop of their own, and scripts
without spaces by regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from deciban.kernels import letters
from deciban.text import scripts

__all__ = ["LONGEST", "hosts", "words"]

#: Longer words are debris of encodings.
LONGEST = 30

_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in scripts.UNSPACED)


def words(found: set[str], text: str, prefix: str = "", *, numbers: bool = True) -> None:
    """Add the words of a text in lower case; characters and pairs of scripts that have no spaces.

    Without ``numbers``, none that begins with a digit.

    >>> found = set()
    >>> words(found, "Win a Prize!"), words(found, "我爱", "subject:"), sorted(found)
    (None, None, ['prize', 'subject:我', 'subject:我爱', 'subject:爱', 'win'])
    """
    text = text.lower()
    if text.isascii() or not _perhaps_unspaced().search(text):
        letters.words(text, prefix, LONGEST, numbers, found)
        return
    short = {word for word in _any_script(text) if len(word) <= LONGEST}
    found.update(prefix + word for word in short if numbers or not word[0].isdigit())


def hosts(found: set[str], text: str, prefix: str = "") -> None:
    """Add the hosts in a text, with the domains above each; addresses with their networks.

    >>> found = set()
    >>> hosts(found, "by mx.example.org [192.0.2.1]")
    >>> sorted(found)
    ['192.0', '192.0.2', '192.0.2.1', 'example.org', 'mx.example.org']
    """
    letters.hosts(text.lower(), prefix, found)


def _any_script(text: str) -> Iterator[str]:
    for found in _runs().finditer(text):
        run = found["unspaced"]
        if run:
            characters = _characters().findall(run)
            yield from characters
            yield from map("".join, pairwise(characters))
        else:
            yield found[0]


@cache
def _perhaps_unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _runs() -> re.Pattern[str]:
    """Words of two characters or more, and runs of letters of unspaced scripts."""
    letter = rf"(?=[{_UNSPACED}])[^\W\d]"
    return re.compile(
        rf"(?P<unspaced>(?:{letter}[{scripts.marks()}]*+)++)|(?:(?!{letter})\w){{2,}}"
    )


@cache
def _characters() -> re.Pattern[str]:
    return re.compile(rf".[{scripts.marks()}]*+", re.DOTALL)
