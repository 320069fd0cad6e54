"""How the fields of a column are written: numbers and dates in the ways of many countries.

A format is a short text. It is recognised from all fields of a column in training, belongs to
the column's schema and is kept with the model, because one row alone cannot show it.

===========================  ==============================================================
format                       fields
===========================  ==============================================================
``""``                       as programs write them, or not known
``"text"``                   texts, whatever they look like; ``"text gb18030"`` also says in
                             which encoding the file was
``"number"``                 plain numbers
``"1.234,5"``                numbers by an example: ``1234,5``, ``1 234.5``, ``1'234.5``, ...
``"1,234.5 $"``              with a sign of currency or of percent before or behind them
``"day first"``              dates; also ``"month first"``, ``"year first"``, ``"... with time"``
``"%d %b %Y"``               dates and times as the caller states them, for ``strptime``
``"category"``, ``"bag"``    no text at all: the type of the column says what it is
===========================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import fields
from deciban.kernels.dictionary import Dictionary
from deciban.sources.columns import Booleans, Column, Integers, Mask, Numbers, Strings, Times

__all__ = [
    "AFFIXES",
    "BAG",
    "CATEGORY",
    "DATE_KINDS",
    "NUMBER_KINDS",
    "TEXT",
    "Format",
    "has_misfits",
    "iso_unit",
    "parse",
]

#: Kinds of fields are bits, so that a set of possible kinds is a number; text is none of them.
TEXT_KIND = 0
#: A number by its decimal sign and by what sets its thousands apart, and how that is said.
NUMBER_KINDS = {
    fields.POINT: ("1234.5", "numbers"),
    fields.POINT_COMMA: ("1,234.5", "numbers with thousands separated by commas"),
    fields.POINT_SPACE: ("1 234.5", "numbers with thousands separated by spaces"),
    fields.POINT_QUOTE: ("1'234.5", "numbers with thousands separated by apostrophes"),
    fields.COMMA: ("1234,5", "numbers with decimal comma"),
    fields.COMMA_POINT: ("1.234,5", "numbers with decimal comma, thousands separated by points"),
    fields.COMMA_SPACE: ("1 234,5", "numbers with decimal comma, thousands separated by spaces"),
    fields.COMMA_QUOTE: (
        "1'234,5",
        "numbers with decimal comma, thousands separated by apostrophes",
    ),
}
#: The order of the parts of a date, and how that is said; with a time of day it is twice the kind.
DATE_KINDS = {
    fields.YEAR_FIRST: ("year first", "a date, the year first"),
    fields.DAY_FIRST: ("day first", "a date, the day first"),
    fields.MONTH_FIRST: ("month first", "a date, the month first"),
}
_WITH_TIME = " with time"
#: Signs of percent, and of currencies, that may stand before or behind a number.
PERCENTS = ("%", "‰", "％")
CURRENCIES = (
    "$", "€", "£", "¥", "￥", "₩", "₹", "₽", "₺", "₴", "₫", "฿", "₪", "₱", "₦", "₿", "¢",
    "元", "円", "원",
    "R$", "US$", "zł", "Kč", "Ft", "kr", "kr.", "Fr.", "CHF", "USD", "EUR", "GBP", "JPY", "CNY",
    "RMB", "INR", "AUD", "CAD", "KRW", "RUB", "BRL", "SEK", "NOK", "DKK", "PLN", "Rs", "Rs.",
)  # fmt: skip
AFFIXES = [affix.encode() for affix in (*PERCENTS, *CURRENCIES)]
_PLAIN_KINDS: dict[str, int] = {"": fields.NUMBER, "number": fields.NUMBER}
_NUMBERS_BY_EXAMPLE = {example: kind for kind, (example, _) in NUMBER_KINDS.items()}
_DATES_BY_NAME = {
    name + ending: kind * (2 if ending else 1)
    for kind, (name, _) in DATE_KINDS.items()
    for ending in ("", _WITH_TIME)
}
#: The formats that say no more than what a column is.
PLAIN_FORMATS = frozenset({"", "text", "category", "bag"})
_PLAIN_OR_TEXT = {TEXT_KIND, fields.NUMBER}
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Format:
    """How a column is written: what a model keeps of it, and what is said about it.

    >>> Format("1.234,5 €").describe(), Format("day first").describe()
    ('numbers with decimal comma, thousands separated by points, in €', 'a date, the day first')
    """

    name: str
    #: What else is to be said, such as that the fields could be read in another way.
    note: str = ""

    @staticmethod
    def of_kind(kind: int, affix: str = "", note: str = "") -> Format:
        """The format of a kind of fields that is not plain.

        >>> Format.of_kind(fields.COMMA, "%").name
        '1234,5 %'
        """
        if kind in NUMBER_KINDS:
            return Format(f"{NUMBER_KINDS[kind][0]} {affix}".strip(), note)
        name = next(name for name, known in _DATES_BY_NAME.items() if known == kind)
        return Format(name, note)

    @cached_property
    def affix(self) -> str:
        """The sign of currency or of percent; empty where there is none."""
        example, _, affix = self.name.rpartition(" ")
        return affix if example in _NUMBERS_BY_EXAMPLE else ""

    @cached_property
    def kind(self) -> int:
        """The bit of the kind of its fields; none for texts and for stated patterns."""
        if self.name in _PLAIN_KINDS:
            return _PLAIN_KINDS[self.name]
        if self.name in _DATES_BY_NAME:
            return _DATES_BY_NAME[self.name]
        example = self.name.removesuffix(self.affix).rstrip() if self.affix else self.name
        return _NUMBERS_BY_EXAMPLE.get(example, TEXT_KIND)

    @cached_property
    def with_thousands(self) -> list[Format]:
        """The format in which thousands are set apart as well, where no field of training did it.

        >>> Format("1234,5 €").with_thousands
        [Format(name='1.234,5 €', note='')]
        """
        kind = {fields.COMMA: fields.COMMA_POINT, fields.POINT: fields.POINT_COMMA}.get(self.kind)
        return [] if kind is None else [Format.of_kind(kind, self.affix)]

    @property
    def is_pattern(self) -> bool:
        """Whether it is a pattern of ``strptime``."""
        return "%" in self.name and self.kind == TEXT_KIND

    @property
    def is_known(self) -> bool:
        """Whether it is a format at all."""
        plain = self.name in PLAIN_FORMATS
        return plain or bool(self.kind) or self.is_pattern or bool(self.encoding)

    @property
    def encoding(self) -> str:
        """The encoding that a column of text was in, if it was not UTF-8."""
        return self.name.removeprefix("text ") if self.name.startswith("text ") else ""

    def describe(self) -> str:
        """What to say about a column of this format; empty for what is plain."""
        if self.name in _DATES_BY_NAME:
            kind, time = self.kind, self.name.endswith(_WITH_TIME)
            known = DATE_KINDS[kind // 2 if time else kind][1]
            text = known.replace("a date", "a timestamp") if time else known
        elif self.is_pattern:
            text = f"a {_unit(self.name)}, {self.name}"
        elif self.kind in NUMBER_KINDS:
            text = NUMBER_KINDS[self.kind][1] + (
                "" if not self.affix else ", in percent" if self.affix in PERCENTS[::2]
                else f", in {self.affix}"
            )  # fmt: skip
        elif self.name == "number" and self.note:
            text = "numbers"
        else:
            return self.note
        return f"{text}; {self.note}" if self.note else text


TEXT, CATEGORY, BAG = Format("text"), Format("category"), Format("bag")


def parse(column: Strings, form: Format, missing: Mask | None = None) -> Column:
    """A column of texts as the numbers or times that it is written as; texts as they are.

    A field of another form is missing: :func:`has_misfits` says whether there is one.
    ``missing`` are the fields that mean no value, if more than those of the column.

    >>> from deciban.kernels.texts import utf8
    >>> parse(Strings(*utf8(["1.234,5 €", None])), Format("1.234,5 €")).tolist()
    [1234.5, None]
    >>> parse(Strings(*utf8(["31.12.2024"])), Format("day first")).tolist()
    ['2024-12-31']
    """
    gaps = column.missing if missing is None else missing
    if form.is_pattern:
        return _by_pattern(column, gaps, form.name)
    return _parse(column, form.kind, form.affix, gaps)


def parse_plain(columns: Mapping[str, tuple[Strings, int, Mask]]) -> dict[str, Column]:
    """Columns of texts as values of the plain kinds of their fields, some of which are missing."""
    parts = columns.items()
    return {name: _parse(column, kind, "", missing) for name, (column, kind, missing) in parts}


def _parse(column: Strings, kind: int, affix: str, missing: Mask) -> Column:
    """A column of texts as values of a kind of fields."""
    where = column.offsets, column.data, missing
    if kind == TEXT_KIND:
        return Strings(*where)
    if kind == fields.NUMBER:
        return Numbers(fields.numbers(*where))
    if kind in NUMBER_KINDS:
        return Numbers(fields.written_numbers(*where, kind, [affix.encode()] if affix else []))
    values, missing = fields.whole(*where, kind)
    if kind == fields.BOOLEAN:
        return Booleans(values.astype(np.bool_), missing)
    if kind == fields.INTEGER:
        return Integers(values, missing)
    if kind == fields.CLOCK:
        return Times(values, missing, "time")
    is_date = kind == fields.DATE or kind in DATE_KINDS
    return Times(values, missing, "date" if is_date else "timestamp")


def iso_unit(parts: Sequence[Strings]) -> Literal["", "date", "timestamp", "time"]:
    """What the texts of a column are, if all of them are times in ISO form; otherwise "".

    >>> from deciban.kernels.texts import utf8
    >>> iso_unit([Strings(*utf8(["2025-06-21", None]))]), iso_unit([Strings(*utf8(["0930"]))])
    ('date', '')
    """
    possible = fields.DATE | fields.MOMENT | fields.CLOCK
    for part in parts:
        possible, _ = fields.kinds(part.offsets, part.data, part.missing, possible, [])
    if possible & fields.DATE:
        return "date"
    return "timestamp" if possible & fields.MOMENT else "time" if possible & fields.CLOCK else ""


def has_misfits(column: Strings, parsed: Column, missing: Mask) -> bool:
    """Whether some field of a column was lost when it was parsed: it is written in another way."""
    rows = np.flatnonzero(parsed.missing & ~missing).tolist()
    return not all(_is_nan(column, row) for row in rows)


def _is_nan(column: Strings, row: int) -> bool:
    """Whether a field is the word for a number that is none."""
    text = column.slice(row, row + 1).tolist()[0] or ""
    return text.strip().lstrip("+-").lower() == "nan"


# ---------------------------------------------------------------------- patterns of strptime


def matches_pattern(column: Strings, missing: Mask, pattern: str) -> bool:
    """Whether all fields are dates or times of a pattern."""
    return bool((_by_pattern(column, missing, pattern).missing == missing).all())


def _by_pattern(column: Strings, missing: Mask, pattern: str) -> Times:
    """Times by a pattern; each different field is read once."""
    table = Dictionary()
    codes = table.encode(column.offsets, column.data, missing)
    moments = [_moment(text.strip(), pattern) for text in table.labels()]
    values: NDArray[np.int64] = np.array([*(m or 0 for m in moments), 0], dtype=np.int64)
    gaps = np.array([*(m is None for m in moments), True])
    unit = _unit(pattern)
    if unit == "time":
        values %= 86_400_000_000
    return Times(values[codes], gaps[codes], unit)


def _moment(text: str, pattern: str) -> int | None:
    """Microseconds since 1970; None where the text is of another form."""
    try:
        moment = datetime.strptime(text, pattern)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def _unit(pattern: str) -> Literal["date", "timestamp", "time"]:
    directives = {pattern[i + 1] for i in range(len(pattern) - 1) if pattern[i] == "%"}
    if not directives & set("HIMSfXcp"):
        return "date"
    return "timestamp" if directives & set("dmyYbBjUWcxGuV") else "time"


def typed_types(types: Mapping[str, str]) -> dict[str, str]:
    """What of some formats holds in files whose values have types: not how numbers are written.

    >>> typed_types({"price": "1.234,5 €", "day": "day first", "code": "text"})
    {'code': 'text'}
    """
    plain = {name: form for name, form in types.items() if not Format(form).is_pattern}
    return {name: form for name, form in plain.items() if Format(form).kind in _PLAIN_OR_TEXT}


def text_types(formats: Mapping[str, str]) -> dict[str, str]:
    """Of the formats of some columns, those that say how a file's fields are to be read."""
    return {name: form for name, form in formats.items() if form not in ("", "category", "bag")}
