"""DuckDB: tables in files, relations and queries as scans, and its errors in our words.

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
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

from deciban.errors import FileError, InputError, MissingPackageError, ParameterError
from deciban.sources import arrow, column_names
from deciban.sources.batch import Batch, FieldBatch
from deciban.sources.columns import Strings
from deciban.sources.scan import BatchScan, Place, check_names
from deciban.sources.tabular import Connection, Tabular

__all__ = [
    "DuckDBScan",
    "ask",
    "coded",
    "connect",
    "first_column",
    "paths_literal",
    "quote",
    "scan_parquet",
    "scan_query",
    "scan_relation",
]

#: No more first rows of a table than this are kept.
MAX_KEPT_ROWS = 10_000
_ENCODING = "leave encoding out to have it guessed, or save the file as UTF-8"
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


def connect() -> Connection:
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
def _database(duckdb: Any, process: int) -> Connection:
    """Threads of DuckDB do not survive a fork: each process has its own."""
    connection = duckdb.connect(":memory:", config={"python_enable_replacements": False})
    connection.execute("SET enable_progress_bar = false")  # it would write to standard output
    return connection


def scan_relation(table: Tabular, rows: int) -> BatchScan:
    """A relation of DuckDB; it is run each time the batches are asked for.

    Its connection is the caller's, and busy while it is read: it is not asked to count.
    """
    return BatchScan(tuple(table.columns), lambda: _read(table, rows))


def scan_query(connection: Connection, sql: str, rows: int) -> BatchScan:
    """What a connection answers to a query."""
    try:
        table = connection.sql(sql)
    except Exception as error:
        if not _is_duckdb_error(error):
            raise
        raise InputError(
            f"DuckDB refused the query: {_headline(error)}.", hint="check the SQL text"
        ) from None
    if table is None:
        raise ParameterError(f"sql must be a query, got {sql!r}.", hint="begin it with SELECT")
    return scan_relation(table, rows)


def _read(table: Tabular, rows: int) -> Iterator[Batch]:
    try:
        yield from arrow.read(arrow.open_stream(table), rows)
    except Exception as error:
        if not _is_duckdb_error(error):
            raise
        raise InputError(f"DuckDB stopped: {_headline(error)}.", hint="check the query") from None


def ask(
    connection: Connection, sql: str, path: str, rows: int, names: Sequence[str] | None = None
) -> Iterator[Batch]:
    """The batches of a query over a file; errors name the file.

    ``names`` are those of the columns, if they are not to be DuckDB's.
    """
    cursor = connection.cursor()
    try:
        with _ErrorsAbout(path):
            yield from arrow.read(arrow.open_stream(cursor.sql(sql)), rows, names)
    finally:
        cursor.close()


def first_column(connection: Connection, sql: str, path: str) -> list[Tabular]:
    """The first column of a small answer."""
    with _ErrorsAbout(path):
        return [row[0] for row in connection.execute(sql).fetchall()]


@dataclass(frozen=True, eq=False)
class DuckDBScan:
    """A table in files that DuckDB can be asked about, again and again.

    ``sql`` is the table in DuckDB's words, ``types`` are DuckDB's names of the
    types of its columns, ``path`` is what errors name, and ``rows`` is the most
    rows in a batch. ``kept`` are columns that are also given as DuckDB writes them; None is
    all of them.
    """

    connection: Connection
    sql: str
    path: str
    types: Mapping[str, str]
    rows: int
    place: Place = "duckdb"
    rereadable: bool = True
    n_rows: int | None = None
    kept: Sequence[str] | None = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.types)

    def __iter__(self) -> Iterator[Batch]:
        types = {n: t for n, t in self.types.items() if self.kept is None or n in self.kept}
        return self._with_fields(types) if types else self.columns(self.names, self.rows)

    def _with_fields(self, types: Mapping[str, str]) -> Iterator[Batch]:
        """All rows, and some columns once more as text."""
        casts = [f"CAST({name} AS VARCHAR)" for name in map(_identifier, types)]
        sql = f"SELECT {_list(self.names)}, {', '.join(casts)} FROM {self.sql}"
        places = list(map(str, range(len(self.names) + len(casts))))
        for batch in ask(self.connection, sql, self.path, self.rows, places):
            columns = list(batch.columns.values())
            values = dict(zip(self.names, columns, strict=False))
            texts = columns[len(self.names) :]
            fields = cast("dict[str, Strings]", dict(zip(types, texts, strict=True)))
            yield FieldBatch(batch.n_rows, values, fields=fields, types=types)

    def require(self, name: str) -> str:
        """The name if there is such a column, otherwise an error that suggests the nearest."""
        if name not in self.types:
            raise column_names.unknown(name, self.names)
        return name

    def ask(self, sql: str, rows: int) -> Iterator[Batch]:
        """The batches of a query."""
        return ask(self.connection, sql, self.path, rows)

    def columns(
        self, names: Sequence[str], rows: int, known: Mapping[str, Sequence[str]] | None = None
    ) -> Iterator[Batch]:
        """All rows of some columns; of those that have ``known`` texts, other texts are missing.

        DuckDB gives known texts as codes, which takes a fraction of the time.
        """
        few = known or {}
        some = [
            f"{coded(name, few[name])} AS {_identifier(name)}" if name in few else _identifier(name)
            for name in names
        ]
        return self.ask(f"SELECT {', '.join(some)} FROM {self.sql}", rows)

    def head(self, n_rows: int) -> Iterator[Batch]:
        """The first rows; a few are kept for whoever asks again."""
        sql = f"FROM {self.sql} LIMIT {n_rows}"
        if n_rows > MAX_KEPT_ROWS:
            return self.ask(sql, n_rows)
        if n_rows not in self._heads:
            self._heads[n_rows] = list(self.ask(sql, n_rows))
        return iter(self._heads[n_rows])

    @cached_property
    def _heads(self) -> dict[int, list[Batch]]:
        return {}


def scan_parquet(files: Sequence[Path], rows: int, kept: Sequence[str] | None = ()) -> DuckDBScan:
    """One table from files of Parquet."""
    connection, path = connect(), str(files[0])
    sql = f"read_parquet({paths_literal(files)})"
    with _ErrorsAbout(path):
        columns = connection.execute(f"DESCRIBE FROM {sql}").fetchall()
    check_names([name for name, *_ in columns])
    types = {name: kind for name, kind, *_ in columns}
    return DuckDBScan(connection, sql, path, types, rows, kept=kept)


def coded(column: str, known: Sequence[str]) -> str:
    """A column of texts as one of known texts, NULL where it has another.

    >>> print(coded("size", ["S", "M"]))
    TRY_CAST("size" AS ENUM('S', 'M'))
    """
    return f"TRY_CAST({_identifier(column)} AS ENUM({', '.join(map(quote, known))}))"


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(_identifier, names))


def _identifier(name: str) -> str:
    return quote(name, '"')


def paths_literal(files: Sequence[Path]) -> str:
    """Some paths as an SQL list, in which no character stands for others."""
    return f"[{', '.join(quote(glob.escape(str(path))) for path in files)}]"


def quote(text: str, mark: str = "'") -> str:
    """Text as an SQL literal, or with a double quote as an identifier.

    >>> quote("it's")
    "'it''s'"
    """
    return mark + text.replace(mark, 2 * mark) + mark


class _ErrorsAbout:
    """Turns what DuckDB says about a file into a FileError."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        if not _is_duckdb_error(error):
            return
        text = str(error)
        for sign, (meaning, hint) in _MEANINGS.items():
            if sign in text:
                line = text.partition("on Line: ")[2].partition("\n")[0]
                where = f" (line {line})" if line else ""
                raise FileError(f"{self.path} {meaning}{where}.", hint=hint) from None
        raise FileError(f"{self.path} cannot be read: {_headline(error)}.") from None


def _is_duckdb_error(error: object) -> bool:
    """Whether it is DuckDB's: in a stream or as an exception of a module that we do not import."""
    return isinstance(error, arrow.ArrowError) or type(error).__module__ in {"duckdb", "_duckdb"}


def _headline(error: object) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
