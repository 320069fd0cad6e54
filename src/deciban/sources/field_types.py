"""Types for fields that were written as text, in CSV and JSON.

A column's type depends on all its fields and on nothing else: it is the most specific one that
every field has; see :mod:`deciban.sources.formats` for numbers and dates that are not written
plainly. The first rows rule out most columns of text; the others are looked at to the end before
the first batch is given out. So a file is read twice, and a stray word in row fifty thousand
makes the column text instead of stopping the reader; a warning names such words.

What stays ambiguous is decided by the other columns of the file: where one has a decimal comma,
``1.234`` is a thousand and some. If they do not tell, ``1.234`` has three decimals, ``1,234`` is
a thousand and some (in a file with semicolons, three decimals), ``01/02/2024`` begins with the
month, and ``01.02.2024`` and ``01-02-2024`` with the day.

In a column whose other fields are all numbers, truth values or times, the usual markers of holes
are missing, such as "NA", "-" or "?". In a column of text only an empty field is, and what is no
word at all, such as "#N/A": there "NA" may be a name and "?" a message. Markers that the caller
states hold for every column.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from deciban.errors import DataWarning, InputError
from deciban.kernels import fields
from deciban.kernels.texts import utf8
from deciban.sources import formats
from deciban.sources.batch import Batch, FieldBatch
from deciban.sources.columns import Column, Mask, Strings
from deciban.sources.formats import AFFIXES, DATE_KINDS, NUMBER_KINDS, PERCENTS, TEXT_KIND, Format
from deciban.sources.lists import join_items
from deciban.sources.options import ReadOptions

__all__ = ["FieldTypes", "TextReader", "infer"]

#: The plain kinds, from the most specific to the least.
_PLAIN = (
    fields.BOOLEAN,
    fields.INTEGER,
    fields.NUMBER,
    fields.DATE,
    fields.MOMENT,
    fields.CLOCK,
)
_WRITTEN_DATES = tuple(kind * k for kind in DATE_KINDS for k in (1, 2))
_DATES = fields.DATE | fields.MOMENT | sum(_WRITTEN_DATES)
_DAYS = fields.DAY_FIRST_MOMENT | fields.MONTH_FIRST_MOMENT
_POINTS = fields.POINT | fields.POINT_COMMA | fields.POINT_SPACE | fields.POINT_QUOTE
_COMMAS = fields.COMMA | fields.COMMA_POINT | fields.COMMA_SPACE | fields.COMMA_QUOTE
_NUMBERS = fields.INTEGER | fields.NUMBER | _POINTS | _COMMAS
#: Numbers that are not plain, the likeliest first, where several are possible.
_WRITTEN_NUMBERS = (
    fields.POINT, fields.POINT_COMMA, fields.COMMA, fields.COMMA_POINT, fields.POINT_SPACE,
    fields.COMMA_SPACE, fields.POINT_QUOTE, fields.COMMA_QUOTE,
)  # fmt: skip
_ANY = sum(_PLAIN) | _DATES | _NUMBERS
_ANY_IN_JSON = sum(_PLAIN) | _DATES | fields.LIST
#: So many rows are looked at first: most columns of text show there that they are.
_SAMPLE_ROWS = 2048
#: A column with no larger share of fields that are no numbers is nearly all numbers.
MAX_ODD_SHARE = 0.05
#: No more different odd fields than this are remembered, and named.
MAX_ODD_FIELDS, NAMED_ODD_FIELDS = 100, 5

#: Reads some columns as text: their names, and how many rows (None: all).
TextReader = Callable[[Sequence[str], int | None], Iterator[Batch]]


class FieldTypes:
    """The types of all columns: batches of text become batches of values.

    ``kinds`` are the kinds of fields, ``formats`` the formats of those that are not plain.
    """

    def __init__(
        self, kinds: Mapping[str, int], formats: Mapping[str, Format], options: ReadOptions
    ) -> None:
        self.kinds, self.formats, self._options = kinds, formats, options

    def convert(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches of text as the types that their columns have."""
        for batch in batches:
            columns = {name: cast("Strings", column) for name, column in batch.columns.items()}
            typed = self._convert(columns)
            if self._options.kept == ():
                yield Batch(batch.n_rows, typed)
                continue
            kept = {name: columns[name] for name in self._options.keeps(columns)}
            yield FieldBatch(batch.n_rows, typed, fields=kept)

    def _convert(self, columns: Mapping[str, Strings]) -> dict[str, Column]:
        """Columns of text as what they are: those that are written plainly, and the others."""
        markers, kinds = self._options.markers.elsewhere, self.kinds
        plain = {
            name: (column, kinds[name], _gaps(column, markers))
            for name, column in columns.items()
            if kinds[name] != TEXT_KIND and name not in self.formats
        }
        typed = formats.parse_plain(plain) if plain else {}
        return {
            name: typed[name] if name in typed else self._convert_written(name, column)
            for name, column in columns.items()
        }

    def _convert_written(self, name: str, column: Strings) -> Column:
        """A column of text, or of a format; text, where that is stated and not all of it."""
        form = self.formats.get(name)
        if form is None or (self.kinds[name] == TEXT_KIND and not form.is_pattern):
            return self._text(column, bag=form == formats.BAG)
        missing = _gaps(column, self._options.markers.elsewhere)
        values = formats.parse(column, form, missing)
        misfit = name in self._options.types and formats.has_misfits(column, values, missing)
        return self._text(column) if misfit else values

    def _text(self, column: Strings, *, bag: bool = False) -> Strings:
        """A column of text as it is, or its lists as bags of words."""
        if self._options.trim:
            trimmed = fields.trim_fields(column.offsets, column.data, column.missing)
            column = column if trimmed is None else Strings(*trimmed)
        if bag:
            return _read_lists(column)
        missing = _gaps(column, self._options.markers.in_text)
        return Strings(column.offsets, column.data, missing)


def _read_lists(column: Strings) -> Strings:
    """Lists of JSON, each as a text of its items."""
    lists = [None if text is None else json.loads(text) for text in column.tolist()]
    return Strings(*utf8([None if items is None else join_items(items) for items in lists]))


def _gaps(column: Strings, markers: list[bytes]) -> Mask:
    if not markers:
        return column.missing
    return fields.mark_missing(column.offsets, column.data, column.missing, markers)


def infer(
    names: Sequence[str],
    read: TextReader,
    options: ReadOptions,
    *,
    commas: bool = False,
    in_json: bool = False,
) -> FieldTypes:
    """The type of every column: as stated, or from all its fields.

    ``commas``: whether the file is of a kind that mostly has decimal commas; ``in_json``: whether
    fields are values of JSON, which have types of their own, but that texts may be times.
    """
    stated = _stated(names, options)
    surveys = {n: _Survey(n, options, in_json) for n in names if n not in stated}
    n_rows = _survey(surveys, read, None if in_json else _SAMPLE_ROWS)
    if n_rows == _SAMPLE_ROWS and not in_json:
        open_ones = {n: _Survey(n, options) for n, survey in surveys.items() if survey.is_open}
        _survey(open_ones, read, None)
        surveys |= open_ones
    comma, day = _customs(surveys.values())
    kinds = {name: form.kind for name, form in stated.items()}
    written = {name: form for name, form in stated.items() if form.name != "text"}
    for name, survey in surveys.items():
        survey.warn()
        kinds[name], form = survey.settle(comma, day, commas)
        if form is not None:
            written[name] = form
    return FieldTypes(kinds, written, options)


def _stated(names: Sequence[str], options: ReadOptions) -> dict[str, Format]:
    """The formats that are known; numbers and dates whose way of writing is stated are not."""
    known = {n: Format(options.types[n]) for n in names if n in options.types}
    numbers = options.decimal is not None or options.thousands is not None
    return {
        name: form
        for name, form in known.items()
        if not (numbers and (form.kind in NUMBER_KINDS or form.kind == fields.NUMBER))
        and not (options.date_format and (form.is_pattern or form.kind in _WRITTEN_DATES))
    }


def _survey(surveys: Mapping[str, _Survey], read: TextReader, limit: int | None) -> int:
    """Show the fields of columns to their surveys; the number of rows."""
    n_rows = 0
    for batch in read(list(surveys), limit) if surveys else ():
        n_rows += batch.n_rows
        for name, column in batch.columns.items():
            surveys[name].add(cast("Strings", column))
    return n_rows


class _Survey:
    """What a column can be, by the fields seen so far."""

    def __init__(self, name: str, options: ReadOptions, in_json: bool = False) -> None:
        self._name, self._in_json = name, in_json
        self._markers = [b"null"] if in_json else options.markers.elsewhere
        self._pattern = None if in_json else options.date_format
        self.possible, self._affixes = _ANY_IN_JSON if in_json else _possible(options), 0
        self._n_fields, self._slashes = 0, True
        self._odd: dict[str, Counter[str] | None] = {"numbers": Counter(), "dates": Counter()}

    def add(self, column: Strings) -> None:
        """Some more fields."""
        missing = _gaps(column, self._markers)
        n_known = len(missing) - int(np.count_nonzero(missing))
        self._n_fields += n_known
        if self._pattern and not formats.matches_pattern(column, missing, self._pattern):
            self._pattern = None
        where = column.offsets, column.data, missing
        if self._in_json:
            self.possible = fields.kinds_in_json(*where, self.possible)
            _refuse_nested(self._name, self.possible)
        else:
            self.possible, affixes = fields.kinds(*where, self.possible, AFFIXES)
            self._affixes |= affixes
        if self.possible & _DAYS == _DAYS and n_known:  # what dates begin with is still open
            some = column.data[column.offsets[0] : column.offsets[-1]]
            self._slashes &= b"/" in some.tobytes()
        if self.possible == TEXT_KIND and not self._in_json:
            self._count_odd("numbers", _NUMBERS, column, missing)
            self._count_odd("dates", _DATES, column, missing)

    def _count_odd(self, what: str, kinds: int, column: Strings, missing: Mask) -> None:
        """Count the fields that are of none of some kinds, until they are too many."""
        odd = self._odd[what]
        if odd is None:
            return
        rows = fields.odd(column.offsets, column.data, missing, kinds, AFFIXES)
        if odd.total() + len(rows) > MAX_ODD_SHARE * self._n_fields:
            self._odd[what] = None
            return
        odd.update(str(text).strip() for text in column.take(rows).tolist())
        if len(odd) > MAX_ODD_FIELDS:
            self._odd[what] = None

    @property
    def is_open(self) -> bool:
        """Whether more fields would say more."""
        nearly = any(odd is not None for odd in self._odd.values())
        return bool(self.possible or self._pattern or nearly)

    def warn(self) -> None:
        """Name the few fields because of which a column is no column of numbers or dates."""
        if self._in_json or self._pattern or not self._n_fields or self._is_consistent:
            return
        for what, odd in self._odd.items():
            if odd is None:
                continue
            some = ", ".join(repr(text)[:42] for text, _ in odd.most_common(NAMED_ODD_FIELDS))
            more = ", ..." if len(odd) > NAMED_ODD_FIELDS else ""
            reason = (
                f"{odd.total():,} of {self._n_fields:,} fields are not: {some}{more}"
                if odd
                else "they are written in different ways, or not as stated"
            )
            hint = (
                f"if they mean no value, pass na=[{some}] (--na)"
                if odd
                else "write them alike, or state how with decimal, thousands or date_format"
            )
            warnings.warn(
                f"column {self._name!r} is nearly all {what}, but is read as text: {reason}. "
                f"Hint: {hint}.",
                DataWarning,
                stacklevel=2,
            )
            return

    @property
    def _is_consistent(self) -> bool:
        """Whether all fields have a kind, and one sign of currency or percent if any."""
        if not self.possible:
            return False
        if self.possible & sum(_PLAIN) or self.possible & _DATES:
            return True
        return self._affix() is not None

    def _affix(self) -> str | None:
        """The sign beside the numbers, maybe none; None if there are several."""
        bare, seen = self._affixes & 1, self._affixes >> 1
        signs = [affix.decode() for i, affix in enumerate(AFFIXES) if seen >> i & 1]
        if len(signs) > 1 or (bare and signs and signs[0] in PERCENTS):
            return None
        return signs[0] if signs else ""

    @property
    def comma(self) -> bool | None:
        """Whether numbers surely have a decimal comma, or surely a point; None if that is open."""
        numbers = self.possible & (fields.NUMBER | _POINTS | _COMMAS)
        if not self._n_fields or not numbers or self.possible & fields.INTEGER:
            return None
        if not numbers & _COMMAS:
            return False
        return None if numbers & (fields.NUMBER | _POINTS) else True

    @property
    def day_first(self) -> bool | None:
        """Whether dates surely begin with the day, or surely with the month; None if open."""
        days = self.possible & _DAYS
        return {fields.DAY_FIRST_MOMENT: True, fields.MONTH_FIRST_MOMENT: False}.get(days)

    def settle(self, comma: bool, day: bool | None, commas: bool) -> tuple[int, Format | None]:
        """The kind of the column, and its format if it is not plain.

        ``comma``: whether other columns have a decimal comma and none a decimal point;
        ``day``: whether dates of other columns begin with the day; ``commas`` as in :func:`infer`.
        """
        if self._pattern and self._n_fields:
            return TEXT_KIND, Format(self._pattern)
        if not self._n_fields:
            return fields.NUMBER, None
        plain = next((kind for kind in _PLAIN if kind & self.possible), TEXT_KIND)
        if plain == fields.NUMBER and self.possible & fields.COMMA_POINT:
            return _settle_points(comma)
        if plain:
            return plain, None
        if self.possible & fields.LIST:
            return TEXT_KIND, formats.BAG
        if self.possible & _DATES:
            return self._settle_date(day)
        affix = self._affix()
        if not self.possible or affix is None:
            return TEXT_KIND, None
        return self._settle_number(affix, comma, commas)

    def _settle_date(self, day: bool | None) -> tuple[int, Format]:
        kinds, note = [kind for kind in _WRITTEN_DATES if kind & self.possible], ""
        if self.day_first is None and self.possible & fields.DAY_FIRST_MOMENT:
            first = not self._slashes if day is None else day
            days = (fields.DAY_FIRST, fields.DAY_FIRST_MOMENT)
            kinds = [kind for kind in kinds if (kind in days) == first]
            if day is None:
                other = "%m/%d/%Y" if first else "%d/%m/%Y"
                note = f"no field tells day from month: state date_format={other!r} if it is so"
        return kinds[0], Format.of_kind(kinds[0], note=note)

    def _settle_number(self, affix: str, comma: bool, commas: bool) -> tuple[int, Format]:
        kind, note = next(kind for kind in _WRITTEN_NUMBERS if kind & self.possible), ""
        if kind == fields.POINT_COMMA and self.possible & fields.COMMA:
            kind = fields.COMMA if comma or commas else kind
            if not comma:
                sign, other = (".", "thousands") if kind == fields.COMMA else (",", "decimals")
                note = f"no field tells them from {other}: state decimal={sign!r} if they are"
        return kind, Format.of_kind(kind, affix, note)


def _settle_points(comma: bool) -> tuple[int, Format]:
    """Numbers like 1.234 alone: three decimals, or thousands."""
    if comma:
        note = "as the other columns have a decimal comma"
        return fields.COMMA_POINT, Format.of_kind(fields.COMMA_POINT, note=note)
    note = "no field tells decimals from thousands: state thousands='.' if they are"
    return fields.NUMBER, Format("number", note)


def _possible(options: ReadOptions) -> int:
    """The kinds that may be, by what is stated about numbers."""
    possible = _ANY
    if options.decimal == ",":
        possible &= ~(fields.NUMBER | _POINTS)
    elif options.decimal == ".":
        possible &= ~_COMMAS
    if options.thousands is not None:
        for kind, (example, _) in NUMBER_KINDS.items():
            decimal, sign = example[-2], example[1] if len(example) == 7 else ""
            if sign not in ("", options.thousands) or decimal == options.thousands:
                possible &= ~kind
        if options.thousands == ".":
            possible &= ~fields.NUMBER
    return possible


def _customs(surveys: Iterable[_Survey]) -> tuple[bool, bool | None]:
    """Whether the columns that are sure have decimal commas, and how their dates begin."""
    some = list(surveys)
    commas = {survey.comma for survey in some} - {None}
    days = {survey.day_first for survey in some} - {None}
    return commas == {True}, days.pop() if len(days) == 1 else None


def _refuse_nested(name: str, kinds: int) -> None:
    if kinds & fields.NESTED:
        raise InputError(
            f"column {name!r} has objects or lists in it, which cannot be counted.",
            hint="leave the column out, or turn it into text, numbers or several columns; "
            "lists of texts alone are bags of words",
        )
