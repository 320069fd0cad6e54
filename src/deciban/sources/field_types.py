"""Types for fields that were written as text, in CSV and JSON.

A column's type depends on all its fields and on nothing else: it is the most
specific one that every field has. The first thousand rows rule out most
columns of text; the others are looked at to the end before the first batch is
given out. So a file is read twice, and a stray word in row fifty thousand
makes the column text instead of stopping the reader.

In a column whose other fields are all numbers, truth values or times, the
markers "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?" and
blanks are missing as well. In a column of text only an empty field is: there
"NA" may be a name and "?" a message. Markers that the caller states hold for
every column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from deciban.errors import InputError
from deciban.kernels import fields
from deciban.sources.batch import Batch, FieldBatch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times

__all__ = ["FieldType", "Markers", "ReadOptions", "convert", "infer"]

#: What a caller may state about a column.
FieldType = Literal["text", "number"]

#: Kinds of fields are bits, so that a set of possible kinds is a number; text is none of them.
_TEXT = 0
#: The kinds, from the most specific to the least.
_KINDS = (
    fields.BOOLEAN,
    fields.INTEGER,
    fields.NUMBER,
    fields.DATE,
    fields.MOMENT,
    fields.CLOCK,
)
_ANY = sum(_KINDS)
_STATED = {"text": _TEXT, "number": fields.NUMBER}
#: So many rows are looked at first: most columns of text show there that they are.
_SAMPLE_ROWS = 2048
#: Fields that are missing in columns that otherwise hold no text.
USUAL_MARKERS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")

#: Reads some columns as text: their names, and how many rows (None: all).
TextReader = Callable[[Sequence[str], int | None], Iterator[Batch]]


@dataclass(frozen=True)
class Markers:
    """Fields that mean a missing value: in columns of text, and in all others.

    >>> Markers.of(("?",)).in_text
    [b'?']
    >>> Markers.of(None).in_text
    []
    """

    in_text: list[bytes]
    elsewhere: list[bytes]

    @staticmethod
    def of(missing: Sequence[str] | None) -> Markers:
        """The usual markers, or those that the caller states."""
        if missing is None:
            return Markers([], [marker.encode() for marker in USUAL_MARKERS])
        stated = [marker.strip().encode() for marker in missing]
        return Markers(stated, [*stated, b""])


@dataclass(frozen=True)
class ReadOptions:
    """How files are read: rows a batch, markers of missing values, encoding, stated types.

    ``kept`` are columns whose fields are wanted as they stand in the file; None is all of them.
    """

    rows: int
    missing: Sequence[str] | None
    encoding: str
    types: Mapping[str, FieldType]
    kept: Sequence[str] | None = ()

    def keeps(self, names: Iterable[str]) -> list[str]:
        """Those of some columns whose fields are wanted as they stand."""
        return [name for name in names if self.kept is None or name in self.kept]

    @property
    def markers(self) -> Markers:
        """The fields that mean a missing value."""
        return Markers.of(self.missing)


def infer(
    names: Sequence[str], read: TextReader, options: ReadOptions, *, json: bool = False
) -> dict[str, int]:
    """The kind of every column: as stated, or from all its fields."""
    markers = options.markers
    stated = {name: _STATED[options.types[name]] for name in names if name in options.types}
    possible = dict.fromkeys((name for name in names if name not in stated), _ANY)
    for limit in (None,) if json else (_SAMPLE_ROWS, None):
        candidates = [name for name in possible if possible[name] != _TEXT]
        n_rows = 0
        for batch in read(candidates, limit) if candidates else ():
            n_rows += batch.n_rows
            for name, column in batch.columns.items():
                strings = cast("Strings", column)
                possible[name] = _narrow(name, strings, possible[name], markers, json)
        if limit is not None and n_rows < limit:
            break  # these were all rows
    return stated | {name: _most_specific(kinds) for name, kinds in possible.items()}


def _narrow(name: str, column: Strings, possible: int, markers: Markers, json: bool) -> int:
    """The kinds that are still possible after some more fields."""
    if possible == _TEXT and not json:
        return _TEXT
    marks = [b"null"] if json else markers.elsewhere
    missing = fields.mark_missing(column.offsets, column.data, column.missing, marks)
    kinds = fields.kinds(column.offsets, column.data, missing, possible, json)
    if kinds & fields.NESTED:
        raise InputError(
            f"column {name!r} has objects or lists in it, which cannot be counted.",
            hint="leave the column out, or turn it into text, numbers or several columns",
        )
    return kinds


def _most_specific(possible: int) -> int:
    """One kind of those that are possible; a column without any value is numbers."""
    if possible == _ANY:
        return fields.NUMBER
    return next((kind for kind in _KINDS if kind & possible), _TEXT)


def convert(
    batches: Iterator[Batch], kinds: Mapping[str, int], options: ReadOptions
) -> Iterator[Batch]:
    """Batches of text as the kinds that their columns have."""
    markers = options.markers
    for batch in batches:
        columns = {name: cast("Strings", column) for name, column in batch.columns.items()}
        words = {
            name: _TEXT
            for name in options.types.keys() & columns.keys()
            if not _fits(columns[name], kinds[name], markers)
        }
        here = {**kinds, **words}
        typed = {n: _convert(c, here[n], markers) for n, c in columns.items()}
        kept = {name: columns[name] for name in options.keeps(columns)}
        yield FieldBatch(batch.n_rows, typed, fields=kept) if kept else Batch(batch.n_rows, typed)


def _fits(column: Strings, kind: int, markers: Markers) -> bool:
    """Whether a column has fields of one kind alone; where it is stated and has not, it is text."""
    if kind == _TEXT:
        return True
    missing = fields.mark_missing(column.offsets, column.data, column.missing, markers.elsewhere)
    return bool(fields.kinds(column.offsets, column.data, missing, kind, False) & kind)


def _convert(column: Strings, kind: int, markers: Markers) -> Column:
    """A column of text as what it is."""
    marks = markers.in_text if kind == _TEXT else markers.elsewhere
    missing = column.missing
    if marks:
        missing = fields.mark_missing(column.offsets, column.data, missing, marks)
    if kind == _TEXT:
        return Strings(column.offsets, column.data, missing)
    if kind == fields.NUMBER:
        return Numbers(fields.numbers(column.offsets, column.data, missing))
    values, missing = fields.whole(column.offsets, column.data, missing, kind)
    if kind == fields.BOOLEAN:
        return Booleans(values.astype(np.bool_), missing)
    if kind == fields.INTEGER:
        return Integers(values, missing)
    if kind == fields.CLOCK:
        return Times(values, missing, "time")
    return Times(values, missing, "date" if kind == fields.DATE else "timestamp")
