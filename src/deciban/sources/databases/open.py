"""What a database is: a URL, or a connection of a driver that is known.

Readers are imported where a database is read: whoever reads a file need not wait for them.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from deciban.errors import MissingPackageError, ParameterError
from deciban.sources import duckdb
from deciban.sources.databases.errors import errors_of, hide_secrets
from deciban.sources.databases.query import table_query
from deciban.sources.scan import Scan
from deciban.sources.tabular import Connection

__all__ = ["is_database", "is_url", "path_of", "scan_database"]

#: Schemes of files and of stores of files, which are no databases.
_FILE_SCHEMES = {"file", "http", "https", "s3", "gs", "gcs", "az", "abfs", "hf", "r2", "memory"}
_URL = re.compile(r"([a-z][a-z0-9]*)(\+[a-z0-9_]+)?://")


def is_url(source: object) -> bool:
    """Whether it is the URL of a database.

    >>> is_url("postgresql://localhost/shop"), is_url("visits.csv"), is_url("https://a.b/c.csv")
    (True, False, False)
    """
    match = _URL.match(source) if isinstance(source, str) else None
    return match is not None and match[1] not in _FILE_SCHEMES


def is_database(source: object) -> bool:
    """Whether it is the URL of a database or a connection to one."""
    return is_url(source) or _driver(source) is not None


def _driver(source: object) -> str | None:
    """The driver of a connection, by the module of its class: none of them is imported here."""
    for kind in type(source).__mro__:
        module, name = kind.__module__, kind.__name__
        if module == "sqlite3" and name == "Connection":
            return "sqlite"
        if name == "DuckDBPyConnection":
            return "duckdb"
        if module.partition(".")[0] == "psycopg" and name == "Connection":
            return "postgres"
        if module.startswith("adbc_driver_manager") and name == "Connection":
            return "adbc"
        if module.startswith("sqlalchemy.engine") and name in ("Engine", "Connection"):
            return "sqlalchemy"
    return None


def scan_database(source: Connection, query: str | None, rows: int) -> Scan:
    """The rows that a database has for a query, or of a table."""
    if query is None:
        what = hide_secrets(source) if isinstance(source, str) else type(source).__name__
        kind = "DuckDB connection" if _driver(source) == "duckdb" else "database"
        raise ParameterError(
            f"a {kind} needs a query, or the name of a table: {what}.",
            hint="pass sql='SELECT ...' or table='name' as well",
        )
    from deciban.sources.databases import cursor, postgres, sqlite

    if isinstance(source, str):
        return _scan_url(source, query, rows)
    driver = _driver(source)
    if driver == "duckdb":
        return duckdb.scan_query(source, table_query(query), rows)
    if driver == "postgres":
        return postgres.scan_postgres(source, query, rows)
    if driver == "sqlite":
        return sqlite.scan_sqlite(source, query, rows)
    if driver == "adbc":
        return cursor.scan_adbc(source, query, rows)
    if driver == "sqlalchemy":
        return _scan_alchemy(source, query, rows)
    raise ParameterError(
        f"sql and table go with a database, got {type(source).__name__}.",
        hint="leave them out, or pass a URL or a connection of DuckDB, sqlite3, psycopg, ADBC or "
        "SQLAlchemy",
    )


def _scan_url(url: str, query: str, rows: int) -> Scan:
    from deciban.sources.databases import cursor, postgres, sqlite

    scheme = url.partition("://")[0].partition("+")[0]
    if scheme in ("postgresql", "postgres"):
        return postgres.scan_postgres(None, query, rows, url)
    path = path_of(url)
    if scheme == "sqlite":
        return sqlite.scan_sqlite(sqlite.connect(path), query, rows)
    if scheme == "duckdb":
        return duckdb.scan_query(_open_duckdb(path), table_query(query), rows)
    try:
        from sqlalchemy import create_engine
    except ImportError:
        raise MissingPackageError(
            f"databases of {scheme!r} are read by SQLAlchemy, which is not installed.",
            hint="pip install sqlalchemy, and the driver of the database",
        ) from None
    with errors_of(scheme):
        engine = create_engine(url)
    return cursor.scan_alchemy(engine, None, query, rows)


def path_of(url: str) -> str:
    """The path in a URL of a file: three slashes are a relative one, four an absolute one."""
    return unquote(urlsplit(url).path.removeprefix("/"))


def _open_duckdb(path: str) -> Connection:
    import duckdb as library

    with errors_of("DuckDB"):
        return library.connect(path, read_only=True) if path else library.connect(":memory:")


def _scan_alchemy(source: Connection, query: str, rows: int) -> Scan:
    """By the driver beneath where it is known, which reads faster and exactly."""
    from deciban.sources.databases import cursor, postgres

    if hasattr(source, "connect"):  # an engine
        engine, connection = source, None
        if engine.dialect.name == "postgresql" and engine.dialect.driver == "psycopg":
            url = engine.url.render_as_string(hide_password=False)
            return postgres.scan_postgres(None, query, rows, url)
        return cursor.scan_alchemy(engine, connection, query, rows)
    beneath = source.connection.driver_connection
    if _driver(beneath) in ("postgres", "sqlite", "duckdb"):
        return scan_database(beneath, query, rows)
    return cursor.scan_alchemy(source.engine, source, query, rows)
