"""SQLite by Python's own driver: values have types there, columns hardly do.

So the type of a column is decided by all its values, which one query asks for, and by what the
table declares: a column of the type BOOLEAN, DATE, DATETIME, TIMESTAMP or TIME is one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any
from urllib.parse import quote

import numpy as np

from deciban.errors import InputError
from deciban.sources.batch import Batch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.databases.errors import errors_of, refuse_type
from deciban.sources.databases.query import quote_name, table_query
from deciban.sources.objects import column as object_column
from deciban.sources.scan import BatchScan, check_names
from deciban.sources.tabular import Value

__all__ = ["ENGINE", "connect", "scan_sqlite"]

ENGINE = "SQLite"
#: What a declared type holds, and the column that it becomes.
_DECLARED = (("BOOL", "boolean"), ("TIMESTAMP", "timestamp"), ("DATETIME", "timestamp"),
             ("DATE", "date"), ("TIME", "time"))  # fmt: skip
_UNITS = {"timestamp": "datetime64[us]", "date": "datetime64[D]"}


@dataclass(frozen=True)
class _SQLiteColumn:
    """A column of a query: what its values are, and what it is declared as."""

    name: str
    real: bool
    text: bool
    declared: str


def connect(path: str) -> sqlite3.Connection:
    """A database that can only be read; an empty path is one in memory."""
    with errors_of(ENGINE):
        if not path or path == ":memory:":
            return sqlite3.connect(":memory:")
        return sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)


def scan_sqlite(connection: sqlite3.Connection, query: str, rows: int) -> BatchScan:
    """What SQLite answers to a query."""
    sql = table_query(query)
    with errors_of(ENGINE), _snapshot(connection):
        cursor = connection.execute(f"SELECT * FROM ({sql}) LIMIT 0")
        names = [name for name, *_ in cursor.description]
        check_names(names)
        columns = _columns(connection, sql, names)

    def read() -> Iterator[Batch]:
        with errors_of(ENGINE), _snapshot(connection):
            cursor = connection.cursor()
            cursor.row_factory = None
            cursor.execute(sql)
            while some := cursor.fetchmany(rows):
                parts = zip(columns, zip(*some, strict=True), strict=True)
                yield Batch(len(some), {c.name: _values(c, list(part)) for c, part in parts})

    return BatchScan(tuple(names), read, "database")


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """One state of the database, for as long as it is read; nothing is changed in it."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.rollback()


def _columns(connection: sqlite3.Connection, sql: str, names: Sequence[str]) -> list[_SQLiteColumn]:
    """What the values of all rows are; those that are bytes are refused."""
    declared = _declared(connection, sql)
    of = [
        f"max(typeof({quote_name(n)}) = '{kind}')"
        for n in names
        for kind in ("real", "text", "blob")
    ]
    kinds: tuple[Value, ...] = connection.execute(f"SELECT {', '.join(of)} FROM ({sql})").fetchone()
    columns = []
    for j, name in enumerate(names):
        real, text, blob = (bool(value) for value in kinds[3 * j : 3 * j + 3])
        if blob:
            raise refuse_type(ENGINE, name, "BLOB")
        columns.append(_SQLiteColumn(name, real, text, declared.get(name, "")))
    return columns


def _declared(connection: sqlite3.Connection, sql: str) -> dict[str, str]:
    """The declared types of the columns of a query, of a view that is gone at once."""
    view = f"deciban_{token_hex(8)}"
    connection.execute(f"CREATE TEMP VIEW {view} AS {sql}")
    rows = connection.execute(f"PRAGMA temp.table_info({view})").fetchall()
    connection.execute(f"DROP VIEW temp.{view}")
    types = {row[1]: str(row[2]).upper() for row in rows}
    return {
        name: next((kind for sign, kind in _DECLARED if sign in declared), "")
        for name, declared in types.items()
    }


def _values(column: _SQLiteColumn, values: list[Value]) -> Column:
    if column.declared == "boolean" and not column.text and not column.real:
        missing = np.array([value is None for value in values], dtype=bool)
        known = np.array([bool(value) for value in values], dtype=bool)
        return Booleans(known, missing)
    if column.declared in ("date", "timestamp", "time") and column.text:
        return _times(column, values)
    if column.text:
        return _texts(column.name, values)
    if column.real or all(value is None for value in values):
        numbers = [np.nan if value is None else float(value) for value in values]
        whole = Numbers(np.array(numbers, dtype=np.float64))
        return whole if column.real else _whole(values)
    return _whole(values)


def _whole(values: list[Value]) -> Integers:
    missing = np.array([value is None for value in values], dtype=bool)
    known = np.array([0 if value is None else value for value in values], dtype=np.int64)
    return Integers(known, missing)


def _texts(name: str, values: list[Value]) -> Strings:
    """Texts, and numbers among them as SQLite would write them."""
    texts = [value if value is None or isinstance(value, str) else str(value) for value in values]
    made = object_column(name, texts)
    if isinstance(made, Strings):
        return made
    return Strings(
        np.zeros(len(values) + 1, np.int64), np.empty(0, np.uint8), np.ones(len(values), bool)
    )


def _times(column: _SQLiteColumn, values: list[Value]) -> Times:
    unit = column.declared
    missing = np.array([value is None for value in values], dtype=bool)
    written = [value for value in values if value is not None]
    try:
        if unit == "time":
            known = np.array([f"1970-01-01 {value}" for value in written], "datetime64[us]")
        else:
            known = np.array([_utc(value) for value in written], _UNITS[unit])
    except (ValueError, TypeError):
        raise InputError(
            f"{ENGINE}: column {column.name!r} is declared as a {unit}, and some value is none.",
            hint="write it as 2024-12-31 23:59:59, or cast the column to TEXT in the query",
        ) from None
    out = np.zeros(len(values), dtype=np.int64)
    out[~missing] = known.astype("datetime64[us]").astype(np.int64)
    return Times(out, missing, unit)  # type: ignore[arg-type]


def _utc(value: Value) -> Any:
    """A time with a zone as that of UTC, without one; others as they are."""
    from datetime import UTC, datetime

    if isinstance(value, str) and ("+" in value[10:] or value.endswith("Z") or "-" in value[10:]):
        return datetime.fromisoformat(value).astimezone(UTC).replace(tzinfo=None)
    return value
