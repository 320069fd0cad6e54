"""Python objects as columns: the type of a column is decided by all its values.

Truth values, integers, other numbers, text, dates, times and durations (in
seconds) are known; None, NaN, NA and NaT are missing. A column that mixes
text, numbers and truth values is text, written as JSON writes them, to those who learn what it
is; intervals, periods and UUIDs are text as well. A list of texts is a bag of words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from numbers import Integral, Real
from reprlib import repr as short
from typing import Any, cast

import numpy as np

from deciban.errors import InputError, ShapeError
from deciban.kernels.texts import utf8_or_nothing
from deciban.labels import Array, is_missing
from deciban.sources.columns import (
    Booleans,
    Column,
    Integers,
    Mask,
    Mixed,
    Numbers,
    Strings,
    Times,
)
from deciban.sources.formats import BAG, Format
from deciban.sources.lists import Lists, join_items
from deciban.sources.scan import BatchScan, scan_columns
from deciban.sources.tabular import Value

__all__ = ["column", "is_record", "of_one_kind", "scan_records", "scan_rows"]

_LISTS = (list, tuple, set, frozenset, np.ndarray)
_KINDS: list[tuple[str, tuple[type, ...]]] = [
    ("boolean", (bool, np.bool_)),
    ("duration", (timedelta, np.timedelta64)),  # before numbers: NumPy's is an integer
    ("integer", (int, Integral)),
    ("number", (float, Decimal, Fraction, Real)),
    ("text", (str, bytes)),
    ("timestamp", (datetime, np.datetime64)),
    ("date", (date,)),
    ("time", (time,)),
    ("list", _LISTS),
]
#: Types of other libraries whose values are names.
_NAMES = {"Interval", "Period", "UUID"}
#: Kinds that can be written as text, where a column mixes them.
_WRITABLE = {"boolean", "integer", "number", "text", "list"}
#: Types of which None and what differs from itself are the only missing values.
_PLAIN = {type(None), bool, int, float, str, bytes, date, datetime, time, timedelta}
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1)


def scan_rows(rows: Sequence[Value], batch_rows: int) -> BatchScan | None:
    """A list of dicts or of tuples, one a row; None if its items are no rows.

    >>> scan_rows([(1, "S"), (2, "M")], 9).names
    ('x0', 'x1')
    """
    if not rows:
        return None
    if isinstance(rows[0], list | tuple):
        return _scan_tuples(rows, batch_rows)
    return scan_records(rows, batch_rows) if is_record(rows[0]) else None


def is_record(item: Value) -> bool:
    """Whether it is a dict of one value a column, not of whole columns.

    >>> is_record({"n": 1, "tags": ["a", "b"]}), is_record({"n": [1, 2], "tags": ["a", "b"]})
    (True, False)
    """
    if not isinstance(item, Mapping):
        return False
    single = [isinstance(v, str | bytes) or not hasattr(v, "__len__") for v in item.values()]
    return any(single) or not single


def scan_records(records: Iterable[Mapping[Value, Value]], rows: int) -> BatchScan:
    """Dicts, one a row; a key that a row lacks is missing there.

    >>> [batch.tolist() for batch in scan_records([{"x": 1}, {"y": "S"}], rows=9)]
    [[{'x': 1, 'y': None}, {'x': None, 'y': 'S'}]]
    """
    items = list(records)
    odd = {of for of in set(map(type, items)) if not issubclass(of, Mapping)}
    if odd:
        i = next(i for i, record in enumerate(items) if type(record) in odd)
        raise InputError(
            f"row {i} is no dict, as others are: {short(items[i])}.",
            hint="give every row as a dict; {} is a row of which nothing is known",
        )
    keys = dict.fromkeys(key for record in items for key in record)
    values = {str(key): [record.get(key) for record in items] for key in keys}
    columns = {name: column(name, some) for name, some in values.items()}
    return scan_columns(tuple(map(str, keys)), columns, len(items), rows, partial(formats, columns))


def _scan_tuples(table: Sequence[Sequence[Value]], rows: int) -> BatchScan:
    """Lists or tuples, one a row, with columns named x0, x1, ..."""
    width = len(table[0])
    odd = next((i for i, row in enumerate(table) if len(row) != width), None)
    if odd is not None:
        raise ShapeError(
            f"row {odd} has {len(table[odd])} values, row 0 has {width}.",
            hint="give every row one value a column",
        )
    values = {f"x{j}": list(some) for j, some in enumerate(zip(*table, strict=True))}
    columns = {name: column(name, some) for name, some in values.items()}
    return scan_columns(tuple(columns), columns, len(table), rows, partial(formats, columns))


def formats(columns: Mapping[str, Column]) -> dict[str, Format]:
    """The columns whose type says what they are: lists of texts, which then are all there is."""
    for name, column in columns.items():
        if isinstance(column, Mixed):
            kinds = {_kind(name, type(value)) for value in column.values if value is not None}
            if "list" in kinds:
                raise _mixes(name, kinds)
    return {name: BAG for name, column in columns.items() if isinstance(column, Lists)}


def column(name: str, values: Sequence[Value]) -> Column:
    """A column of Python objects.

    >>> column("x", ["a", None, ""]).tolist()
    ['a', None, '']
    >>> column("x", [1, 2.5, float("nan")]).tolist()
    [1.0, 2.5, None]
    """
    texts = values if isinstance(values, list) else list(values)
    as_texts = utf8_or_nothing(texts)
    if as_texts is not None:
        return Strings(*as_texts)
    types = set(map(type, values))
    if types <= _PLAIN:
        missing = [value is None or value != value for value in values]
    else:
        missing = [is_missing(value) for value in values]
    known = [value for value, gap in zip(values, missing, strict=True) if not gap]
    kinds = {_kind(name, of) for of in set(map(type, known))}
    return _column_of_kinds(name, kinds, known, np.array(missing, dtype=bool))


def of_one_kind(name: str, mixed: Mixed) -> Iterator[tuple[list[int], Column]]:
    """The rows whose values are of one kind, and those as a column, for each kind there is.

    >>> mixed = cast("Mixed", column("x", [True, 2, "b", 0.5]))
    >>> [(rows, some.tolist()) for rows, some in of_one_kind("x", mixed)]
    [([0], [True]), ([1, 3], [2.0, 0.5]), ([2], ['b'])]
    """
    rows_of: dict[str, list[int]] = {}
    for row, value in enumerate(mixed.values):
        kind = "number" if value is None else _kind(name, type(value))
        rows_of.setdefault("number" if kind == "integer" else kind, []).append(row)
    for rows in rows_of.values():
        yield rows, column(name, [mixed.values[row] for row in rows])


def _kind(name: str, of: type) -> str:
    for kind, types in _KINDS:
        if issubclass(of, types):
            return kind
    if of.__name__ in _NAMES:
        return "text"
    raise InputError(
        f"column {name!r} has a value of the type {of.__name__}, which cannot be counted.",
        hint="leave the column out, or turn it into text, numbers or several columns",
    )


def _column_of_kinds(name: str, kinds: set[str], known: list[Value], missing: Mask) -> Column:
    if kinds <= {"integer", "number"}:
        return _quantities(name, kinds, known, missing)
    if kinds == {"boolean"}:
        return Booleans(_spread(known, missing, np.bool_), missing)
    if kinds == {"duration"}:
        seconds = [value / timedelta(seconds=1) for value in map(_timedelta, known)]
        return Numbers(_spread(seconds, missing, np.float64, np.nan))
    if kinds == {"time"}:
        return Times(_spread(list(map(_since_midnight, known)), missing, np.int64), missing, "time")
    if kinds <= {"date", "timestamp"}:
        moments = _spread(list(map(_since_epoch, known)), missing, np.int64)
        return Times(moments, missing, "timestamp" if "timestamp" in kinds else "date")
    if kinds == {"list"}:
        texts = _strings(name, [_join(name, items) for items in known], missing)
        return Lists(texts.offsets, texts.data, texts.missing)
    if kinds <= _WRITABLE:
        texts = _strings(name, [_write(name, value) for value in known], missing)
        if kinds == {"text"}:
            return texts
        values = np.full(len(missing), None)
        values[~missing] = known
        return Mixed(texts.offsets, texts.data, texts.missing, values.tolist())
    raise _mixes(name, kinds)


def _mixes(name: str, kinds: set[str]) -> InputError:
    return InputError(
        f"column {name!r} mixes {' and '.join(sorted(kinds))} values.",
        hint="give the column one type",
    )


def _spread(known: list[Value], missing: Mask, dtype: Any, filler: float = 0) -> Array:
    """The known values in their rows."""
    out = np.full(len(missing), filler, dtype=dtype)
    out[~missing] = known
    return out


def _quantities(name: str, kinds: set[str], known: list[Value], missing: Mask) -> Column:
    """Integers if all are and fit, otherwise floats; nothing at all is a column of NaN."""
    whole = kinds == {"integer"}
    if whole and min(known) >= -(2**63) and max(known) < 2**63:
        return Integers(_spread(known, missing, np.int64), missing)
    try:
        floats = list(map(float, known))
    except OverflowError:
        raise InputError(
            f"column {name!r} has a number beyond {sys.float_info.max:.1e}.",
            hint="leave it out, or write it as text",
        ) from None
    return Numbers(_spread(floats, missing, np.float64, np.nan), whole)


def _write(name: str, value: Value) -> str | bytes:
    """Text as it is, a list as one text; other values as JSON writes them."""
    if isinstance(value, _LISTS):
        return _join(name, value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, str | bytes) else str(value)


def _join(name: str, items: Iterable[Value]) -> str:
    some = list(items)
    odd = next((item for item in some if not isinstance(item, str) and item is not None), None)
    if odd is not None:
        raise InputError(
            f"column {name!r} has lists of {type(odd).__name__}, which cannot be counted.",
            hint="lists of texts are bags of words; turn others into several columns",
        )
    return join_items(some)


def _strings(name: str, values: Sequence[Value], missing: Mask) -> Strings:
    """Text in UTF-8; ``values`` has all rows, or only the known ones."""
    try:
        known = [
            value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
            for value in values
            if value is not None
        ]
    except UnicodeEncodeError as error:
        raise InputError(
            f"column {name!r} has text that is not Unicode: {error.object!r:.60}.",
            hint="a lone surrogate is no character: clean the text with errors='replace'",
        ) from None
    sizes = _spread(list(map(len, known)), missing, np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Strings(offsets, np.frombuffer(b"".join(known), np.uint8), missing)


def _timedelta(value: Value) -> timedelta:
    if isinstance(value, np.timedelta64):
        value = value.astype("m8[us]").item()
    return cast("timedelta", value)


def _since_midnight(value: time) -> int:
    return (datetime.combine(_EPOCH, value.replace(tzinfo=None)) - _EPOCH) // _MICROSECOND


def _since_epoch(value: Value) -> int:
    if isinstance(value, np.datetime64):
        return int(value.astype("M8[us]").astype(np.int64))
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return int((value - _EPOCH) // _MICROSECOND)
