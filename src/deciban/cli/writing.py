"""Tables out, a batch at a time: CSV, JSON lines or Parquet; whole files or none."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from deciban.cli.exits import PipeClosedError
from deciban.errors import ParameterError
from deciban.sources import Booleans, Column, Integers, Numbers, Times
from deciban.sources.tabular import Value

Write = Callable[[Sequence[Sequence[Value]]], None]

#: What the end of a name says about a file.
FORMATS = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip

_SQL = {
    "number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN", "text": "VARCHAR",
    "date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """The name and the kind of a column."""

    name: str
    kind: str


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


def format_of(path: str | None, stated: str | None) -> str:
    """The format of an output: as stated, or by the end of its name; CSV on the standard output."""
    if stated is not None:
        return stated
    if path is None:
        return "csv"
    end = Path(path).suffix.lower()
    if end not in FORMATS:
        raise ParameterError(
            f"{path} has an ending that says no format: {end or 'none'!r}.",
            hint=f"end it in {', '.join(FORMATS)}, or state --format",
        )
    return FORMATS[end]


@contextmanager
def table(path: str | None, form: str, overwrite: bool, fields: Sequence[Field]) -> Iterator[Write]:
    """A place to write columns to, in batches; it takes the place of a file at the end."""
    writer = {"csv": _csv, "jsonl": _json_lines, "parquet": _parquet}[form]
    with _target(path, overwrite) as file, writer(file, fields) as write:
        yield write


def _target(path: str | None, overwrite: bool) -> AbstractContextManager[IO[bytes]]:
    if path is None:
        return _standard_output()
    from deciban.files.atomic import output

    return output(path, overwrite=overwrite)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _to_nowhere()
        raise PipeClosedError from None


def _to_nowhere() -> None:
    """Python flushes the standard output once more when it ends."""
    import os

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


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
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow([field.name for field in fields])
        truths = [i for i, field in enumerate(fields) if field.kind == "boolean"]

        def write(columns: Sequence[Sequence[Value]]) -> None:
            for i in truths:
                columns = [*columns[:i], list(map(_truth, columns[i])), *columns[i + 1 :]]
            rows.writerows(zip(*columns, strict=True))

        yield write


def _truth(value: object) -> str | None:
    """As JSON, Parquet's viewers and DuckDB write it."""
    return None if value is None else "true" if value else "false"


@contextmanager
def _json_lines(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    names = [field.name for field in fields]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode
    with _text(file) as text:

        def write(columns: Sequence[Sequence[Value]]) -> None:
            plain = [
                list(map(_finite, column)) if field.kind == "number" else column
                for field, column in zip(fields, columns, strict=True)
            ]
            for row in zip(*plain, strict=True):
                text.write(encode(dict(zip(names, row, strict=True))) + "\n")

        yield write


def _finite(value: float | None) -> float | str | None:
    """JSON knows no infinity; it is written as text."""
    return value if value is None or math.isfinite(value) else str(value)


@contextmanager
def _parquet(file: IO[bytes], fields: Sequence[Field]) -> Iterator[Write]:
    """JSON lines in a temporary file, turned into Parquet by DuckDB with the types stated."""
    from deciban.sources import duckdb

    with tempfile.TemporaryDirectory(prefix="deciban-") as folder:
        lines, made = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        with lines.open("wb") as temporary, _json_lines(temporary, fields) as write:
            yield write
        types = ", ".join(f"{duckdb.quote(f.name)}: '{_SQL[f.kind]}'" for f in fields)
        read = f"read_json({duckdb.quote(str(lines))}, columns = {{{types}}}, format = 'nd')"
        sql = f"COPY (FROM {read}) TO {duckdb.quote(str(made))} (FORMAT parquet)"
        connection = duckdb.connect()
        try:
            duckdb.first_column(connection, sql, "the table")
        finally:
            connection.close()
        with made.open("rb") as done:
            shutil.copyfileobj(done, file, 1 << 20)
