"""Hostile tables, and the places that rows can be in: each gives what ``fit`` takes."""

import sqlite3
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa

N_ROWS = 400


def mixed(n_rows=N_ROWS, seed=0):
    """Every type that a column can have, at its edges; a class that only the last rows have."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.4, "yes", "no").astype(object)
    y[-7:] = "late"
    odd = [1e308, -1e308, 5e-324, -0.0, 0.0, float("nan"), None, 1 / 3]
    numbers = [odd[i % 40] if i % 40 < len(odd) else float(rng.normal()) for i in range(n_rows)]
    names = ["plain", "", "naïve", "\U0001f600 \U00020000", "it's", 'a "b"', "back\\slash", None]
    start = datetime(2024, 2, 28, 23, 30, 0, 250_000)
    moments = [start + timedelta(hours=7 * i, microseconds=i) for i in range(n_rows)]
    return pa.table(
        {
            "number": pa.array(numbers, pa.float64()),
            "whole": pa.array([None if i % 31 == 0 else i % 23 - 5 for i in range(n_rows)]),
            "price": pa.array(
                [None if i % 29 == 0 else Decimal(i % 97) / 8 for i in range(n_rows)],
                pa.decimal128(12, 3),
            ),
            "name": pa.array([names[int(j)] for j in rng.integers(0, len(names), n_rows)]),
            "flag": pa.array(
                [None if i % 37 == 0 else bool(rng.random() < 0.5) for i in range(n_rows)]
            ),
            "day": pa.array([date(2023, 12, 30) + timedelta(days=i % 60) for i in range(n_rows)]),
            "moment": pa.array(moments, pa.timestamp("us")),
            "instant": pa.array(
                [moment.replace(tzinfo=UTC) for moment in moments], pa.timestamp("us", "UTC")
            ),
            "label": pa.array(list(y)),
        }
    )  # fmt: skip


def categories(n_values=3_000, n_rows=6_000):
    """Many values of a category, and weights."""
    rng = np.random.default_rng(1)
    of = rng.integers(0, n_values, n_rows)
    return pa.table(
        {
            "city": pa.array([f"city {v}" for v in of]),
            "size": pa.array([float(v % 17) / 4 for v in of]),
            "weight": pa.array([float(i % 4) / 2 for i in range(n_rows)]),
            "label": pa.array(["abc"[int(v) % 3] for v in of + rng.integers(0, 2, n_rows)]),
        }
    )  # fmt: skip


def many_categories(n_values=100_000):
    """A value of a category in every row, in no order, and a few of them in more rows."""
    of = np.concatenate([np.random.default_rng(2).permutation(n_values), np.arange(5_000)])
    return pa.table(
        {
            "city": pa.array([f"city {v}" for v in of]),
            "size": pa.array((of % 7).astype(float)),
            "label": pa.array(np.array(["a", "b"])[of % 3 // 2]),
        }
    )


def texts(n_rows=240):
    """A column of sentences beside a number."""
    words = [
        "good film",
        "a bad film",
        "fine, good, good",
        "no words of note",
        "naïve \U0001f600 end",
    ]
    return pa.table(
        {
            "note": pa.array([f"{words[i % 5]} with row {i} of some" for i in range(n_rows)]),
            "stars": pa.array([float(i % 5) for i in range(n_rows)]),
            "label": pa.array(["pos" if i % 5 in (0, 2) else "neg" for i in range(n_rows)]),
        }
    )  # fmt: skip


TABLES = {"mixed": mixed, "categories": categories, "texts": texts}

# ---------------------------------------------------------------------- places
#
# Each is a context manager that is given a table, and a folder or the URL of a server. It gives the
# first argument of ``fit`` and further arguments.


@contextmanager
def in_pandas(table, folder):
    yield table.to_pandas(), {}


@contextmanager
def in_polars(table, folder):
    yield pl.from_arrow(table), {}


@contextmanager
def in_arrow(table, folder):
    yield table, {}


@contextmanager
def in_csv(table, folder):
    pl.from_arrow(table).write_csv(folder / "t.csv", quote_style="non_numeric")
    yield folder / "t.csv", {}


@contextmanager
def in_parquet(table, folder):
    pl.from_arrow(table).write_parquet(folder / "t.parquet", row_group_size=100)
    yield folder / "t.parquet", {}


@contextmanager
def in_duckdb(table, folder):
    with duckdb.connect() as connection:
        connection.register("arrow", table)
        connection.execute("CREATE TABLE t AS FROM arrow")
        yield connection, {"table": "t"}


@contextmanager
def in_duckdb_relation(table, folder):
    with duckdb.connect() as connection:
        connection.register("arrow", table)
        connection.execute("CREATE TABLE t AS FROM arrow")
        yield connection.table("t"), {}


SQLITE_TYPES = {
    "double": "REAL", "int64": "INTEGER", "string": "TEXT", "bool": "BOOLEAN", "date32": "DATE",
    "timestamp": "TIMESTAMP", "decimal128": "REAL",
}  # fmt: skip
POSTGRES_TYPES = {
    "double": "float8", "int64": "int8", "string": "text", "bool": "bool", "date32": "date",
    "decimal128": "numeric(12, 3)",
}  # fmt: skip


def declared(field, types):
    kind = str(field.type).partition("(")[0].partition("[")[0]
    if kind == "timestamp" and types is POSTGRES_TYPES:
        return "timestamptz" if field.type.tz else "timestamp"
    return types[kind]


def sqlite_value(value):
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


@contextmanager
def in_sqlite(table, folder):
    names = [f'"{f.name}" {declared(f, SQLITE_TYPES)}' for f in table.schema]
    connection = sqlite3.connect(folder / "t.db")
    connection.execute(f"CREATE TABLE t ({', '.join(names)})")
    rows = [tuple(map(sqlite_value, row.values())) for row in table.to_pylist()]
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    connection.commit()
    connection.close()
    yield f"sqlite:///{folder / 't.db'}", {"table": "t"}


@contextmanager
def in_postgres(table, url):
    names = [f'"{f.name}" {declared(f, POSTGRES_TYPES)}' for f in table.schema]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(f"CREATE TABLE t ({', '.join(names)})")
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            for row in table.to_pylist():
                copy.write_row(tuple(row.values()))
    yield url, {"table": "t"}


@contextmanager
def in_sqlalchemy(table, url):
    import sqlalchemy

    engine = sqlalchemy.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with in_postgres(table, url) as (_, how):
        yield engine, how
    engine.dispose()


@contextmanager
def in_adbc(table, url):
    """The driver hands ``numeric`` over as text: the query says that it is a number."""
    from adbc_driver_postgresql import dbapi

    columns = [
        f'"{f.name}"::float8' if pa.types.is_decimal(f.type) else f'"{f.name}"'
        for f in table.schema
    ]
    with in_postgres(table, url), dbapi.connect(url) as connection:
        yield connection, {"sql": f"SELECT {', '.join(columns)} FROM t"}


PLACES = {
    "pandas": in_pandas,
    "polars": in_polars,
    "csv": in_csv,
    "parquet": in_parquet,
    "duckdb": in_duckdb,
    "duckdb relation": in_duckdb_relation,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
    "sqlalchemy": in_sqlalchemy,
    "adbc": in_adbc,
}
#: The places that are given the URL of a server.
ON_SERVER = {"postgres", "sqlalchemy", "adbc"}
