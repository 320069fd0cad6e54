"""Anything tabular as a stream of batches: the first step of source, encode, count.

A source is one of

- a frame of pandas or Polars (lazy ones are collected batch by batch), a
  pyarrow table or reader, or any object with ``__arrow_c_stream__``
- a two-dimensional NumPy array, a dict of columns, a list of dicts or of tuples
- a path or glob of CSV, TSV, Parquet or JSON lines; "-" is the standard input
- a DuckDB relation, or a DuckDB connection and ``sql``
- an iterable of tables, or of dicts that are rows

and each becomes the same few column types (:mod:`deciban.sources.columns`).
None of these libraries is imported here; files need DuckDB.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deciban.errors import InputError, ParameterError
from deciban.sources import arrow, duck, files, frames
from deciban.sources.columns import Batch, Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.naming import checked
from deciban.sources.scanning import Scan, once
from deciban.sources.written import How, Type

__all__ = [
    "Batch",
    "Booleans",
    "Column",
    "Integers",
    "Numbers",
    "Scan",
    "Strings",
    "Times",
    "batches",
    "names",
    "scan",
]

ROWS = 65_536


def batches(
    source: Any,
    *,
    sql: str | None = None,
    rows: int = ROWS,
    missing: Sequence[str] | None = None,
    encoding: str = "utf-8",
) -> Iterator[Batch]:
    """The rows of a source, at most ``rows`` at a time; see :func:`scan`.

    >>> [batch.n_rows for batch in batches({"x": [1, 2, 3]}, rows=2)]
    [2, 1]
    """
    return iter(scan(source, sql=sql, rows=rows, missing=missing, encoding=encoding))


def names(source: Any, *, sql: str | None = None) -> tuple[str, ...]:
    """The names of a source's columns; a stream is used up by asking.

    >>> names([{"text": "hello", "label": "ham"}])
    ('text', 'label')
    """
    return scan(source, sql=sql).names


def scan(
    source: Any,
    *,
    sql: str | None = None,
    rows: int = ROWS,
    missing: Sequence[str] | None = None,
    encoding: str = "utf-8",
    types: Mapping[str, Type] | None = None,
) -> Scan:
    """A source as a table that can be read: its column names now, its batches when iterated.

    Parameters
    ----------
    source
        Any table; see the module.
    sql
        A query, when the source is a DuckDB connection.
    rows
        The most rows in a batch.
    missing
        Fields of CSV that mean "no value" in every column, such as
        ``("NA", "?")``. Without it, an empty field is missing everywhere, and the
        usual markers are in columns that otherwise hold no text.
    encoding
        Of CSV: utf-8, utf-16 or latin-1.
    types
        Columns of CSV and JSON lines that are ``"text"`` or ``"number"``, as they were
        when a model was trained, whatever the fields of this file look like.

    Examples
    --------
    >>> table = scan([{"text": "hello", "label": "ham"}])
    >>> table.require("lable")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: there is no column 'lable'. Hint: perhaps 'label' was meant.

    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ParameterError(f"rows must be a whole number >= 1, got {rows!r}.", hint="try 65536")
    if isinstance(source, str | os.PathLike) and sql is None:
        return files.scan([os.fspath(source)], How(rows, missing, encoding, types or {}))
    if sql is not None or duck.is_connection(source):
        return _query(source, sql, rows)
    return _in_memory(source, rows)


def _query(source: Any, sql: str | None, rows: int) -> Scan:
    if sql is None:
        raise ParameterError(
            "a DuckDB connection needs a query.", hint="pass sql='SELECT ...' as well"
        )
    if not duck.is_connection(source):
        raise ParameterError(
            f"sql goes with a DuckDB connection, got {type(source).__name__}.",
            hint="leave sql out, or pass duckdb.connect(...)",
        )
    return duck.query(source, sql, rows)


def _in_memory(source: Any, rows: int) -> Scan:
    """Everything that is not a file or a query."""
    if isinstance(source, Scan):
        return source
    if isinstance(source, np.ndarray):
        return frames.array(source, rows)
    if isinstance(source, Mapping):
        return frames.columns(source, rows)
    if frames.is_pandas(source) and hasattr(source, "columns"):
        return frames.pandas(source, rows)
    if hasattr(source, "collect_batches"):
        return _lazy(source, rows)
    if type(source).__name__ == "DuckDBPyRelation":
        return duck.relation(source, rows)
    if hasattr(source, "__arrow_c_stream__"):
        return _arrow(source, rows)
    if isinstance(source, Iterable) and not isinstance(source, bytes) and not _is_sparse(source):
        return frames.stream_of(source, rows, lambda item: scan(item, rows=rows))
    raise InputError(
        f"a table is needed, got {type(source).__name__}.",
        hint="pass a frame, an array, a dict of columns, a list of dicts, or a path",
    )


def _is_sparse(source: Any) -> bool:
    return hasattr(source, "tocsr")


def _arrow(source: Any, rows: int) -> Scan:
    """An Arrow stream: tables give a new one each time, readers only one."""
    stream = arrow.opened(source)
    found = checked([name for name, _, _ in stream.fields])
    if hasattr(source, "read_next_batch"):
        return Scan(found, once(arrow.told(stream, rows)))
    stream.close()
    return Scan(found, lambda: arrow.told(arrow.opened(source), rows))


def _lazy(source: Any, rows: int) -> Scan:
    """A lazy frame of Polars, run each time it is read, a batch at a time."""

    def read() -> Iterator[Batch]:
        for frame in source.collect_batches(chunk_size=rows, lazy=True):
            yield from arrow.told(arrow.opened(frame), rows)

    return Scan(checked(source.collect_schema().names()), read)
