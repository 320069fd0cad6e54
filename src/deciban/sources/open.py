"""What X is: the one place that looks, and opens it as a scan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from deciban import checks
from deciban.errors import InputError
from deciban.sources import duckdb, files, frames, matrix, objects, stream, texts
from deciban.sources.batch import Batch
from deciban.sources.databases import is_database, scan_database
from deciban.sources.databases.query import query_of
from deciban.sources.options import USUAL_OPTIONS, ReadOptions
from deciban.sources.scan import BATCH_ROWS, BatchScan, Scan
from deciban.sources.spark import is_spark, scan_spark
from deciban.sources.tabular import Tabular

__all__ = ["Form", "batches", "is_matrix", "is_texts", "names", "scan", "scan_features"]

#: What the features of a model come in: named columns, a matrix without names, one column of texts.
Form = Literal["table", "matrix", "texts"]


def scan(
    source: Tabular,
    *,
    sql: str | None = None,
    table: str | None = None,
    rows: int = BATCH_ROWS,
    na: Sequence[str] | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    trim: bool = True,
    sheet: str | int | None = None,
    types: Mapping[str, str] | None = None,
) -> Scan:
    """A source as a table that can be read: its column names now, its batches when iterated.

    Parameters
    ----------
    source
        Any table; see :mod:`deciban.sources`.
    sql, table
        A query, or the name of a table, when the source is the URL of a database or a connection;
        see :mod:`deciban.sources.databases`.
    rows
        The most rows in a batch.
    na
        Fields of a text file that mean "no value" in every column, such as
        ``["NA", "?"]``. Without it, an empty field is missing everywhere, and the
        usual markers are in columns that otherwise hold no text.
    encoding
        Of a text file, any that Python knows. Without it, UTF-8, or the likeliest one
        where that does not fit, with a warning that names it.
    decimal, thousands
        The decimal sign of numbers, "." or ",", and what sets their thousands apart:
        ",", ".", " ", "'" or "" for nothing. Without them, as all fields of a column show.
    date_format
        A pattern of ``strptime`` for columns all fields of which have it.
    trim
        Whether blanks around the fields of a text file are left away.
    sheet
        Of a workbook: its name, or its number from 1.
    types
        Formats of columns of text files that are known, as they were when a model was
        trained, whatever the fields of this file look like; see
        :mod:`deciban.sources.formats`. A column is still text in a batch where some field
        is written in another way.

    Examples
    --------
    A scan goes wherever a table does: ``model.fit(scan("f.csv", decimal=","), target="y")``.

    >>> table = scan([{"text": "hello", "label": "ham"}])
    >>> table.require("lable")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: there is no column 'lable'. Hint: perhaps 'label' was meant.

    """
    if rows != BATCH_ROWS:
        checks.whole_number("rows", rows, 1, "try 65536")
    query = None if sql is None and table is None else query_of(sql, table)
    if query is not None or _is_database(source):
        return scan_database(source, query, rows)
    if isinstance(source, str | os.PathLike):
        options, stated = USUAL_OPTIONS, (na, encoding, decimal, thousands, date_format, sheet)
        if types or rows != BATCH_ROWS or not trim or any(one is not None for one in stated):
            options = ReadOptions(
                rows, na, encoding, types or {}, decimal, thousands, date_format, trim, sheet
            )
        return files.scan([os.fspath(source)], options)
    if types and isinstance(source, BatchScan) and source.reopen is not None:
        return source.reopen(types)
    if isinstance(source, list | tuple):
        listed = objects.scan_rows(source, rows)
        if listed is not None:
            return listed
    return _scan_object(source, rows)


def batches(source: Tabular, **options: Any) -> Iterator[Batch]:
    """The rows of a source, at most ``rows`` at a time; ``options`` are those of :func:`scan`.

    >>> [batch.n_rows for batch in batches({"x": [1, 2, 3]}, rows=2)]
    [2, 1]
    """
    return iter(scan(source, **options))


def names(source: Tabular, *, sql: str | None = None) -> tuple[str, ...]:
    """The names of a source's columns; a stream is used up by asking.

    >>> names([{"text": "hello", "label": "ham"}])
    ('text', 'label')
    """
    return scan(source, sql=sql).names


def _scan_object(source: Tabular, rows: int) -> Scan:
    """Everything that is not a file, a query or a list of rows."""
    if isinstance(source, Scan):
        return source
    if isinstance(source, np.ndarray):
        return frames.scan_array(source, rows)
    if isinstance(source, Mapping):
        return frames.scan_dict(source, rows)
    if frames.is_pandas(source) and hasattr(source, "columns"):
        return frames.scan_pandas(source, rows)
    if hasattr(source, "collect_batches"):
        return frames.scan_lazy(source, rows)
    if is_spark(source):
        return scan_spark(source, rows)
    if type(source).__name__ == "DuckDBPyRelation":
        return duckdb.scan_relation(source, rows)
    if hasattr(source, "__arrow_c_stream__"):
        return frames.scan_arrow(source, rows)
    if isinstance(source, Iterable) and not isinstance(source, bytes) and not _is_sparse(source):
        return stream.scan_stream(source, rows, lambda item: scan(item, rows=rows))
    raise InputError(
        f"a table is needed, got {type(source).__name__}.",
        hint="pass a frame, an array, a dict of columns, a list of dicts, or a path",
    )


# ---------------------------------------------------------------------- features of a model


def scan_features(
    X: Tabular,
    *,
    sql: str | None = None,
    names: tuple[str, ...] | None = None,
    named: bool = False,
    model: str = "the model",
    types: Mapping[str, str] | None = None,
) -> tuple[Scan, Form]:
    """The features that a model learns from or answers for, and what they came in.

    ``names`` are the columns of a model that is fitted: those of a matrix, in order, and
    of a list of texts; ``named`` says that they were named in training. ``model`` is its
    name, for messages; ``types`` are the formats that its columns had in the files of training.

    >>> scan_features([[1, 2]])[0].names, scan_features(["good film"])[0].names
    (('x0', 'x1'), ('text',))
    """
    asked = sql is not None or _is_database(X)
    if not asked and is_texts(X):
        return texts.scan_texts(X, names), "texts"
    if not asked and is_matrix(X):
        return matrix.scan_matrix(X, names, named, model), "matrix"
    return scan(X, sql=sql, types=types), "table"


def is_matrix(X: Tabular) -> bool:
    """Whether it is an array, or what becomes one: not a frame, file, dict or list of dicts.

    >>> is_matrix([[1, 2]]), is_matrix([{"x": 1}]), is_matrix("rows.csv")
    (True, False, False)
    """
    if isinstance(X, list | tuple):
        return not (X and (isinstance(X[0], Mapping) or _is_table(X[0])))
    named = isinstance(X, str) or hasattr(X, "__fspath__") or hasattr(X, "__next__")
    return not (named or _is_table(X) or is_spark(X))


def is_texts(X: Tabular) -> bool:
    """Whether it is a list, array or series of texts: a table of one column.

    >>> is_texts(["good film", None]), is_texts([["good film"]]), is_texts("rows.csv")
    (True, False, False)
    """
    if isinstance(X, list | tuple):
        return isinstance(next((value for value in X[:100] if value is not None), None), str)
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and (X.dtype.kind in "UT" or (X.dtype == object and is_texts(list(X))))
    if isinstance(X, Mapping | str) or hasattr(type(X), "columns"):
        return False
    series = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if not series or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__getitem__"):
        return False
    head = X[:100]
    return is_texts(head.to_pylist() if hasattr(head, "to_pylist") else list(head))


def _is_database(X: Tabular) -> bool:
    """Whether it is a database, which rows in memory and paths are not."""
    if isinstance(X, list | tuple | Mapping | np.ndarray | os.PathLike):
        return False
    return not (isinstance(X, str) and "://" not in X) and is_database(X)


def _is_table(X: Tabular) -> bool:
    return isinstance(X, Mapping | Scan) or any(
        hasattr(X, name) for name in ("collect_batches", "__arrow_c_stream__", "columns")
    )


def _is_sparse(source: Tabular) -> bool:
    return hasattr(source, "tocsr")
