"""The words of a text, by the rule of :class:`deciban.text.Tokenizer`.

Where words are spaced the rule is one regular expression, and finding them that way
spares a program that reads one message the import of NumPy.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deciban.text import Tokenizer

__all__ = ["words"]

_ASCII = re.compile(r"\w\w+", re.ASCII)
_SPACED = re.compile(r"\w\w+")
#: All scripts without spaces between words are among these, and a few others.
_PERHAPS_UNSPACED = re.compile("[\u0e00-\u1cff\u2e80-\U0010ffff]")


def words(text: str) -> list[str]:
    """Words in lower case; characters and pairs of scripts that have no spaces.

    >>> words("Win a Prize!"), words("我爱你")
    (['win', 'prize'], ['我', '我爱', '爱', '爱你', '你'])
    """
    if text.isascii():
        return _ASCII.findall(text.lower())
    if not _PERHAPS_UNSPACED.search(text):
        return _SPACED.findall(text.lower())
    return _tokenizer().tokens(text)


@cache
def _tokenizer() -> Tokenizer:
    from deciban.text import Tokenizer

    return Tokenizer("any-script")
