"""Units: rows that belong together, by a group that each is of, or in order, by its time.

A group is known by a hash of its value as it is written, so that it is the same group in every
batch, file and run. Times are numbers, dates or timestamps, of which only the order matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError
from deciban.labels import Array
from deciban.sources.batch import Batch, UnitKind, Units
from deciban.sources.columns import Column, Strings, concatenate
from deciban.sources.open import scan
from deciban.sources.tabular import UnitsLike, Value

__all__ = ["ARGUMENTS", "AUTO", "UnitSource", "unit_source"]

#: What is stated instead of a column for groups of rows that are copies of each other.
AUTO = "auto"
#: The arguments that state them.
ARGUMENTS = {"group": "groups", "time": "time"}


@dataclass(frozen=True, eq=False)
class UnitSource:
    """Where units come from: a column of the table, or values beside it, one a row.

    The name "auto" of groups stands for what rows hold: copies of each other are one group.
    """

    kind: UnitKind
    name: str | None
    column: Column | None = None
    keys: NDArray[np.uint64] | None = None

    @property
    def is_auto(self) -> bool:
        """Whether rows are grouped that are copies of each other; ``keys`` has the groups then."""
        return self.kind == "group" and self.name == AUTO

    @property
    def beside(self) -> str | None:
        """The column of the table that is no feature, if there is one."""
        return None if self.is_auto else self.name

    def of_rows(self, batch: Batch, start: int, stop: int) -> Units:
        """The units of a batch, whose rows are ``start .. stop`` of the table."""
        if self.keys is not None:
            return Units(self.kind, self.keys[start:stop])
        if self.name is not None:
            return _units(self.kind, batch.columns[self.name], start)
        if self.column is None or len(self.column) < stop:
            raise self._wrong_length(stop, "at least ")
        return _units(self.kind, self.column.slice(start, stop), start)

    def check_length(self, n_rows: int) -> None:
        """One value a row, no more."""
        if self.column is not None and len(self.column) != n_rows:
            raise self._wrong_length(n_rows)

    def _wrong_length(self, n_rows: int, least: str = "") -> ShapeError:
        what, length = ARGUMENTS[self.kind], 0 if self.column is None else len(self.column)
        return ShapeError(
            f"Found input variables with inconsistent numbers of samples: X has {least}{n_rows} "
            f"rows, {what} has {length}.",
            hint=f"give one value of {what} a row, or the name of a column",
        )


def unit_source(groups: UnitsLike = None, time: UnitsLike = None) -> UnitSource | None:
    """What is stated of the units of rows: one of both, or nothing.

    >>> unit_source(groups="patient").name, unit_source(time=[3, 1]).column.tolist()
    ('patient', [3, 1])
    """
    if groups is None and time is None:
        return None
    if groups is not None and time is not None:
        raise ParameterError(
            "rows are left out by groups or by time; got both.",
            hint="groups where rows of one origin are alike, time where the world moves on",
        )
    kind: UnitKind = "time" if groups is None else "group"
    given = time if groups is None else groups
    if isinstance(given, str):
        return UnitSource(kind, given)
    return UnitSource(kind, None, _column(kind, given))


def _column(kind: UnitKind, values: Value) -> Column:
    """Values of any library as a column."""
    what, shape = ARGUMENTS[kind], np.shape(values)
    if len(shape) != 1:
        raise ParameterError(
            f"{what} must be one value a row or the name of a column, got the shape {shape}.",
            hint="an array, a series or a list as long as the table",
        )
    if not shape[0]:
        raise ShapeError(f"{what} has no values.", hint="give one a row")
    return concatenate([batch.columns[what] for batch in scan({what: values})])


def _units(kind: UnitKind, column: Column, start: int) -> Units:
    missing = np.flatnonzero(column.missing)
    if len(missing):
        what = ARGUMENTS[kind]
        raise MissingValueError(
            f"{what} has no value in row {start + int(missing[0])}.",
            hint="leave such rows out, or give each a value of its own"
            if kind == "group"
            else "leave such rows out",
        )
    return Units(kind, _keys(column) if kind == "group" else _times(column))


def _keys(column: Column) -> NDArray[np.uint64]:
    """A hash of 64 bits of each value as it is written; 1.0 is written as 1 is."""
    values, codes = matrices.factorise(column)
    digests = [blake2b(_written(value), digest_size=8).digest() for value in values.tolist()]
    keys = [int.from_bytes(digest, "little") for digest in digests]
    return np.array(keys, dtype=np.uint64)[codes]


def _written(value: object) -> bytes:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).encode("utf-8", "surrogatepass")


def _times(column: Column) -> Array:
    """Numbers whose order is that of the times."""
    if not isinstance(column, Strings):
        return np.asarray(column.values)
    texts = column.tolist()
    try:
        return np.array(texts, dtype="datetime64[us]").astype(np.int64)
    except ValueError:
        wrong = next(text for text in texts if not _is_time(text))
        raise InputError(
            f"time must be numbers, dates or timestamps, got {wrong!r}.",
            hint="dates as 2024-12-31; others are read by sources.scan(..., date_format=...)",
        ) from None


def _is_time(text: Value) -> bool:
    try:
        np.datetime64(text, "us")
    except ValueError:
        return False
    return True
