"""How files are read: what a caller may state about their bytes and fields."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from deciban.errors import ParameterError
from deciban.sources.scan import BATCH_ROWS

__all__ = ["USUAL_OPTIONS", "Markers", "ReadOptions"]

#: Fields that mean "no value" beside numbers, truth values and times.
USUAL_MARKERS = (
    "", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NAN", "NaT", "null", "Null",
    "NULL", "(null)", "None", "none", "nil", "NIL", "missing", "Missing", "MISSING", "?", "-", "--",
    "---", "–", "—", ".", "..", "...", "*", "#N/A", "#NA", "#NV", "#N/A N/A", "#VALUE!", "#WERT!",
    "#DIV/0!", "#REF!", "#BEZUG!", "#NUM!", "#ZAHL!", "#NAME?", "#NULL!", "<NA>", "\\N",
)  # fmt: skip
#: Fields that are no word in any language: they mean "no value" in columns of text as well.
MARKERS_IN_TEXT = ("NULL", "#N/A", "#NA", "#NV", "#N/A N/A", "<NA>", "\\N", "(null)")
DECIMAL_SIGNS = (".", ",")
THOUSANDS_SIGNS = (",", ".", " ", "'", "")


@dataclass(frozen=True)
class Markers:
    """Fields that mean a missing value: in columns of text, and in all others.

    >>> Markers.of(("?",)).in_text
    [b'?']
    >>> b"-" in Markers.of(None).elsewhere, b"-" in Markers.of(None).in_text
    (True, False)
    """

    in_text: list[bytes]
    elsewhere: list[bytes]

    @staticmethod
    def of(na: Sequence[str] | None) -> Markers:
        """The usual markers, or those that the caller states."""
        if na is None:
            return Markers(_encode(MARKERS_IN_TEXT), _encode(USUAL_MARKERS))
        stated = _encode(marker.strip() for marker in na)
        return Markers(stated, [*stated, b""])


def _encode(markers: Iterable[str]) -> list[bytes]:
    return [marker.encode() for marker in markers]


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    rows : the most rows in a batch
    na : fields that mean "no value"; None: the usual ones
    encoding : of text files; None: UTF-8, or what is likeliest where that fails
    types : formats of columns that are known, see :mod:`deciban.sources.formats`
    decimal, thousands, date_format : how numbers and dates are written; None: as all fields show
    trim : whether blanks around fields are left away
    sheet : of a workbook, by name or number from 1; None: the first
    kept : columns whose fields are wanted as they stand in the file; None: all
    """

    rows: int = BATCH_ROWS
    na: Sequence[str] | None = None
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    trim: bool = True
    sheet: str | int | None = None
    kept: Sequence[str] | None = ()

    def __post_init__(self) -> None:
        if self.decimal is not None and self.decimal not in DECIMAL_SIGNS:
            raise ParameterError(
                f"decimal must be '.' or ',', got {self.decimal!r}.",
                hint="leave it out to have it recognised",
            )
        if self.thousands is not None and self.thousands not in THOUSANDS_SIGNS:
            raise ParameterError(
                f"thousands must be ',', '.', ' ', \"'\" or '', got {self.thousands!r}.",
                hint="leave it out to have it recognised; '' is none",
            )
        if self.decimal is not None and self.decimal == self.thousands:
            raise ParameterError(
                f"decimal and thousands are both {self.decimal!r}.", hint="they must differ"
            )
        if self.date_format is not None and "%" not in self.date_format:
            raise ParameterError(
                f"date_format must be a pattern of strptime, got {self.date_format!r}.",
                hint="such as '%d.%m.%Y' or '%Y-%m-%d %H:%M'",
            )
        if self.encoding is not None:
            _check_encoding(self.encoding)

    def keeps(self, names: Iterable[str]) -> list[str]:
        """Those of some columns whose fields are wanted as they stand."""
        return [name for name in names if self.kept is None or name in self.kept]

    @cached_property
    def markers(self) -> Markers:
        """The fields that mean a missing value."""
        return Markers.of(self.na)


#: Those where nothing is stated.
USUAL_OPTIONS = ReadOptions()


def _check_encoding(encoding: str) -> None:
    try:
        known = codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise ParameterError(
            f"encoding {encoding!r} is not known.",
            hint="such as utf-8, utf-16, cp1252, gb18030, big5, shift_jis or euc_kr; "
            "leave it out to have it guessed",
        )
