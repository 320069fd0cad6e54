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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from deciban.errors import InputError
from deciban.kernels import fields
from deciban.source.columns import Batch, Booleans, Column, Integers, Numbers, Strings, Times

__all__ = ["Markers", "settled", "typed"]

ANY = fields.BOOLEAN | fields.INTEGER | fields.NUMBER | fields.DATE | fields.MOMENT | fields.CLOCK
TEXT = 0
_SAMPLE = 2048
_USUAL = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")

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
            return Markers([], [marker.encode() for marker in _USUAL])
        stated = [marker.strip().encode() for marker in missing]
        return Markers(stated, [*stated, b""])


def settled(
    names: Sequence[str], read: TextReader, markers: Markers, *, json: bool = False
) -> dict[str, int]:
    """The kind of every column, from all its fields."""
    kinds = dict.fromkeys(names, ANY)
    for limit in (None,) if json else (_SAMPLE, None):
        candidates = [name for name in names if kinds[name] != TEXT]
        for batch in read(candidates, limit) if candidates else ():
            for name, column in batch.columns.items():
                kinds[name] = _narrowed(name, cast("Strings", column), kinds[name], markers, json)
    return {name: _choice(kind) for name, kind in kinds.items()}


def _narrowed(name: str, column: Strings, possible: int, markers: Markers, json: bool) -> int:
    if possible == TEXT and not json:
        return TEXT
    marks = [b"null"] if json else markers.elsewhere
    missing = fields.marked(column.offsets, column.data, column.missing, marks)
    kinds = fields.kinds(column.offsets, column.data, missing, possible, json)
    if kinds & fields.NESTED:
        raise InputError(
            f"column {name!r} has objects or lists in it, which cannot be counted.",
            hint="leave the column out, or turn it into text, numbers or several columns",
        )
    return kinds


def _choice(possible: int) -> int:
    """One kind of those that are possible; a column without any value is numbers."""
    if possible == ANY:
        return fields.NUMBER
    order = (
        fields.BOOLEAN,
        fields.INTEGER,
        fields.NUMBER,
        fields.DATE,
        fields.MOMENT,
        fields.CLOCK,
    )
    return next((kind for kind in order if kind & possible), TEXT)


def typed(column: Strings, kind: int, markers: Markers) -> Column:
    """A column of text as what it was found to be."""
    marks = markers.in_text if kind == TEXT else markers.elsewhere
    missing = column.missing
    if marks:
        missing = fields.marked(column.offsets, column.data, missing, marks)
    if kind == TEXT:
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
