"""PostgreSQL by psycopg: rows as the binary format of COPY, so that every float comes bit by bit.

One COPY is one statement and sees one state of the table. On a connection that is not in a
transaction yet, it runs in one that is read-only and repeatable, and is rolled back; on one that
is, it runs there, and the transaction stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, MissingPackageError
from deciban.kernels import copy as kernel
from deciban.sources.batch import Batch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.databases.errors import errors_of, refuse_type, secrets_of
from deciban.sources.databases.query import quote_name, table_query
from deciban.sources.scan import BatchScan, check_names
from deciban.sources.tabular import Connection

__all__ = ["ENGINE", "PostgresColumn", "PostgresTable", "connect", "open_table", "scan_postgres"]

ENGINE = "PostgreSQL"
#: The bytes before the first row.
_HEADER = b"PGCOPY\n\xff\r\n\x00"
#: What comes in place of a row after the last one.
_END = b"\xff\xff"
#: Microseconds and days from 1970 to 2000.
_EPOCH, _EPOCH_DAYS = 946_684_800_000_000, 10_957
_DAY = 86_400_000_000
#: What stands for an infinite time or day.
_INFINITE = {"timestamp": (2**63 - 1, -(2**63)), "date": (2**31 - 1, -(2**31))}

#: How a type of PostgreSQL crosses the wire, and how it is asked for.
Form = Literal["float", "integer", "boolean", "text", "timestamp", "date", "time"]
_FORMS: dict[str, tuple[Form, str]] = {
    "int2": ("integer", "{}"), "int4": ("integer", "{}"), "int8": ("integer", "{}"),
    "float4": ("float", "{}"), "float8": ("float", "{}"),
    "numeric": ("float", "{}::float8"), "money": ("float", "{}::numeric::float8"),
    "bool": ("boolean", "{}"), "text": ("text", "{}"), "varchar": ("text", "{}"),
    "bpchar": ("text", "{}::text"), "name": ("text", "{}::text"), "uuid": ("text", "{}::text"),
    "char": ("text", "{}::text"), "citext": ("text", "{}::text"), "inet": ("text", "{}::text"),
    "date": ("date", "{}"), "timestamp": ("timestamp", "{}"),
    "timestamptz": ("timestamp", "{}"), "time": ("time", "{}"),
    "interval": ("float", "extract(epoch from {})::float8"),
}  # fmt: skip


@dataclass(frozen=True)
class PostgresColumn:
    """A column of a query: its name, the name of its type, and how it crosses the wire."""

    name: str
    type: str
    form: Form
    expression: str


@dataclass(frozen=True)
class PostgresTable:
    """A query, its columns, and how to reach the server."""

    connection: Callable[[], Connection]
    owned: bool
    query: str
    columns: tuple[PostgresColumn, ...]
    secrets: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(column.name for column in self.columns)

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection in a transaction that can only read, and sees one state of all tables."""
        with errors_of(ENGINE, self.secrets):
            connection = self.connection()
            try:
                with _transaction(connection):
                    yield connection
            finally:
                if self.owned:
                    connection.close()

    def read(self, rows: int) -> Iterator[Batch]:
        """All rows, in a session of their own."""
        with self.session() as connection:
            yield from copy_rows(connection, self.select(self.columns), self.columns, rows)

    def select(self, columns: Sequence[PostgresColumn], more: Sequence[str] = ()) -> str:
        """The query for some of the columns, and more expressions after them."""
        parts = [column.expression for column in columns]
        return f"SELECT {', '.join([*parts, *more])} FROM ({self.query}) AS rows"


def connect(url: str) -> Connection:
    """A connection to the server of a URL; what it lacks comes from the environment."""
    try:
        import psycopg
    except ImportError:
        raise MissingPackageError(
            "PostgreSQL is read by psycopg, which is not installed.",
            hint="pip install 'psycopg[binary]'",
        ) from None
    scheme, _, rest = url.partition("://")
    with errors_of(ENGINE, secrets_of(url)):
        return psycopg.connect(f"{scheme.partition('+')[0]}://{rest}")


def scan_postgres(
    connection: Connection, query: str, rows: int, url: str | None = None
) -> BatchScan:
    """What PostgreSQL answers to a query."""
    table = open_table(connection, query, url)
    return BatchScan(table.names, lambda: table.read(rows), "database")


def open_table(connection: Connection, query: str, url: str | None = None) -> PostgresTable:
    """The columns of a query; ``url`` is that of the server where the connection is not given."""
    owned, secrets = url is not None, () if url is None else secrets_of(url)
    reach = (lambda: connect(str(url))) if owned else (lambda: connection)
    bare = PostgresTable(reach, owned, table_query(query), (), secrets)
    with bare.session() as session, session.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({bare.query}) AS rows LIMIT 0")
        description = list(cursor.description)
        types = _type_names(cursor, [column.type_code for column in description])
    names = [column.name for column in description]
    check_names(names)
    columns = tuple(
        _column(name, types[c.type_code]) for name, c in zip(names, description, strict=True)
    )
    return PostgresTable(reach, owned, bare.query, columns, secrets)


def _type_names(cursor: Any, codes: Sequence[int]) -> dict[int, str]:
    """The names of types; enumerations are texts, domains what they are made of."""
    sql = (
        "SELECT t.oid, CASE WHEN t.typtype = 'e' THEN 'name' ELSE coalesce(b.typname, t.typname) "
        "END FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type b ON t.typbasetype = b.oid "
        "WHERE t.oid = ANY(%s)"
    )
    return {oid: str(name) for oid, name in cursor.execute(sql, [list(codes)]).fetchall()}


def _column(name: str, kind: str) -> PostgresColumn:
    if kind not in _FORMS:
        written = f"{kind[1:]}[]" if kind.startswith("_") else kind
        raise refuse_type(ENGINE, name, written)
    form, expression = _FORMS[kind]
    return PostgresColumn(name, kind, form, expression.format(quote_name(name)))


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    """A read-only transaction that is rolled back; nothing, where there is one already."""
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status != TransactionStatus.IDLE:
        yield
        return
    begin = "BEGIN" if connection.autocommit else "SET TRANSACTION"
    connection.execute(f"{begin} ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        yield
    finally:
        if not connection.closed and not connection.broken:
            connection.rollback()


# ---------------------------------------------------------------------- rows


def copy_rows(
    connection: Connection, sql: str, columns: Sequence[PostgresColumn], rows: int
) -> Iterator[Batch]:
    """The rows of a query, in batches."""
    with connection.cursor().copy(f"COPY ({sql}) TO STDOUT (FORMAT BINARY)") as copy:
        for data, n_rows in _lots(copy, rows):
            yield _batch(data, n_rows, columns)


def _lots(copy: Any, rows: int) -> Iterator[tuple[bytearray, int]]:
    """The bytes of so many rows; the header comes with the first one, or with the end."""
    data, n_rows = bytearray(copy.read()), 1
    if not data.startswith(_HEADER):
        raise InputError(f"{ENGINE} sent no rows of COPY.", hint="train again")
    del data[: len(_HEADER) + 8]
    while data != _END:
        n_rows += copy.connection.wait(_take(copy.connection.pgconn, data, rows - n_rows))
        if n_rows:
            yield data, n_rows
        if n_rows < rows:
            break
        data, n_rows = bytearray(), 0
    copy.read()  # nothing, or an error that came after the rows


def _take(pgconn: Any, data: bytearray, rows: int) -> Generator[Any, Any, int]:
    """Append so many rows, or all that are left, and say how many; psycopg waits where we yield.

    Every row is a message. To ask psycopg for each of them costs four times what reading does, and
    to hold many messages at once far more.
    """
    from psycopg.waiting import Wait

    for n_rows in range(rows):
        n_bytes, message = pgconn.get_copy_data(1)
        while not n_bytes:
            while not (yield Wait.R):
                pass
            pgconn.consume_input()
            n_bytes, message = pgconn.get_copy_data(1)
        if n_bytes < 0:
            raise _failure(pgconn)
        if message == _END:
            return n_rows
        data += message
    return rows


def _failure(pgconn: Any) -> Exception:
    """Why a query ended after some of its rows."""
    from psycopg import errors

    results = list(iter(pgconn.get_result, None))
    return errors.error_from_result(results[0])


def _batch(data: bytearray, n_rows: int, columns: Sequence[PostgresColumn]) -> Batch:
    raw = np.frombuffer(data, np.uint8)
    places = kernel.fields(raw, n_rows, len(columns))
    if places is None:
        raise InputError(f"{ENGINE} sent rows that are cut off.", hint="train again")
    start, length = places
    values = {
        column.name: _values(column, raw, start[j], length[j]) for j, column in enumerate(columns)
    }
    return Batch(n_rows, values)


def _values(
    column: PostgresColumn,
    data: NDArray[np.uint8],
    start: NDArray[np.int64],
    length: NDArray[np.int32],
) -> Column:
    missing = length < 0
    if column.form == "float":
        return Numbers(kernel.floats(data, start, length))
    if column.form == "text":
        return Strings(*kernel.texts(data, start, length), missing)
    values = kernel.integers(data, start, length)
    if column.form == "integer":
        return Integers(values, missing)
    if column.form == "boolean":
        return Booleans(values.astype(bool), missing)
    return _times(column.name, column.form, values, missing)


def _times(
    name: str,
    form: Literal["timestamp", "date", "time"],
    values: NDArray[np.int64],
    missing: NDArray[np.bool_],
) -> Times:
    """Microseconds since 1970, or since midnight."""
    if np.isin(values[~missing], _INFINITE.get(form, ())).any():
        raise InputError(
            f"{ENGINE}: column {name!r} has an infinite {form}.",
            hint="leave such rows out, or turn it into NULL",
        )
    if form == "timestamp":
        return Times(values + _EPOCH, missing, form)
    return Times((values + _EPOCH_DAYS) * _DAY if form == "date" else values, missing, form)
