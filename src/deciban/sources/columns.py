"""Columns: a few small immutable types that every source is turned into.

Conventions
-----------
- ``missing`` is one boolean a row, True where there is no value; what the
  values hold there is of no meaning. Numbers have NaN instead.
- Arrays may be views of memory that the producer owns: read, never write.
- A column of one source has the same type in every batch.
- ``slice`` gives a view, ``take`` a copy of some rows; ``with_values`` a column of
  the same type with other values. ``tolist`` gives Python values, None where missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Array
from deciban.sources.tabular import Value
from deciban.sources.text_columns import (
    CodedTexts,
    Mask,
    Mixed,
    RowNumbers,
    Strings,
    TextCodes,
    TextList,
    mask,
)

__all__ = [
    "Booleans",
    "CodedTexts",
    "Column",
    "Integers",
    "Mask",
    "Mixed",
    "Numbers",
    "Strings",
    "TextCodes",
    "TextList",
    "Times",
    "concatenate",
    "decode_dictionary",
    "missing_column",
    "python_rows",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Quantities: float64, NaN where missing. ``whole``: the type they came in has no fractions.

    >>> Numbers(np.array([1.5, np.nan])).tolist()
    [1.5, None]
    """

    values: NDArray[np.float64]
    whole: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> Mask:
        """True where there is no number."""
        return np.isnan(self.values)

    def with_values(self, values: Array, missing: Mask) -> Numbers:
        """Other numbers; NaN where missing."""
        return Numbers(np.where(missing, np.nan, values), self.whole)

    def slice(self, start: int, stop: int) -> Numbers:
        """Rows ``start .. stop``, as a view."""
        return Numbers(self.values[start:stop], self.whole)

    def take(self, rows: RowNumbers) -> Numbers:
        """Some rows, copied."""
        return Numbers(self.values[rows], self.whole)

    def tolist(self) -> list[float | None]:
        """Python values, None where missing."""
        return [None if value != value else value for value in self.values.tolist()]


@dataclass(frozen=True, eq=False)
class _Masked:
    """Values of a fixed width, and a mask of those that are missing."""

    values: Array
    missing: Mask

    def __len__(self) -> int:
        return len(self.values)

    def with_values(self, values: Array, missing: Mask) -> Self:
        """Other values of the same type."""
        return replace(self, values=values, missing=missing)

    def slice(self, start: int, stop: int) -> Self:
        """Rows ``start .. stop``, as a view."""
        return self.with_values(self.values[start:stop], self.missing[start:stop])

    def take(self, rows: RowNumbers) -> Self:
        """Some rows, copied."""
        return self.with_values(self.values[rows], self.missing[rows])

    def tolist(self) -> list[Value]:
        """Python values, None where missing."""
        return mask(self.values.tolist(), self.missing)


@dataclass(frozen=True, eq=False)
class Integers(_Masked):
    """Exact whole numbers, int64, that may turn out to be quantities or names of categories.

    >>> column = Integers(np.array([7, 0]), np.array([False, True]))
    >>> column.tolist(), column.numbers().tolist()
    ([7, None], [7.0, None])
    """

    values: NDArray[np.int64]

    def numbers(self) -> Numbers:
        """As quantities; beyond 2**53 they are rounded."""
        out = self.values.astype(np.float64)
        out[self.missing] = np.nan
        return Numbers(out, whole=True)


@dataclass(frozen=True, eq=False)
class Booleans(_Masked):
    """True, false or missing.

    >>> Booleans(np.array([True, False]), np.array([False, True])).tolist()
    [True, None]
    """

    values: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Times(_Masked):
    """Microseconds since 1970-01-01 UTC, or since midnight for the time of a day; int64.

    ``unit`` says what they were: a ``"date"``, a ``"timestamp"`` or a
    ``"time"``. A time without a zone is taken as it stands; what is finer than
    a microsecond is cut off.

    >>> Times(np.array([86_400_000_000]), np.array([False]), "date").tolist()
    ['1970-01-02']
    """

    values: NDArray[np.int64]
    unit: Literal["date", "timestamp", "time"]

    def tolist(self) -> list[str | None]:
        """ISO 8601 text, None where missing."""
        return mask([_iso(value, self.unit) for value in self.values.tolist()], self.missing)


Column = Numbers | Integers | Booleans | Strings | Times


def take_rows(columns: Mapping[str, Column], rows: NDArray[np.intp]) -> dict[str, Column]:
    """Some rows of each of some columns, copied."""
    return {name: column.take(rows) for name, column in columns.items()}


def concatenate(columns: Sequence[Column]) -> Column:
    """Columns of one type, one after the other; one without any value is of any type.

    >>> concatenate([Numbers(np.array([1.0])), Numbers(np.array([2.0]))]).tolist()
    [1.0, 2.0]
    >>> concatenate([Numbers(np.array([np.nan])), Booleans(np.array([True]), np.zeros(1, bool))])
    Booleans(values=array([False,  True]), missing=array([ True, False]))
    """
    first = columns[0]
    if len(columns) == 1:
        return first
    if len({type(column) for column in columns}) > 1:
        first = next((column for column in columns if not column.missing.all()), first)
        columns = [
            column if type(column) is type(first) or not column.missing.all()
            else missing_column(first, len(column))
            for column in columns
        ]  # fmt: skip
    lists = [column.texts for column in columns if isinstance(column, TextList)]
    if len(lists) == len(columns):
        return TextList([text for some in lists for text in some])
    values_of_mixed = [column.values for column in columns if isinstance(column, Mixed)]
    missing = np.concatenate([column.missing for column in columns])
    if isinstance(first, Strings):
        strings = [column for column in columns if isinstance(column, Strings)]
        sizes = np.concatenate([np.diff(column.offsets) for column in strings])
        data = [column.data[column.offsets[0] : column.offsets[-1]] for column in strings]
        joined = Strings(_offsets(sizes), np.concatenate(data), missing)
        if len(values_of_mixed) < len(columns):
            return joined
        values_of_all = [value for some in values_of_mixed for value in some]
        return Mixed(joined.offsets, joined.data, joined.missing, values_of_all)
    values = [column.values for column in columns if not isinstance(column, Strings)]
    return first.with_values(np.concatenate(values), missing)


def python_rows(columns: Sequence[Column]) -> list[list[Value]]:
    """The values of every row in the order of the columns, None where missing.

    >>> python_rows([Numbers(np.array([1.0, 2.0])), Numbers(np.array([0.5, np.nan]))])
    [[1.0, 0.5], [2.0, None]]
    """
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def missing_column(like: Column, n_rows: int) -> Column:
    """A column of the same type in which every value is missing."""
    missing = np.ones(n_rows, dtype=bool)
    if isinstance(like, Strings):
        return Strings(np.zeros(n_rows + 1, np.int64), np.empty(0, np.uint8), missing)
    return like.with_values(np.zeros(n_rows, like.values.dtype), missing)


def decode_dictionary(values: Column, codes: NDArray[np.integer[Any]]) -> Column:
    """The value of each code, which is its position among ``values``; missing where it is below 0.

    >>> decode_dictionary(Numbers(np.array([0.5, 2.5])), np.array([1, -1])).tolist()
    [2.5, None]
    """
    if int(codes.max(initial=0)) >= max(len(values), 1):
        raise IndexError(f"code {codes.max()} of a dictionary of {len(values)} values")
    if len(values) == 0 and not isinstance(values, Strings):
        return missing_column(values, len(codes))
    gaps = np.append(values.missing, True)
    codes = codes if codes.dtype.kind == "u" else np.maximum(codes, -1)
    if len(gaps) == 1 or gaps[:-1].any():
        codes = np.where(gaps[codes], -1, codes.astype(np.int64))
    if isinstance(values, Strings):
        if codes.dtype == np.uint8:
            return CodedTexts(values, codes.astype(np.uint8, copy=False))
        return CodedTexts(values, codes.astype(np.int32, copy=False))
    return values.with_values(values.values[codes], codes < 0)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _iso(microseconds: int, unit: str) -> str:
    """ISO 8601, or the bare number where it is out of the calendar's range."""
    try:
        moment = (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    except OverflowError:
        return str(microseconds)
    if unit == "date":
        return moment.date().isoformat()
    return moment.time().isoformat() if unit == "time" else moment.isoformat(sep=" ")
