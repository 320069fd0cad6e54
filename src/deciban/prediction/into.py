"""Answers into a table of a database: a new table in one transaction, or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from deciban.errors import InputError, ParameterError
from deciban.prediction.writing import ColumnValues, Field, Write
from deciban.sources.databases import TableName
from deciban.sources.databases.errors import errors_of, hide_secrets, secrets_of
from deciban.sources.databases.open import is_url, path_of
from deciban.sources.databases.postgres import connect
from deciban.sources.databases.query import quote_name
from deciban.sources.tabular import Connection, Value

__all__ = ["into_table", "refuse_source"]

_TYPES = {
    "postgresql": {"number": "float8", "integer": "int8", "boolean": "bool", "text": "text",
                   "date": "date", "timestamp": "timestamp", "time": "time"},
    "sqlite": {"number": "REAL", "integer": "INTEGER", "boolean": "BOOLEAN", "text": "TEXT",
               "date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME"},
}  # fmt: skip
Rows = list[tuple[Value, ...]]


def refuse_source(table: str, source: str | None) -> None:
    """Refuse to write over the table that is read.

    >>> refuse_source("scores", "visits")
    >>> refuse_source("main.Visits", "visits")
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: main.Visits is the table that is read, and would be destroyed...
    """
    if source is not None and _place(table) == _place(source):
        raise ParameterError(
            f"{table} is the table that is read, and would be destroyed.",
            hint="write to another table",
        )


def _place(table: str) -> str:
    """Where a table is, as both databases know it when no schema is named."""
    return table.lower().removeprefix("main.").removeprefix("public.")


@contextmanager
def into_table(url: str, table: str, overwrite: bool, fields: Sequence[Field]) -> Iterator[Write]:
    """A place to write columns to, in batches; the table is there when all of them are."""
    scheme = url.partition("://")[0].partition("+")[0].replace("postgres", "postgresql", 1)
    scheme = "postgresql" if scheme.startswith("postgresql") else scheme
    if not is_url(url) or scheme not in _TYPES:
        raise ParameterError(
            f"answers cannot be written into a table of {hide_secrets(url)}.",
            hint="that needs postgresql:// or sqlite:///; write a file with --output otherwise",
        )
    name = ".".join(quote_name(part) for part in TableName(table).split("."))
    columns = [f"{quote_name(field.name)} {_TYPES[scheme][field.kind]}" for field in fields]
    place = _postgres if scheme == "postgresql" else _sqlite
    with errors_of(scheme, secrets_of(url)), place(url) as (execute, insert):
        if overwrite:
            execute(f"DROP TABLE IF EXISTS {name}")
        try:
            execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        except Exception as error:
            if "already exists" not in str(error):
                raise
            raise InputError(
                f"the database has a table {table!r} already.",
                hint="name another one, or add --force to replace it",
            ) from None

        def write(values: Sequence[ColumnValues]) -> None:
            insert(name, list(zip(*map(_plain, values), strict=True)))

        yield write


def _plain(column: ColumnValues) -> Sequence[Value]:
    return column if isinstance(column, Sequence) else list(column.texts())


Place = tuple[Callable[[str], object], Callable[[str, Rows], object]]


@contextmanager
def _postgres(url: str) -> Iterator[Place]:
    with connect(url) as connection:  # commits at the end, or rolls back

        def insert(name: str, rows: Rows) -> None:
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)

        yield connection.execute, insert


@contextmanager
def _sqlite(url: str) -> Iterator[Place]:
    connection = sqlite3.connect(path_of(url), isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection.execute, _inserter(connection)
        connection.execute("COMMIT")
    finally:
        connection.close()  # what was not committed is rolled back


def _inserter(connection: Connection) -> Callable[[str, Rows], object]:
    def insert(name: str, rows: Rows) -> None:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    return insert
