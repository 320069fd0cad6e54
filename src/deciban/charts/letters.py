"""How wide texts are, so that charts can be laid out and browsers keep to the layout.

The widths are those of Arial, Helvetica and Liberation Sans, which are the same. A browser takes
the first family of :data:`FONT_FAMILIES` that it has; where it has none, what it takes instead is
stretched to these widths.
"""

from __future__ import annotations

import unicodedata
from functools import cache

#: The families whose letters have the widths below; vl-convert brings the third one with it.
FONT_FAMILIES = "Arial, Helvetica, 'Liberation Sans', Arimo, sans-serif"

#: The widths of the letters from " " to "~", in thousandths of the font size.
PLAIN_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
BOLD_WIDTHS = (
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
)  # fmt: skip
#: Signs that charts write, and how wide they are.
SIGN_WIDTHS = {"−": 584, "–": 556, "…": 1000, "∞": 713, "≥": 549, "≤": 549, "×": 584, "·": 333}
#: A character that fills a square, as Chinese ones do, and any other one that is not listed.
SQUARE_WIDTH, OTHER_WIDTH = 1000, 600


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text in pixels, at a font size in pixels.

    >>> round(text_width("long", 10)), round(text_width("long", 10, bold=True)), text_width("年", 9)
    (19, 21, 9.0)
    """
    return sum(_width(character, bold) for character in text) * size / 1000


def cut_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The text, or as much of its beginning as is not wider than so many pixels.

    >>> cut_text("native_country", 200, 10), cut_text("native_country", 50, 10)
    ('native_country', 'native_c…')
    """
    if text_width(text, size, bold=bold) <= width:
        return text
    room = 1000 * width / size - SIGN_WIDTHS["…"]
    for n, character in enumerate(text):
        room -= _width(character, bold)
        if room < 0:
            return text[:n] + "…"
    return text


@cache
def _width(character: str, bold: bool) -> int:
    """The width of a character; an accent adds nothing to its letter."""
    if character in SIGN_WIDTHS:
        return SIGN_WIDTHS[character]
    if unicodedata.east_asian_width(character) in "WF":
        return SQUARE_WIDTH
    if unicodedata.combining(character):
        return 0
    code = ord(unicodedata.normalize("NFD", character)[0])
    widths = BOLD_WIDTHS if bold else PLAIN_WIDTHS
    return widths[code - 32] if 32 <= code < 127 else OTHER_WIDTH
