"""DuckDB: relations and queries as batches, and its errors in our words.

A result that is being read blocks its DuckDB connection: finish or drop the
batches before the same connection is used again. Files are read in a database
of our own, each on a connection of its own, by as many threads as there are
cores.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deciban.errors import FileError, InputError, MissingPackageError, ParameterError
from deciban.sources import arrow
from deciban.sources.columns import Batch
from deciban.sources.naming import checked
from deciban.sources.scanning import Scan

__all__ = [
    "Stored",
    "ask",
    "connect",
    "first_column",
    "is_connection",
    "literal",
    "query",
    "quoted",
    "relation",
    "stored",
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
    """A connection to the one DuckDB database, in memory, in which this process reads files."""
    try:
        import duckdb
    except ImportError:
        raise MissingPackageError(
            "reading files needs DuckDB, which is not installed.",
            hint="pip install duckdb",
        ) from None
    return _database(duckdb, os.getpid()).cursor()


@cache
def _database(duckdb: Any, process: int) -> Any:
    """Threads of DuckDB do not survive a fork: each process has its own."""
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


def ask(connection: Any, sql: str, path: str, rows: int) -> Iterator[Batch]:
    """The batches of a query over a file; errors name the file."""
    cursor = connection.cursor()
    try:
        with _Explained(path):
            yield from arrow.read(arrow.opened(cursor.sql(sql)), rows)
    finally:
        cursor.close()


def first_column(connection: Any, sql: str, path: str) -> list[Any]:
    """The first column of a small answer."""
    with _Explained(path):
        return [row[0] for row in connection.execute(sql).fetchall()]


@dataclass(frozen=True, eq=False)
class Stored:
    """A table in files that can be asked for parts of itself, again and again.

    ``sql`` is the table in DuckDB's words, ``types`` are DuckDB's names of the
    types of its columns, and ``path`` is what errors name.
    """

    connection: Any
    sql: str
    path: str
    types: Mapping[str, str]

    def ask(self, sql: str, rows: int) -> Iterator[Batch]:
        """The batches of a query."""
        return ask(self.connection, sql, self.path, rows)

    def columns(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """All rows of some columns."""
        return self.ask(f"SELECT {_listed(names)} FROM {self.sql}", rows)

    def head(self, n_rows: int) -> Iterator[Batch]:
        """The first rows."""
        return self.ask(f"FROM {self.sql} LIMIT {n_rows}", n_rows)

    def every(self, stride: int, rows: int) -> Iterator[Batch]:
        """Rows 0, ``stride``, 2 ``stride``, ... in the order of the files."""
        counter = "n"
        while counter in {name.lower() for name in self.types}:
            counter += "n"
        numbered = f"SELECT *, row_number() OVER () - 1 AS {counter} FROM {self.sql}"
        chosen = f"SELECT {_listed(list(self.types))} FROM ({numbered})"
        return self.ask(f"{chosen} WHERE {counter} % {stride} = 0", rows)


def stored(sql: str, path: str) -> Stored:
    """What DuckDB finds in files."""
    connection = connect()
    with _Explained(path):
        found = connection.execute(f"DESCRIBE FROM {sql}").fetchall()
    checked([name for name, *_ in found])
    return Stored(connection, sql, path, {name: kind for name, kind, *_ in found})


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted(name, '"') for name in names)


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
