"""Columns of a batch: a few small immutable types that every source is turned into.

Conventions
-----------
- ``missing`` is one boolean a row, True where there is no value; what the
  values hold there is of no meaning. Numbers say NaN instead.
- Arrays may be views of memory that the producer owns: read, never write.
- A column of one source has the same type in every batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import texts

__all__ = [
    "Batch",
    "Booleans",
    "Column",
    "Integers",
    "Listed",
    "Numbers",
    "Strings",
    "Times",
    "joined",
    "part",
    "replaced",
    "taken",
]

Mask = NDArray[np.bool_]

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

    def tolist(self) -> list[float | None]:
        """Python values, None where missing."""
        return [None if value != value else value for value in self.values.tolist()]


@dataclass(frozen=True, eq=False)
class Integers:
    """Exact whole numbers, that may turn out to be quantities or names of categories.

    >>> column = Integers(np.array([7, 0]), np.array([False, True]))
    >>> column.tolist(), column.numbers().tolist()
    ([7, None], [7.0, None])
    """

    values: NDArray[np.int64]
    missing: Mask

    def __len__(self) -> int:
        return len(self.values)

    def numbers(self) -> Numbers:
        """The same as quantities; beyond 2**53 they are rounded."""
        out = self.values.astype(np.float64)
        out[self.missing] = np.nan
        return Numbers(out, whole=True)

    def tolist(self) -> list[int | None]:
        """Python values, None where missing."""
        return _known(self.values.tolist(), self.missing)


@dataclass(frozen=True, eq=False)
class Booleans:
    """True, false or missing.

    >>> Booleans(np.array([True, False]), np.array([False, True])).tolist()
    [True, None]
    """

    values: NDArray[np.bool_]
    missing: Mask

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[bool | None]:
        """Python values, None where missing."""
        return _known(self.values.tolist(), self.missing)


@dataclass(frozen=True, eq=False)
class Strings:
    """Text: row ``i`` is ``data[offsets[i]:offsets[i + 1]]``, in UTF-8.

    The first offset need not be 0. Bytes that are not UTF-8 are kept as they
    are; as Python text they are written with surrogate escapes, so that
    different bytes stay different.

    >>> text = np.frombuffer("spamé".encode(), np.uint8)
    >>> Strings(np.array([0, 4, 6]), text, np.array([False, False])).tolist()
    ['spam', 'é']
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    missing: Mask

    def __len__(self) -> int:
        return len(self.missing)

    def tolist(self) -> list[str | None]:
        """Python values, None where missing."""
        start = self.offsets.tolist()
        first = start[0] if start else 0
        data = self.data[first : start[-1] if start else 0].tobytes()
        texts = [
            data[a - first : b - first].decode("utf-8", "surrogateescape")
            for a, b in pairwise(start)
        ]
        return _known(texts, self.missing)


class Listed(Strings):
    """Texts of Python, or None: they are turned into UTF-8 when that is asked for.

    Some rows of them cost no copy.

    >>> column = taken(Listed(["spam", None, "é"]), np.array([2, 1]))
    >>> column.tolist(), column.data.tolist()
    (['é', None], [195, 169])
    """

    def __init__(self, listed: list[str | None]) -> None:
        self.__dict__["listed"] = listed

    def __len__(self) -> int:
        return len(self.__dict__["listed"])

    @cached_property
    def _written(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], Mask]:
        return texts.utf8(self.__dict__["listed"])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the bytes of each text start."""
        return self._written[0]

    @property
    def data(self) -> NDArray[np.uint8]:
        """The bytes of all texts."""
        return self._written[1]

    @property
    def missing(self) -> Mask:
        """True where there is no text."""
        return self._written[2]

    def taken(self, rows: NDArray[np.intp]) -> Listed:
        """Some texts."""
        listed = self.__dict__["listed"]
        return Listed([listed[row] for row in rows.tolist()])


@dataclass(frozen=True, eq=False)
class Times:
    """Microseconds since 1970-01-01 UTC, or since midnight for the time of a day.

    ``unit`` says what they were: a ``"date"``, a ``"timestamp"`` or a
    ``"time"``. A time without a zone is taken as it stands; what is finer than
    a microsecond is cut off.

    >>> Times(np.array([86_400_000_000]), np.array([False]), "date").tolist()
    ['1970-01-02']
    """

    values: NDArray[np.int64]
    missing: Mask
    unit: Literal["date", "timestamp", "time"]

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[str | None]:
        """ISO 8601 text, None where missing."""
        return _known([_iso(value, self.unit) for value in self.values.tolist()], self.missing)


Column = Numbers | Integers | Booleans | Strings | Times


def replaced(column: Column, values: NDArray[Any], missing: Mask) -> Column:
    """A column of the same type with other values; not for text."""
    if isinstance(column, Numbers):
        return Numbers(np.where(missing, np.nan, values), column.whole)
    if isinstance(column, Times):
        return Times(values, missing, column.unit)
    return Booleans(values, missing) if isinstance(column, Booleans) else Integers(values, missing)


def part(column: Column, start: int, stop: int) -> Column:
    """Rows ``start .. stop`` of a column, as a view.

    >>> part(Integers(np.arange(4), np.zeros(4, bool)), 1, 3).tolist()
    [1, 2]
    """
    if isinstance(column, Numbers):
        return Numbers(column.values[start:stop], column.whole)
    if isinstance(column, Listed):
        return Listed(vars(column)["listed"][start:stop])
    missing = column.missing[start:stop]
    if isinstance(column, Strings):
        return Strings(column.offsets[start : stop + 1], column.data, missing)
    return replaced(column, column.values[start:stop], missing)


def taken(column: Column, rows: NDArray[np.intp]) -> Column:
    """Some rows of a column, copied.

    >>> taken(Integers(np.arange(4), np.zeros(4, bool)), np.array([3, 0])).tolist()
    [3, 0]
    """
    if isinstance(column, Numbers):
        return Numbers(column.values[rows], column.whole)
    if isinstance(column, Listed):
        return column.taken(rows)
    missing = column.missing[rows]
    if not isinstance(column, Strings):
        return replaced(column, column.values[rows], missing)
    return Strings(*texts.take(column.offsets, column.data, rows), missing)


def joined(columns: Sequence[Column]) -> Column:
    """Columns of the same type as one.

    >>> joined([Numbers(np.array([1.0])), Numbers(np.array([2.0]))]).tolist()
    [1.0, 2.0]
    """
    first = columns[0]
    if all(isinstance(column, Listed) for column in columns):
        return Listed([text for column in columns for text in vars(column)["listed"]])
    missing = np.concatenate([column.missing for column in columns])
    texts = [column for column in columns if isinstance(column, Strings)]
    if not isinstance(first, Strings):
        values = [column.values for column in columns if not isinstance(column, Strings)]
        return replaced(first, np.concatenate(values), missing)
    data = [c.data[c.offsets[0] : c.offsets[-1]] for c in texts]
    sizes = np.concatenate([np.diff(c.offsets) for c in texts])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Strings(offsets, np.concatenate(data), missing)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table: columns of the same length, by name.

    >>> Batch(1, {"x": Numbers(np.array([0.5]))}).tolist()
    [{'x': 0.5}]
    """

    n_rows: int
    columns: Mapping[str, Column]

    def part(self, start: int, stop: int) -> Batch:
        """Rows ``start .. stop``, as a view."""
        some = {name: part(column, start, stop) for name, column in self.columns.items()}
        return Batch(stop - start, some)

    def tolist(self) -> list[dict[str, Any]]:
        """The rows as dicts of Python values: for tests and for showing a few of them."""
        lists = [column.tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _known(values: list[Any], missing: Mask) -> list[Any]:
    gaps = missing.tolist()
    return [None if gap else value for value, gap in zip(values, gaps, strict=True)]


def _iso(microseconds: int, unit: str) -> str:
    """ISO 8601, or the bare number where it is out of the calendar's range."""
    try:
        moment = (_EPOCH + timedelta(microseconds=microseconds)).replace(tzinfo=None)
    except OverflowError:
        return str(microseconds)
    if unit == "date":
        return moment.date().isoformat()
    return moment.time().isoformat() if unit == "time" else moment.isoformat(sep=" ")
