"""Scripts that put no spaces between words, by the code points of their characters.

Without NumPy, for programs that must start at once.
"""

from __future__ import annotations

import unicodedata
from functools import cache

__all__ = ["UNSPACED", "marks"]

#: Thai, Lao, Myanmar, Khmer, Hiragana, Katakana, and signs that stand among Han.
_SYLLABLES = [
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x19E0, 0x19FF), (0x3005, 0x3007),
    (0x3021, 0x302F), (0x3031, 0x303C), (0x3041, 0x30FF), (0x31F0, 0x31FF), (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F),
]  # fmt: skip
#: Han, which has no marks.
_HAN = [(0x2E80, 0x2FDF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)]

#: First and last character of each block.
UNSPACED = sorted(_SYLLABLES + _HAN)


@cache
def marks() -> str:
    """Vowel signs, tones and other marks, which belong to the letter before them.

    >>> "ั" in marks(), "ก" in marks()
    (True, False)
    """
    characters = (chr(c) for first, last in _SYLLABLES for c in range(first, last + 1))
    return "".join(c for c in characters if unicodedata.category(c)[0] == "M")
