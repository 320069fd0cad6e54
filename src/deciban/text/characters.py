"""What characters are, as Python's own Unicode tables say: word characters, digits, white space.

Conventions
-----------
- ``classes()`` is one byte per code point below ``0x40000``, a sum of ``WORD``,
  ``UNSPACED``, ``MARK``, ``DIGIT``, ``SPACE`` and, if asked for, ``SIGN`` (punctuation,
  symbols); beyond, nothing is a word.
- ``folds(case, accents)`` says what each character becomes: another character,
  ``NOTHING``, or ``AWKWARD`` where that is several characters or depends on the
  neighbours; such a text is folded as a whole by ``folded``.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deciban.text import scripts

__all__ = ["classes", "folded", "folds"]

WORD, UNSPACED, MARK, DIGIT, SPACE, SIGN = 1, 2, 4, 8, 16, 32
NOTHING, AWKWARD = -1, -2

#: Planes 0 to 3; no later one has letters, digits or white space.
_LAST = 0x40000
#: No character from here on has a lower case.
_LAST_CASED = 0x20000
_SIGMA = 0x3A3


@cache
def classes(signs: bool = False) -> NDArray[np.uint8]:
    """One byte a code point; ``signs`` are told from other characters only if asked for.

    >>> [int(classes()[ord(c)]) for c in "a_7 .我"]
    [1, 1, 9, 16, 0, 3]
    >>> [int(classes(signs=True)[ord(c)]) for c in "a.!€"]
    [1, 32, 32, 32]
    """
    if signs:
        out = classes().copy()
        rest = np.flatnonzero(out[:_LAST_CASED] == 0)
        out[[c for c in rest if unicodedata.category(chr(c))[0] in "PS"]] = SIGN
        out.flags.writeable = False
        return out
    every = np.arange(_LAST, dtype="<u4").view("<U1")
    out = np.strings.isalnum(every).astype(np.uint8)
    out[ord("_")] = WORD
    digits = np.strings.isdecimal(every)
    out[digits] |= DIGIT
    out[np.strings.isspace(every)] |= SPACE
    for first, last in scripts.UNSPACED:
        part = slice(first, last + 1)
        out[part][(out[part] & WORD > 0) & ~digits[part]] |= UNSPACED
    out[_points(scripts.marks())] |= UNSPACED | MARK
    out.flags.writeable = False
    return out


def folded(text: str, case: bool, accents: bool) -> str:
    """A text in lower case unless ``case`` is kept, without marks if ``accents`` are stripped.

    >>> folded("Café", case=False, accents=True)
    'cafe'
    """
    if not case:
        text = text.lower()
    if not accents or text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


@cache
def folds(case: bool, accents: bool) -> NDArray[np.int32] | None:
    """What each character becomes; None where nothing changes.

    >>> chr(folds(False, False)[ord("Ä")]), chr(folds(False, True)[ord("Ä")])
    ('ä', 'a')
    """
    if case and not accents:
        return None
    last = _LAST if accents else _LAST_CASED
    out = np.arange(last, dtype=np.int32)
    for first in range(0x80 if accents else 0, last, 0x80):
        _fold(out[first : first + 0x80], case, accents)
    if accents and not case:
        out[:0x80] = _points("".join(map(chr, range(0x80))).lower())
    if not case:
        out[_SIGMA] = AWKWARD
    out.flags.writeable = False
    return out


def _fold(block: NDArray[np.int32], case: bool, accents: bool) -> None:
    """Replace the characters of a block by what they become."""
    text = block.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    whole = folded(text, case, accents)
    if whole == text:
        return
    if not accents and len(whole) == len(text):
        block[:] = _points(whole)
        return
    for i, c in enumerate(text):
        one = folded(c, case, accents)
        block[i] = NOTHING if not one else ord(one) if len(one) == 1 else AWKWARD


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
