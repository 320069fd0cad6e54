"""Tables in memory: frames, arrays and dicts of columns, as scans; and some rows of them.

Nothing of a frame library is imported: an object says itself what it is. What
offers an Arrow stream is read through it; pandas is read column by column, so
that it works without pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, MissingPackageError, ParameterError, ShapeError
from deciban.labels import Array
from deciban.sources import arrow, objects
from deciban.sources.batch import Batch
from deciban.sources.columns import (
    Booleans,
    Column,
    Integers,
    Numbers,
    Times,
    decode_dictionary,
)
from deciban.sources.formats import CATEGORY, Format
from deciban.sources.scan import BatchScan, read_once, scan_columns
from deciban.sources.tabular import Row, Tabular

__all__ = [
    "Output",
    "columns_by_name",
    "is_pandas",
    "make_frame",
    "named_frame",
    "names_of",
    "probability_columns",
    "scan_array",
    "scan_arrow",
    "scan_dict",
    "scan_lazy",
    "scan_pandas",
    "take_rows",
    "without_column",
]

#: What answers come as: None is an array, "frame" is what the table is.
Output: TypeAlias = Literal["frame", "pandas", "polars"] | None

_CATEGORICAL_TYPES = {"category", "interval", "period", "Categorical", "Enum"}
#: Ticks of NumPy's units in one microsecond (below 0: microseconds in one tick).
_TICKS = {"s": -1_000_000, "ms": -1_000, "us": 1, "ns": 1_000}


def is_pandas(value: Any) -> bool:
    """Whether something is a frame, Series or Index of pandas."""
    return type(value).__module__.partition(".")[0] == "pandas"


def scan_dict(table: Mapping[Any, Any], rows: int) -> BatchScan:
    """A dict of columns of the same length: lists, arrays or Series."""
    names = tuple(map(str, table))
    columns = {
        name: column(name, values) for name, values in zip(names, table.values(), strict=True)
    }
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        low, high = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise ShapeError(
            f"column {low!r} has {lengths[low]} rows, {high!r} has {lengths[high]}.",
            hint="give every column the same number of rows",
        )
    return scan_columns(
        names,
        columns,
        max(lengths.values(), default=0),
        rows,
        lambda: _formats(columns, dict(zip(names, table.values(), strict=True))),
    )


def scan_pandas(frame: Tabular, rows: int) -> BatchScan:
    """A frame of pandas; its index is left out."""
    names = tuple(map(str, frame.columns))
    columns = {str(name): column(str(name), values) for name, values in frame.items()}
    return scan_columns(
        names,
        columns,
        len(frame),
        rows,
        lambda: _formats(columns, {str(name): values for name, values in frame.items()}),
    )


def _formats(columns: Mapping[str, Column], values: Row) -> dict[str, Format]:
    """The columns whose type says what they are: categories, and lists of texts."""
    dtypes = {name: getattr(some, "dtype", None) for name, some in values.items()}
    named = {name: CATEGORY for name, dtype in dtypes.items() if _is_categorical(dtype)}
    return named | objects.formats(columns)


def _is_categorical(dtype: Any) -> bool:
    """Whether a type of pandas or Polars is one of names: categories, intervals or periods."""
    return str(dtype).partition("[")[0].partition("(")[0] in _CATEGORICAL_TYPES


def scan_array(values: Array, rows: int) -> BatchScan:
    """A two-dimensional array, with columns named x0, x1, ...; or one with named fields."""
    if values.dtype.names:
        return scan_dict({name: values[name] for name in values.dtype.names}, rows)
    if values.ndim != 2:
        raise ShapeError(
            f"a table has rows and columns, got an array of shape {values.shape}.",
            hint="use X.reshape(-1, 1) for one column",
        )
    return scan_dict({f"x{j}": values[:, j] for j in range(values.shape[1])}, rows)


def scan_arrow(source: Tabular, rows: int) -> BatchScan:
    """An Arrow stream: tables give a new one each time, readers only one."""
    stream = arrow.open_stream(source)
    names, formats = tuple(name for name, _, _ in stream.fields), arrow.formats(stream)
    if hasattr(source, "read_next_batch"):
        read = read_once(arrow.read_or_explain(stream, rows))
        return BatchScan(names, read, rereadable=False, formats=lambda: formats)
    stream.close()
    return BatchScan(
        names,
        lambda: arrow.read_or_explain(arrow.open_stream(source), rows),
        formats=lambda: formats,
    )


def scan_lazy(source: Tabular, rows: int) -> BatchScan:
    """A lazy frame of Polars, run each time it is read, a batch at a time."""

    def read() -> Iterator[Batch]:
        for frame in source.collect_batches(chunk_size=rows, lazy=True):
            yield from arrow.read_or_explain(arrow.open_stream(frame), rows)

    return BatchScan(tuple(source.collect_schema().names()), read)


# ---------------------------------------------------------------------- as what it was


def take_rows(X: Tabular, rows: NDArray[np.intp], n_rows: int) -> Any:
    """Some rows of a frame, array, sparse matrix, dict of columns or list, as what it was."""
    if isinstance(X, Mapping):
        return {name: take_rows(values, rows, n_rows) for name, values in X.items()}
    size = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else None
    if size != n_rows:
        raise ShapeError(
            f"X has {'unknown' if size is None else size} rows, y has {n_rows}.",
            hint="give one label a row, and a table in memory",
        )
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "schema") and not hasattr(X, "lazy"):
        return X.take(rows)
    if isinstance(X, list | tuple):
        return type(X)(X[i] for i in rows.tolist())
    return X.tocsr()[rows] if hasattr(X, "tocsr") else X[rows]


def columns_by_name(X: Tabular) -> Mapping[Any, Any]:
    """The columns of a dict or frame by name, of a matrix by number, as they are."""
    if isinstance(X, Mapping):
        return X
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        return {name: X[name] for name in X.columns}
    try:
        matrix = np.asarray(X)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise ShapeError(
            f"X must be columns or a matrix of rows, got {type(X).__name__}.",
            hint="pass {name: values}, a data frame or a list of rows of the same length",
        )
    return dict(enumerate(matrix.T))


def names_of(X: Tabular) -> list[str]:
    """The names of the columns of a frame or a table of Arrow; none of anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return [] if names is None else list(names)


def without_column(X: Tabular, name: str | None) -> Tabular:
    """A frame without one of its columns; whatever does not have it, as it is."""
    names = names_of(X)
    if name not in names:
        return X
    others = [each for each in names if each != name]
    return X.select(others) if hasattr(X, "column_names") else X[others]


def named_frame(values: Array, names: Sequence[str]) -> Any:
    """A matrix as a frame of pandas or else of Polars, for models that were fitted on one."""
    try:
        return import_module("pandas").DataFrame(values, columns=list(names))
    except ImportError:
        return import_module("polars").DataFrame(values, schema=list(names), orient="row")


def make_frame(columns: Row, X: Tabular, output: Output) -> Any:
    """Columns as a frame of pandas or of Polars; with ``"frame"``, of the library of a table.

    A frame of pandas has the index of the table, if that is one.
    """
    if output not in ("frame", "pandas", "polars"):
        raise ParameterError(
            f'output must be None, "frame", "pandas" or "polars", got {output!r}.',
            hint='"frame" is what X is',
        )
    name: str = output
    if output == "frame":
        name = "polars" if type(X).__module__.partition(".")[0] == "polars" else "pandas"
    try:
        library = import_module(name)
    except ImportError:
        raise MissingPackageError(
            f"a frame of {name} needs {name}, which is not installed.",
            hint="pip install 'deciban[frames]'",
        ) from None
    if name == "polars":
        return library.DataFrame({column: values.tolist() for column, values in columns.items()})
    index = X.index if is_pandas(X) and hasattr(X, "index") else None
    return library.DataFrame(dict(columns), index=index)


def probability_columns(
    posterior: NDArray[np.float64], classes: Array, prefix: str = ""
) -> dict[str, NDArray[np.float64]]:
    """Probabilities, (rows, classes), as columns by the names of classes."""
    columns = {f"{prefix}{label}": posterior[:, c] for c, label in enumerate(classes.tolist())}
    if len(columns) < len(classes):
        raise InputError(
            f"two classes are written alike, such as 1 and '1', among {classes.tolist()}.",
            hint="leave output out: an array has a column for each class, in the order of classes_",
        )
    return columns


# ---------------------------------------------------------------------- columns


def column(name: str, values: Any) -> Column:
    """One column from a list, an array, a Series or anything with an Arrow stream."""
    if getattr(values, "ndim", 1) != 1:
        raise ShapeError(
            f"column {name!r} has the shape {values.shape}.", hint="give one value a row"
        )
    if is_pandas(values):
        series = hasattr(values, "iloc")  # or an index, or an array of pandas' own
        return _series(name, values if series else import_module("pandas").Series(values))
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where it is masked
    if isinstance(values, np.ndarray):
        return _array(name, values)
    if hasattr(values, "__arrow_c_stream__"):
        return _through_arrow(name, values)
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    if isinstance(values, set | frozenset):
        raise InputError(
            f"column {name!r} is a {type(values).__name__}, whose values are in no order.",
            hint="give a list or an array, one value a row",
        )
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(
            f"column {name!r} is one value of the type {type(values).__name__}.",
            hint="give a list or an array, one value a row",
        )
    return objects.column(name, values if isinstance(values, Sequence) else list(values))


def _through_arrow(name: str, values: Any) -> Column:
    read = arrow.read_series(values, name)
    return objects.column(name, []) if read is None else read


def _series(name: str, values: Any) -> Column:
    """A Series of pandas, by its dtype."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return _array(name, values.to_numpy())
    if hasattr(dtype, "categories"):
        codes = values.cat.codes.to_numpy().astype(np.int64)
        return decode_dictionary(column(name, values.cat.categories), codes)
    if getattr(dtype, "storage", "") == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return _through_arrow(name, _arrow_values(values))
    if hasattr(dtype, "numpy_dtype"):
        return _nullable(name, values, dtype.numpy_dtype)
    if _is_categorical(dtype):
        names = zip(values, values.isna(), strict=True)
        return objects.column(name, [None if gap else str(value) for value, gap in names])
    if hasattr(dtype, "tz"):
        return _array(name, values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    return objects.column(name, values.to_numpy(dtype=object, na_value=None).tolist())


def _arrow_values(values: Any) -> Any:
    """What a Series of pandas that is kept by pyarrow holds, with an Arrow stream.

    A Series has such a stream too, and looks up the version of pyarrow each time it is asked.
    """
    held = values.array.__arrow_array__()
    return held if hasattr(held, "__arrow_c_stream__") else values


def _nullable(name: str, values: Any, dtype: np.dtype[Any]) -> Column:
    """Pandas' nullable numbers and truth values."""
    missing = values.isna().to_numpy(dtype=bool)
    if dtype.kind == "f":
        return Numbers(values.to_numpy(dtype=np.float64, na_value=np.nan))
    filled = values.to_numpy(dtype=dtype, na_value=0)
    if dtype.kind == "b":
        return Booleans(filled, missing)
    return Integers(_int64(name, filled), missing)


def _array(name: str, values: Array) -> Column:
    """A one-dimensional NumPy array."""
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


def _int64(name: str, values: Array) -> NDArray[np.int64]:
    if values.dtype == np.uint64:
        arrow.refuse_huge(name, values)
    return values.astype(np.int64, copy=False)


def _times(name: str, values: Array) -> Column:
    """Instants of NumPy as microseconds, durations as seconds."""
    missing = np.isnat(values)
    if values.dtype.kind == "m":
        return Numbers(np.where(missing, np.nan, values / np.timedelta64(1, "s")))
    days = np.datetime_data(values.dtype)[0] in {"Y", "M", "W", "D"}
    unit = "D" if days else np.datetime_data(values.dtype)[0]
    if unit not in {"D", *_TICKS}:
        unit = "s" if unit in {"h", "m"} else "ns"
    ticks = -86_400_000_000 if days else _TICKS[unit]
    counts = values.astype(f"M8[{unit}]").astype(np.int64)
    moments = arrow.microseconds(name, counts, missing, ticks)
    return Times(moments, missing, "date" if days else "timestamp")
