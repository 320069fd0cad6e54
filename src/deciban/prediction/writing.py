"""Tables out, a batch at a time: CSV, JSON lines, Parquet or an Arrow stream."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, Any

from deciban.errors import MissingPackageError
from deciban.prediction.kept import HasFields
from deciban.sources import Booleans, Column, Integers, Numbers, Times
from deciban.sources.tabular import Value

#: Values of Python, or a column of the input that knows how they are written there.
ColumnValues = Sequence[Value] | HasFields
Write = Callable[[Sequence[ColumnValues]], None]

#: What a field of CSV must be quoted for.
_SPECIAL = re.compile(r'[",\r\n]')

_SQL = {
    "number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN", "text": "VARCHAR",
    "date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """The name and the kind of a column that is written.

    ``sql`` is the type that it has in the input, if that states types; ``digits`` says that its
    numbers come as they are written there.
    """

    name: str
    kind: str
    sql: str = ""
    digits: bool = False


def kind_of(values: Column | Sequence[Value]) -> str:
    """The kind of a column, or of some labels.

    >>> kind_of(["ham", "spam"]), kind_of([0, 1]), kind_of([0, "a"])
    ('text', 'integer', 'text')
    """
    if isinstance(values, Times):
        return values.unit
    for kind, column, label in (
        ("number", Numbers, float), ("integer", Integers, int), ("boolean", Booleans, bool),
    ):  # fmt: skip
        if isinstance(values, column) or (
            isinstance(values, list) and {type(value) for value in values} == {label}
        ):
            return kind
    return "text"


def writer(form: str, file: IO[bytes], fields: Sequence[Field]) -> AbstractContextManager[Write]:
    """What writes columns to a file in batches: CSV, JSON lines, Parquet or an Arrow stream."""
    forms = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet, "arrow": _arrow}
    return forms[form](file, fields)


@contextmanager
def _text(file: IO[bytes]) -> Iterator[IO[str]]:
    wrapped = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
    try:
        yield wrapped
        wrapped.flush()
    finally:
        _detached(wrapped)


def _detached(wrapped: io.TextIOWrapper) -> None:
    """Let go of the file beneath; what could not be written has been complained about."""
    try:
        wrapped.detach()
    except OSError:
        return


@contextmanager
def _csv(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    with _text(file) as text:
        text.write(",".join(_quoted(field.name) for field in fields) + "\n")

        def write(columns: Sequence[ColumnValues]) -> None:
            cells = [_cells(column, field) for column, field in zip(columns, fields, strict=True)]
            text.writelines(_lines(map(",".join, zip(*cells, strict=True))))

        yield write


def _lines(rows: Iterable[str]) -> Iterator[str]:
    """All rows as one text, unless there are none: many small writes take longer."""
    text = "\n".join(rows)
    if text:
        yield text
        yield "\n"


def _cells(column: ColumnValues, field: Field) -> Iterable[str]:
    """The values as fields of CSV; a missing one is empty, the empty text is quoted."""
    if not isinstance(column, Sequence):
        return ["" if text is None else _quoted(text) for text in column.texts()]
    if field.kind == "number":
        return map(_cell if None in column else repr, column)
    cells = {value: _cell(value) for value in set(column)}
    return map(cells.__getitem__, column)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):  # as JSON, Parquet's viewers and DuckDB write it
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else _quoted(str(value))


def _quoted(text: str) -> str:
    """A field of CSV, in quotes where they are needed.

    >>> print(_quoted("a"), _quoted("a,b"), _quoted('a "b" c'))
    a "a,b" "a ""b"" c"
    """
    if text and not _SPECIAL.search(text):
        return text
    return '"' + text.replace('"', '""') + '"'


@contextmanager
def _json_lines(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    keys = [f"{encode_basestring(field.name)}: " for field in fields]
    with _text(file) as text:

        def write(columns: Sequence[ColumnValues]) -> None:
            pairs = [
                [key + token for token in _tokens(column)]
                for key, column in zip(keys, columns, strict=True)
            ]
            rows = map(", ".join, zip(*pairs, strict=True))
            text.writelines(_lines(f"{{{row}}}" for row in rows))

        yield write


def _tokens(column: ColumnValues) -> list[str]:
    """The values as JSON, which knows no infinity: it is written as text."""
    return list(map(_token, column)) if isinstance(column, Sequence) else column.tokens()


def _token(value: Value) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'"{value}"'
    if isinstance(value, str):
        return encode_basestring(value)
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _parquet(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    """JSON lines in a temporary file, turned into Parquet by DuckDB with the types stated."""
    from deciban.sources import duckdb

    with tempfile.TemporaryDirectory(prefix="deciban-") as folder:
        lines, made = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        with lines.open("wb") as temporary, _json_lines(temporary, fields) as write:
            yield lambda columns: write(
                [c if isinstance(c, Sequence) else c.values() for c in columns]
            )
        types = ", ".join(f"{duckdb.quote(f.name)}: '{_read_as(f)}'" for f in fields)
        read = f"read_json({duckdb.quote(str(lines))}, columns = {{{types}}}, format = 'nd')"
        connection = duckdb.connect()
        try:
            ask = partial(duckdb.first_column, connection, path="the table")
            casts = ", ".join(_cast(field, read, ask) for field in fields)
            ask(f"COPY (SELECT {casts} FROM {read}) TO {duckdb.quote(str(made))} (FORMAT parquet)")
        finally:
            connection.close()
        with made.open("rb") as done:
            shutil.copyfileobj(done, file, 1 << 20)


@contextmanager
def _arrow(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    """Record batches as they come, by pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingPackageError(
            "an Arrow stream needs pyarrow, which is not installed.",
            hint="pip install pyarrow, or ask for CSV or JSON lines",
        ) from None
    types = {
        "number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string(),
        "date": pa.date32(), "timestamp": pa.timestamp("us"), "time": pa.time64("us"),
    }  # fmt: skip
    schema = pa.schema([(field.name, types[field.kind]) for field in fields])

    def write(columns: Sequence[ColumnValues]) -> None:
        plain = [c if isinstance(c, Sequence) else c.column.tolist() for c in columns]
        arrays = [pa.array(c, f.type) for c, f in zip(plain, schema, strict=True)]
        stream.write_batch(pa.record_batch(arrays, schema=schema))

    with pa.ipc.new_stream(file, schema) as stream:
        yield write


def _read_as(field: Field) -> str:
    return "VARCHAR" if field.sql or field.digits else _SQL[field.kind]


def _cast(field: Field, read: str, ask: Callable[[str], list[Any]]) -> str:
    """A column in its own type: as stated, or the narrowest that holds all its digits."""
    from deciban.sources.duckdb import quote

    name, kind = quote(field.name, '"'), field.sql
    if field.digits:
        tests = {
            "BIGINT": f"regexp_full_match({name}, '[-+]?[0-9]{{1,18}}')",
            "DECIMAL(38, 0)": f"regexp_full_match({name}, '[-+]?[0-9]{{1,38}}')",
            "DOUBLE": f"TRY_CAST({name} AS DOUBLE) IS NOT NULL",
        }
        holds = (t for t, test in tests.items() if ask(_all(test, name, read)) == [True])
        kind = next(holds, "VARCHAR")
    return f"CAST({name} AS {kind}) AS {name}" if kind else name


def _all(test: str, name: str, read: str) -> str:
    return f"SELECT coalesce(bool_and({test}), false) FROM {read} WHERE {name} IS NOT NULL"
