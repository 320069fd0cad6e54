"""Dialects of SQL: how each writes names, texts and numbers, and what its arithmetic does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from deciban.errors import InputError, ParameterError
from deciban.formulas.nodes import InputType

__all__ = ["DIALECTS", "Dialect", "dialect_of"]


@dataclass(frozen=True)
class Arrays:
    """How arrays are written: their brackets, the types of numbers and texts, and as a table.

    ``decode`` gives a text from an x and the digits of its bytes.
    """

    brackets: str
    types: tuple[str, str]
    decode: str
    select: str


@dataclass(frozen=True)
class Dialect:
    """What a database writes in a way of its own; templates have the value as ``{}``.

    ``text`` writes a text, None one that no value of this database can be. ``inputs`` read a
    column as a type. ``checked`` arithmetic raises an error where a result is too large or too
    small. Queries go by *stages*, each of which computes from the one before: as joins to one row
    each (``lateral``), as common tables of which ``stage`` is said, or as nested queries.
    ``lookup`` is said of the tables that are joined: those of more than ``max_case_lines``. No
    stage has more than ``max_columns``.
    """

    name: str
    quote: str
    text: Callable[[str], str | None]
    number: str
    infinity: str
    inputs: Mapping[InputType, str]
    modulo: str
    greatest: str = "greatest"
    least: str = "least"
    log1p: str | None = None
    stage: str = ""
    lookup: str = "MATERIALIZED "
    lateral: bool = False
    fence: str = ""
    checked: bool = False
    arrays: Arrays | None = None
    values_column: str = "column{}"
    max_joins: int = 1000
    max_columns: int | None = None
    max_case_lines: int = 32
    max_name_bytes: int = 255
    booleans: tuple[str, str] = field(default=("FALSE", "TRUE"))

    def name_of(self, name: str) -> str:
        """A name in quotes.

        >>> DIALECTS["spark"].name_of("a `b`")
        '`a ``b```'
        """
        if not name or "\0" in name:
            raise InputError(
                f"{name!r} is no name that {self.name} can have.", hint="rename the column"
            )
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def write_number(self, value: float) -> str:
        """A number, to the last bit.

        >>> DIALECTS["duckdb"].write_number(0.1), DIALECTS["postgres"].write_number(-0.1)
        ('0.1e0', "'-0.1e0'::float8")
        """
        if math.isinf(value):
            return self.infinity.format("-" if value < 0 else "")
        written = repr(float(value))
        return self.number.format(written if "e" in written else f"{written}e0")


def _doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _hex(text: str) -> str:
    return text.encode().hex()


def _postgres_text(text: str) -> str | None:
    """With a backslash, a text that is read alike whatever the server takes backslashes for."""
    if "\0" in text:
        return None
    return f"E{_doubled(text)}".replace("\\", 2 * "\\") if "\\" in text else _doubled(text)


def _duckdb_text(text: str) -> str:
    return f"decode(unhex('{_hex(text)}'))" if "\0" in text else _doubled(text)


def _sqlite_text(text: str) -> str:
    return f"CAST(X'{_hex(text)}' AS TEXT)" if "\0" in text else _doubled(text)


def _spark_text(text: str) -> str:
    """Spark's rules of escaping are a setting; bytes are not."""
    plain = not (set(text) & set("'\"\\") or any(ord(c) < 32 for c in text))
    return f"'{text}'" if plain else f"CAST(X'{_hex(text)}' AS STRING)"


def _sqlite_time(date_characters: int, day: str = "") -> str:
    """Seconds of a text in ISO form; of its fraction of a second, which SQLite would round."""
    rest = f"substr({{0}}, {date_characters + 1})"
    whole = f"substr({{0}}, 1, {date_characters}) || ltrim({rest}, '.0123456789')"
    fraction = f"CASE WHEN {rest} LIKE '.%' THEN CAST('0' || {rest} AS REAL) ELSE 0.0 END"
    return f"(CAST(strftime('%s', {whole}) AS REAL){day} + {fraction})"


_POSTGRES = Dialect(
    "postgres",
    '"',
    _postgres_text,
    "'{}'::float8",
    "'{}Infinity'::float8",
    {
        "number": "NULLIF(CAST({} AS float8), 'NaN'::float8)",
        "integer": "CAST({} AS bigint)",
        "boolean": "CAST({} AS boolean)",
        "text": 'CAST({} AS text) COLLATE "C"',
        "date": "CAST(extract(epoch FROM {}) AS float8)",
        "timestamp": "CAST(extract(epoch FROM {}) AS float8)",
        "time": "CAST(extract(epoch FROM {}) AS float8)",
    },
    "({x} - {period} * floor({x} / {period}))",
    arrays=Arrays(
        "{}",
        ("float8", "text"),
        "convert_from(decode(substr({}, 2), 'hex'), 'UTF8')",
        "SELECT {given} FROM unnest(\n{arrays}) AS u({names})",
    ),
    lateral=True,
    fence="\nOFFSET 0",
    checked=True,
    max_columns=1664,
    max_case_lines=10,
    max_name_bytes=63,
)

_DUCKDB = Dialect(
    "duckdb",
    '"',
    _duckdb_text,
    "{}",
    "'{}inf'::DOUBLE",
    {
        "number": "NULLIF(TRY_CAST({} AS DOUBLE), 'nan'::DOUBLE)",
        "integer": "TRY_CAST({} AS BIGINT)",
        "boolean": "TRY_CAST({} AS BOOLEAN)",
        "text": "CAST({} AS VARCHAR)",
        "date": "epoch_us(CAST({} AS TIMESTAMP)) / 1e6",
        "timestamp": "epoch_us({}) / 1e6",
        "time": "epoch_us(CAST({} AS TIME)) / 1e6",
    },
    "fmod(fmod({x}, {period}) + {period}, {period})",
    arrays=Arrays(
        "[]",
        ("DOUBLE", "VARCHAR"),
        "decode(unhex(substr({}, 2)))",
        "SELECT {given} FROM (SELECT {named} FROM (SELECT\n{texts}))",
    ),
)

_SQLITE = Dialect(
    "sqlite",
    '"',
    _sqlite_text,
    "{}",
    "{}9e999",
    {
        "number": "CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END",
        "integer": "{}",
        "boolean": "{}",
        "text": "CAST({} AS TEXT) COLLATE BINARY",
        "date": "CAST(strftime('%s', {}) AS REAL)",
        "timestamp": _sqlite_time(19),
        "time": _sqlite_time(8, " - 946684800.0"),
    },
    "mod(mod({x}, {period}) + {period}, {period})",
    greatest="max",
    least="min",
    stage="MATERIALIZED ",
    max_joins=60,
    booleans=("0", "1"),
)

_SPARK = Dialect(
    "spark",
    "`",
    _spark_text,
    "{}D",
    "CAST('{}Infinity' AS DOUBLE)",
    {
        "number": "NULLIF(TRY_CAST({} AS DOUBLE), CAST('NaN' AS DOUBLE))",
        "integer": "TRY_CAST({} AS BIGINT)",
        "boolean": "TRY_CAST({} AS BOOLEAN)",
        "text": "CAST({} AS STRING)",
        "date": "unix_date(CAST({} AS DATE)) * 86400D",
        # A time without a zone is one of UTC, whatever the zone of the session is.
        "timestamp": "CASE WHEN typeof({0}) = 'timestamp_ntz' THEN "
        "unix_micros(CAST(concat(CAST({0} AS STRING), 'Z') AS TIMESTAMP)) "
        "ELSE unix_micros(CAST({0} AS TIMESTAMP)) END / 1e6D",
    },
    "pmod({x}, {period})",
    log1p="log1p",
    lookup="",
    values_column="col{}",
)

#: The dialects by name.
DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect for dialect in (_DUCKDB, _POSTGRES, _SQLITE, _SPARK)
}

#: The names of dialects, as types know them.
DialectName = Literal["duckdb", "postgres", "sqlite", "spark"]


def dialect_of(name: str) -> Dialect:
    """The dialect of that name.

    >>> dialect_of("oracle")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: dialect must be one of duckdb, postgres, sqlite, spark, got ...
    """
    if name in DIALECTS:
        return DIALECTS[name]
    raise ParameterError(
        f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}.",
        hint="most databases understand one of them",
    )
