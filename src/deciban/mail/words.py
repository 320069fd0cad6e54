"""The words of a text, by the rule of :class:`deciban.text.Tokenizer`, without its compiled loops.

A program that reads one message has to start at once, and NumPy alone would take longer
to import than all else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from deciban.text import scripts

__all__ = ["words"]

_SPACED = re.compile(r"\w\w+")
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in scripts.UNSPACED)
_PERHAPS_UNSPACED = re.compile(f"[{_UNSPACED}]")
#: Letters to lower case, and what is no letter, digit or underscore to a space.
_LETTERS = bytes(c if chr(c).isalnum() or c == 95 else 32 for c in range(128)).lower()
_ASCII = _LETTERS + bytes(128)


def words(text: str) -> list[str]:
    """Words in lower case; characters and pairs of scripts that have no spaces.

    >>> words("Win a Prize!"), words("我爱你")
    (['win', 'prize'], ['我', '我爱', '爱', '爱你', '你'])
    """
    if text.isascii():
        found = text.encode().translate(_ASCII).decode("ascii").split()
        return [word for word in found if len(word) > 1]
    text = text.lower()
    if not _PERHAPS_UNSPACED.search(text):
        return _SPACED.findall(text)
    return list(_any_script(text))


def _any_script(text: str) -> Iterator[str]:
    for found in _runs().finditer(text):
        run = found["unspaced"]
        if not run:
            yield found[0]
            continue
        characters = _characters().findall(run)
        yield characters[0]
        for before, after in pairwise(characters):
            yield before + after
            yield after


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
