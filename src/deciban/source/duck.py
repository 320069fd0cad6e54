"""DuckDB: relations and queries as batches, and its errors in our words.

A result that is being read blocks its DuckDB connection: finish or drop the
batches before the same connection is used again. Files are read on a
connection of their own, by as many threads as there are cores.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deciban.errors import FileError, InputError, MissingPackageError, ParameterError
from deciban.source import arrow
from deciban.source.columns import Batch
from deciban.source.naming import checked
from deciban.source.scanning import Scan

__all__ = [
    "connect",
    "first_column",
    "is_connection",
    "literal",
    "query",
    "quoted",
    "read_file",
    "relation",
]

_ENCODING = "pass encoding='latin-1' or 'utf-16', or save the file as UTF-8"
_GZIP = ("is not a complete gzip file", "copy or compress it again")
#: What DuckDB says, what that means, and what helps.
_MEANINGS = {
    "not utf-8": ("is not in UTF-8", _ENCODING),
    "nicode": ("is not in the encoding that was stated", _ENCODING),
    "Expected Number of Columns": (
        "has a row with another number of fields than the header",
        "quote fields that contain the delimiter, and give every row all fields",
    ),
    "unterminated quote": (
        "has a quote that is not closed, or mixed line ends",
        "double the quotes inside quoted fields, and end all lines alike",
    ),
    "Maximum line size": ("has a line of more than 2 MB", "split the line, or use Parquet"),
    "GZIP": _GZIP,
    "gzip": _GZIP,
    "Malformed JSON": ("has a line that is not JSON", "give one complete JSON object a line"),
    "duplicate key": ("has an object with the same key twice", "rename one of the keys"),
    "schema mismatch": (
        "and other files that are read with it have different columns",
        "read files with the same columns together",
    ),
    "arquet": (
        "is not a Parquet file",
        "check that it is complete, and that its name ends in what it is",
    ),
}


def is_connection(value: Any) -> bool:
    """Whether something is a DuckDB connection."""
    return type(value).__name__ == "DuckDBPyConnection"


def connect() -> Any:
    """A DuckDB database in memory, for reading files."""
    try:
        import duckdb
    except ImportError:
        raise MissingPackageError(
            "reading files needs DuckDB, which is not installed.",
            hint="pip install duckdb",
        ) from None
    connection = duckdb.connect(":memory:", config={"python_enable_replacements": False})
    connection.execute("SET enable_progress_bar = false")  # it would write to standard output
    return connection


def relation(table: Any, rows: int) -> Scan:
    """A relation of DuckDB; it is run each time the batches are asked for."""
    return Scan(checked(table.columns), lambda: _read(table, rows))


def query(connection: Any, sql: str, rows: int) -> Scan:
    """What a connection answers to a query."""
    try:
        table = connection.sql(sql)
    except Exception as error:
        if not _is_said(error):
            raise
        raise InputError(
            f"DuckDB refused the query: {_headline(error)}.", hint="check the SQL text"
        ) from None
    if table is None:
        raise ParameterError(f"sql must be a query, got {sql!r}.", hint="begin it with SELECT")
    return relation(table, rows)


def _read(table: Any, rows: int) -> Iterator[Batch]:
    try:
        yield from arrow.read(arrow.opened(table), rows)
    except Exception as error:
        if not _is_said(error):
            raise
        raise InputError(f"DuckDB stopped: {_headline(error)}.", hint="check the query") from None


def read_file(connection: Any, sql: str, path: str, rows: int) -> Iterator[Batch]:
    """The batches of a query over a file; errors name the file."""
    with _Explained(path):
        table = connection.sql(sql)
        yield from arrow.read(arrow.opened(table), rows)


def first_column(connection: Any, sql: str, path: str) -> list[Any]:
    """The first column of a small answer."""
    with _Explained(path):
        return [row[0] for row in connection.execute(sql).fetchall()]


def literal(path: Path) -> str:
    """The path in which no character stands for others."""
    return glob.escape(str(path))


def quoted(text: str, mark: str = "'") -> str:
    """Text as an SQL literal, or with a double quote as an identifier.

    >>> quoted("it's")
    "'it''s'"
    """
    return mark + text.replace(mark, 2 * mark) + mark


class _Explained:
    """Turns what DuckDB says about a file into a FileError."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        if not _is_said(error):
            return
        text = str(error)
        for sign, (meaning, hint) in _MEANINGS.items():
            if sign in text:
                line = text.partition("on Line: ")[2].partition("\n")[0]
                where = f" (line {line})" if line else ""
                raise FileError(f"{self.path} {meaning}{where}.", hint=hint) from None
        raise FileError(f"{self.path} cannot be read: {_headline(error)}.") from None


def _is_said(error: object) -> bool:
    """Whether DuckDB said it: in a stream or as an exception of a module that we do not import."""
    return isinstance(error, arrow.ArrowError) or type(error).__module__ in {"duckdb", "_duckdb"}


def _headline(error: object) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
