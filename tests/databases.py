"""Databases that run queries of models: a table goes in, and rows come out, in its order."""

import math
import sqlite3
from contextlib import contextmanager

import postgres

DIALECTS = ("duckdb", "sqlite", "postgres")


class Database:
    """A database with a table of rows; ``key`` is the number of each row."""

    types = {float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN", str: "VARCHAR"}
    mark = "?"
    #: Columns of the tests whose type this database does not have.
    lacks = ()

    def __init__(self, connection):
        self.connection = connection

    def run(self, query):
        return self.connection.execute(query).fetchall()

    def store(self, name, rows):
        """Make a table of columns, lists of values; None is a hole."""
        columns = {"key": list(range(len(next(iter(rows.values()))))), **rows}
        quoted = [quote(column) for column in columns]
        types = [self.type_of(values) for values in columns.values()]
        self.run_only(f"DROP TABLE IF EXISTS {quote(name)}")
        pairs = zip(quoted, types, strict=True)
        self.run_only(f"CREATE TABLE {quote(name)} ({', '.join(f'{a} {b}' for a, b in pairs)})")
        marks = ", ".join([self.mark] * len(columns))
        lines = [list(map(self.value, line)) for line in zip(*columns.values(), strict=True)]
        self.insert(f"INSERT INTO {quote(name)} VALUES ({marks})", lines)

    def insert(self, statement, lines):
        self.connection.executemany(statement, lines)

    def run_only(self, statement):
        self.connection.execute(statement)

    def value(self, value):
        return value

    def type_of(self, values):
        kinds = [type(value) for value in values if value is not None]
        if not kinds:
            return self.types[float]
        return self.types.get(kinds[0]) or kinds[0].__name__.upper().replace(
            "DATETIME", "TIMESTAMP"
        )


class SQLite(Database):
    def value(self, value):
        if hasattr(value, "isoformat"):
            return (
                value.isoformat(" ")
                if hasattr(value, "hour") and hasattr(value, "year")
                else str(value)
            )
        return None if isinstance(value, float) and math.isnan(value) else value

    def type_of(self, values):
        kinds = [type(value) for value in values if value is not None]
        types = {float: "REAL", int: "INTEGER", bool: "INTEGER"}
        return types.get(kinds[0], "TEXT") if kinds else "REAL"


class PostgreSQL(Database):
    types = {float: "float8", int: "bigint", bool: "boolean", str: "text"}
    mark = "%s"

    def insert(self, statement, lines):
        with self.connection.cursor() as cursor:
            cursor.executemany(statement, lines)


def quote(name):
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def open_database(dialect):
    """A database of a dialect, which is gone afterwards."""
    if dialect == "duckdb":
        import duckdb

        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            yield Database(connection)
    elif dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
        yield SQLite(connection)
        connection.close()
    else:
        import psycopg

        with postgres.server() as address, psycopg.connect(address, autocommit=True) as connection:
            connection.prepare_threshold = None  # tables of one name change their types
            yield PostgreSQL(connection)
