"""What characters are, as Python's own Unicode tables say: word characters, digits, white space.

Conventions
-----------
- ``class_table()`` is one byte per code point below ``0x40000``, a sum of ``WORD``,
  ``UNSPACED``, ``MARK``, ``DIGIT``, ``SPACE`` and, if asked for, ``SIGN`` (punctuation,
  symbols); beyond, nothing is a word.
- ``fold_table(case, accents)`` says what each character becomes: another character,
  ``NOTHING``, or ``FOLDED_IN_CONTEXT`` where that is several characters or depends on the
  neighbours; such a text is folded as a whole by ``fold``.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.text import scripts

__all__ = ["class_table", "fold", "fold_table"]

WORD, UNSPACED, MARK, DIGIT, SPACE, SIGN = 1, 2, 4, 8, 16, 32
NOTHING, FOLDED_IN_CONTEXT = -1, -2

#: Code points of planes 0 to 3; no later plane has letters, digits or white space.
_N_CODE_POINTS = 0x40000
#: No code point from here on has a lower case.
_N_CASED_CODE_POINTS = 0x20000
_SIGMA = 0x3A3


@cache
def class_table(signs: bool = False) -> NDArray[np.uint8]:
    """The classes of every code point, one byte each; ``signs`` are marked only if asked for.

    >>> [int(class_table()[ord(c)]) for c in "a_7 .我"]
    [1, 1, 9, 16, 0, 3]
    >>> [int(class_table(signs=True)[ord(c)]) for c in "a.!€"]
    [1, 32, 32, 32]
    """
    if signs:
        out = class_table().copy()
        rest = np.flatnonzero(out[:_N_CASED_CODE_POINTS] == 0)
        categories = map(unicodedata.category, _text(rest))
        out[rest[[category[0] in "PS" for category in categories]]] = SIGN
        out.flags.writeable = False
        return out
    every = np.arange(_N_CODE_POINTS, dtype="<u4").view("<U1")
    out = np.strings.isalnum(every).astype(np.uint8)
    out[ord("_")] = WORD
    digits = np.strings.isdecimal(every)
    out[digits] |= DIGIT
    out[np.strings.isspace(every)] |= SPACE
    for first, last in scripts.UNSPACED:
        part = slice(first, last + 1)
        out[part][(out[part] & WORD > 0) & ~digits[part]] |= UNSPACED
    out[_code_points(scripts.marks())] |= UNSPACED | MARK
    out.flags.writeable = False
    return out


def fold(text: str, case: bool, accents: bool) -> str:
    """A text in lower case unless ``case`` is kept, without marks if ``accents`` are stripped.

    >>> fold("Café", case=False, accents=True)
    'cafe'
    """
    if not case:
        text = text.lower()
    if not accents or text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


@cache
def fold_table(case: bool, accents: bool) -> NDArray[np.int32] | None:
    """The code point that each one becomes; None where nothing changes.

    >>> chr(fold_table(False, False)[ord("Ä")]), chr(fold_table(False, True)[ord("Ä")])
    ('ä', 'a')
    """
    if case and not accents:
        return None
    size = _N_CODE_POINTS if accents else _N_CASED_CODE_POINTS
    out = np.arange(size, dtype=np.int32)
    for first in range(0x80 if accents else 0, size, 0x80):
        _fold_block(out[first : first + 0x80], case, accents)
    if accents and not case:
        out[:0x80] = _code_points("".join(map(chr, range(0x80))).lower())
    if not case:
        out[_SIGMA] = FOLDED_IN_CONTEXT
    out.flags.writeable = False
    return out


def _fold_block(block: NDArray[np.int32], case: bool, accents: bool) -> None:
    """Replace the code points of a block by what they become."""
    text = _text(block)
    whole = fold(text, case, accents)
    if whole == text:
        return
    if not accents and len(whole) == len(text):
        block[:] = _code_points(whole)
        return
    for i, c in enumerate(text):
        one = fold(c, case, accents)
        block[i] = NOTHING if not one else ord(one) if len(one) == 1 else FOLDED_IN_CONTEXT


def _text(code_points: NDArray[np.integer[Any]]) -> str:
    """The characters of code points, half ones of UTF-16 too."""
    return code_points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
