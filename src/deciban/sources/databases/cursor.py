"""Any other database: an ADBC driver gives Arrow, SQLAlchemy rows of Python; both are streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deciban.errors import InputError
from deciban.sources import arrow
from deciban.sources.arrow import ArrowError
from deciban.sources.batch import Batch
from deciban.sources.databases.errors import errors_of
from deciban.sources.databases.query import TableName, table_query
from deciban.sources.objects import column
from deciban.sources.scan import BatchScan, check_names
from deciban.sources.stream import align_batches
from deciban.sources.tabular import Connection

__all__ = ["scan_adbc", "scan_alchemy"]


def scan_adbc(connection: Connection, query: str, rows: int) -> BatchScan:
    """What an ADBC driver answers to a query."""
    sql, engine = table_query(query), _vendor(connection)
    with errors_of(engine), connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({sql}) AS t LIMIT 0")
        names = [name for name, *_ in cursor.description]
        cursor.fetchall()
    check_names(names)

    def read() -> Iterator[Batch]:
        with errors_of(engine), connection.cursor() as cursor:
            cursor.execute(sql)
            try:
                yield from arrow.read(arrow.open_stream(cursor.fetch_record_batch()), rows)
            except ArrowError as error:
                raise InputError(
                    f"{engine} stopped: {str(error).partition(chr(10))[0].rstrip('.')}.",
                    hint="check the query and the connection",
                ) from None

    return BatchScan(tuple(names), read, "database")


def _vendor(connection: Connection) -> str:
    with errors_of("the database"):
        return str(connection.adbc_get_info().get("vendor_name") or "the database")


def scan_alchemy(engine: Connection, connection: Connection, query: str, rows: int) -> BatchScan:
    """What SQLAlchemy gets for a query: of an engine, on a connection that is closed at the end."""
    from sqlalchemy import text

    dialect = engine.dialect
    name = str(dialect.name)
    if isinstance(query, TableName):
        quote = dialect.identifier_preparer.quote_identifier
        sql = f"SELECT * FROM {'.'.join(quote(part) for part in query.split('.'))}"
    else:
        sql = table_query(query)

    def batches() -> Iterator[Batch]:
        with errors_of(name):
            open_one = engine.connect() if connection is None else connection
            try:
                streamed = open_one.execution_options(stream_results=True)
                result = streamed.execute(text(sql.replace(":", "\\:")))
                names = list(map(str, result.keys()))
                check_names(names)
                for some in result.partitions(rows):
                    parts = zip(names, zip(*some, strict=True), strict=True)
                    yield Batch(len(some), {n: column(n, list(part)) for n, part in parts})
            finally:
                if connection is None:
                    open_one.close()

    with errors_of(name):
        names = _alchemy_names(engine, connection, text(f"SELECT * FROM ({sql}) AS t WHERE 1 = 0"))
    check_names(names)
    return BatchScan(tuple(names), lambda: align_batches(batches()), "database")


def _alchemy_names(engine: Connection, connection: Connection, statement: Any) -> list[str]:
    if connection is not None:
        return list(map(str, connection.execute(statement).keys()))
    with engine.connect() as own:
        return list(map(str, own.execute(statement).keys()))
