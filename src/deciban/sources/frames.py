"""Tables in memory: frames, arrays, dicts of columns, lists of rows, and streams of these.

Nothing of a frame library is imported: an object says itself what it is. What
offers an Arrow stream is read through it; pandas is read column by column, so
that it works without pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, ShapeError
from deciban.sources import arrow, objects
from deciban.sources.columns import Batch, Booleans, Column, Integers, Numbers, Times
from deciban.sources.naming import checked
from deciban.sources.scanning import Scan, agreed, cut, once

__all__ = ["array", "columns", "is_pandas", "pandas", "rows_of", "stream_of", "tuples"]

_UNITS = {"s": -1_000_000, "ms": -1_000, "us": 1, "ns": 1_000}


def is_pandas(value: Any) -> bool:
    """Whether something is a frame, Series or Index of pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def columns(table: Mapping[Any, Any], rows: int) -> Scan:
    """A dict of columns of the same length: lists, arrays or Series."""
    names = checked(list(table))
    made = {name: column(name, values) for name, values in zip(names, table.values(), strict=True)}
    lengths = {name: len(values) for name, values in made.items()}
    if len(set(lengths.values())) > 1:
        low, high = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise ShapeError(
            f"column {low!r} has {lengths[low]} rows, {high!r} has {lengths[high]}.",
            hint="give every column the same number of rows",
        )
    return Scan(names, lambda: cut(made, rows))


def pandas(frame: Any, rows: int) -> Scan:
    """A frame of pandas; its index is left out."""
    names = checked(list(frame.columns))
    made = {name: column(name, frame.iloc[:, i]) for i, name in enumerate(names)}
    return Scan(names, lambda: cut(made, rows))


def array(values: NDArray[Any], rows: int) -> Scan:
    """A two-dimensional array, with columns named x0, x1, ...; or one with named fields."""
    if values.dtype.names:
        return columns({name: values[name] for name in values.dtype.names}, rows)
    if values.ndim != 2:
        raise ShapeError(
            f"a table has rows and columns, got an array of shape {values.shape}.",
            hint="use X.reshape(-1, 1) for one column",
        )
    return columns({f"x{j}": values[:, j] for j in range(values.shape[1])}, rows)


def rows_of(table: Iterable[Mapping[Any, Any]], rows: int) -> Scan:
    """A list of dicts, one a row; a key that a row lacks is missing there."""
    items = list(table)
    names = dict.fromkeys(name for row in items for name in row)
    return columns({name: [row.get(name) for row in items] for name in names}, rows)


def tuples(table: Sequence[Sequence[Any]], rows: int) -> Scan:
    """A list of lists or tuples, one a row, with columns named x0, x1, ...

    >>> tuples([(1, "S"), (2, "M")], rows=9).names
    ('x0', 'x1')
    """
    width = len(table[0])
    odd = next((i for i, row in enumerate(table) if len(row) != width), None)
    if odd is not None:
        raise ShapeError(
            f"row {odd} has {len(table[odd])} values, row 0 has {width}.",
            hint="give every row one value a column",
        )
    return columns(
        {f"x{j}": list(values) for j, values in enumerate(zip(*table, strict=True))}, rows
    )


def stream_of(items: Iterable[Any], rows: int, scan: Callable[[Any], Scan]) -> Scan:
    """An iterable of rows (dicts of single values) or of tables, read as it comes."""
    rest = iter(items)
    first = next(rest, None)
    if first is None:
        raise InputError("the source is empty: it gave no table.", hint="give at least one row")
    everything = chain([first], rest)
    if isinstance(items, list | tuple) and isinstance(first, list | tuple):
        return tuples(items, rows)
    if is_row(first):
        if isinstance(items, list | tuple):
            return rows_of(items, rows)
        scans = (rows_of(some, rows) for some in _bundles(everything, rows))
    else:
        scans = (scan(item) for item in everything)
    head = next(scans)
    return Scan(head.names, once(_alike(chain([head], scans))))


def is_row(item: Any) -> bool:
    """Whether a dict holds one value a column, not a whole column."""
    return isinstance(item, Mapping) and all(
        isinstance(value, str | bytes) or not hasattr(value, "__len__") for value in item.values()
    )


def _bundles(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while bundle := list(islice(items, size)):
        yield bundle


def _alike(scans: Iterable[Scan]) -> Iterator[Batch]:
    """The batches of all tables, in the types of the first batch."""
    first: Mapping[str, Column] | None = None
    for number, scan in enumerate(scans, start=1):
        for batch in scan:
            first = batch.columns if first is None else first
            yield agreed(first, batch, number)


def column(name: str, values: Any) -> Column:
    """One column from a list, an array, a Series or anything with an Arrow stream."""
    if is_pandas(values):
        return _series(name, values)
    if isinstance(values, np.ndarray):
        return _array(name, values)
    if hasattr(values, "__arrow_c_stream__"):
        return _through_arrow(name, values)
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(
            f"column {name!r} is one value of the type {type(values).__name__}.",
            hint="give a list or an array, one value a row",
        )
    return objects.column(name, values if isinstance(values, Sequence) else list(values))


def _through_arrow(name: str, values: Any) -> Column:
    made = arrow.series(values, name)
    return objects.column(name, []) if made is None else made


def _series(name: str, values: Any) -> Column:
    """A Series or Index of pandas, by its dtype."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return _array(name, values.to_numpy())
    if hasattr(dtype, "categories") and hasattr(values, "cat"):
        codes = values.cat.codes.to_numpy().astype(np.int64)
        return arrow.picked(column(name, values.cat.categories), codes)
    if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return _through_arrow(name, values.to_series() if hasattr(values, "to_series") else values)
    if hasattr(dtype, "numpy_dtype"):
        return _masked(values, dtype.numpy_dtype)
    if hasattr(dtype, "tz"):
        return _array(name, values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    return objects.column(name, values.astype(object).tolist())


def _masked(values: Any, dtype: np.dtype[Any]) -> Column:
    """Pandas' nullable numbers and truth values."""
    missing = values.isna().to_numpy(dtype=bool)
    if dtype.kind == "f":
        return Numbers(values.to_numpy(dtype=np.float64, na_value=np.nan))
    filled = values.to_numpy(dtype=dtype, na_value=0)
    if dtype.kind == "b":
        return Booleans(filled, missing)
    return Integers(_int64("", filled), missing)


def _array(name: str, values: NDArray[Any]) -> Column:
    """A one-dimensional NumPy array."""
    if values.ndim != 1:
        raise ShapeError(
            f"column {name!r} has the shape {values.shape}.", hint="give one value a row"
        )
    kind, missing = values.dtype.kind, np.zeros(len(values), dtype=bool)
    if kind == "f":
        return Numbers(values.astype(np.float64, copy=False))
    if kind in "iu":
        return Integers(_int64(name, values), missing)
    if kind == "b":
        return Booleans(values, missing)
    if kind in "mM":
        return _times(name, values)
    return objects.column(name, values.tolist())


def _int64(name: str, values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == np.uint64:
        arrow.refuse_huge(name, values)
    return values.astype(np.int64, copy=False)


def _times(name: str, values: NDArray[Any]) -> Column:
    """Instants of NumPy as microseconds, durations as seconds."""
    missing = np.isnat(values)
    if values.dtype.kind == "m":
        return Numbers(np.where(missing, np.nan, values / np.timedelta64(1, "s")))
    days = np.datetime_data(values.dtype)[0] in {"Y", "M", "W", "D"}
    unit = "D" if days else np.datetime_data(values.dtype)[0]
    if unit not in {"D", *_UNITS}:
        unit = "s" if unit in {"h", "m"} else "ns"
    ticks = -86_400_000_000 if days else _UNITS[unit]
    counted = values.astype(f"M8[{unit}]").astype(np.int64)
    made = arrow.microseconds(name, counted, missing, ticks)
    return Times(made, missing, "date" if days else "timestamp")
