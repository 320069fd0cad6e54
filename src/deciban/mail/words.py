"""The words of a text, by the rule of :class:`deciban.text.Tokenizer`.

Of a text in ASCII the rule is one regular expression, and looking it up that way
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


def words(text: str) -> list[str]:
    """Words in lower case; characters and pairs of scripts that have no spaces.

    >>> words("Win a Prize!"), words("我爱你")
    (['win', 'prize'], ['我', '我爱', '爱', '爱你', '你'])
    """
    return _ASCII.findall(text.lower()) if text.isascii() else _tokenizer().tokens(text)


@cache
def _tokenizer() -> Tokenizer:
    from deciban.text import Tokenizer

    return Tokenizer("any-script")
