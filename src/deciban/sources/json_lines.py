"""JSON: one object a line, or one array of objects; one column a key.

Numbers, truth values and text have JSON's own types; text in which every
value is an ISO date or time is times, since JSON has no other way to write
them. A key that an object lacks, and null, are missing. A column that mixes
text with other values is text. A list of texts is a bag of words.

The file is read three times: for all its keys, for the types, for the rows. Where fields are
wanted as they stand, lines are parsed in Python, since DuckDB writes numbers in its own way.
"""

from __future__ import annotations

import codecs
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import cast

from deciban.errors import FileError
from deciban.sources import duckdb, field_types
from deciban.sources.batch import Batch, FieldBatch
from deciban.sources.columns import Strings, TextList
from deciban.sources.encodings import open_bytes, open_text
from deciban.sources.formats import typed_types
from deciban.sources.options import ReadOptions
from deciban.sources.scan import BATCH_ROWS, BatchScan
from deciban.sources.spool import read_spools
from deciban.sources.tabular import Connection

__all__ = ["scan"]

#: The keys of so many rows keep their order.
_ORDERED_ROWS = 2048


def scan(files: Sequence[Path], options: ReadOptions) -> BatchScan:
    """One table from files of JSON."""
    texts = [open_text(path, options) for path in files]
    shape = _common_shape([text.path for text in texts], files)
    source = f"{duckdb.paths_literal([text.path for text in texts])}, format = '{shape}'"
    path, connection = str(files[0]), duckdb.connect()
    names = _keys(connection, source, path)
    read = partial(_read, connection, source, path)
    fields = replace(
        options, na=options.na or (), types=typed_types(options.types), trim=False, decimal=None,
        thousands=None, kept=(),
    )  # fmt: skip
    types = cache(lambda: field_types.infer(names, partial(read, "JSON"), fields, in_json=True))
    spools = [text.spool for text in texts if text.spool is not None]

    def batches() -> Iterator[Batch]:
        rows = with_lines() if options.keeps(names) else plain()
        return read_spools(rows, spools) if spools else rows

    def plain() -> Iterator[Batch]:
        return types().convert(read("VARCHAR", names, None, options.rows))

    def with_lines() -> Iterator[Batch]:
        lines: deque[Strings] = deque()
        texts = _read_with_lines(connection, source, path, names, options.rows, lines)
        kept = options.keeps(names)
        return (
            FieldBatch(b.n_rows, b.columns, fields=_fields(lines.popleft(), kept), json=True)
            for b in types().convert(texts)
        )

    def reopen(known: Mapping[str, str]) -> BatchScan:
        return scan(files, replace(options, types={**known, **options.types}))

    return BatchScan(names, batches, "file", formats=lambda: types().formats, reopen=reopen)


def _common_shape(texts: Sequence[Path], files: Sequence[Path]) -> str:
    """How the objects of all files follow each other, which must be one way."""
    shapes = {_shape(text, path) for text, path in zip(texts, files, strict=True)}
    if len(shapes) > 1:
        raise FileError(
            f"{files[0]} and others are JSON lines and arrays.", hint="read them one by one"
        )
    return shapes.pop()


def _shape(text: Path, path: Path) -> str:
    """DuckDB's word for how the objects of a file follow each other; errors name ``path``."""
    with open_bytes(text) as file:
        start = file.read(1 << 12).removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"["):
        return "array"
    if path.name.removesuffix(".gz").endswith(".json"):
        return "unstructured"
    return "newline_delimited"


def _read(
    connection: Connection,
    source: str,
    path: str,
    kind: str,
    names: Sequence[str],
    limit: int | None = None,
    rows: int = BATCH_ROWS,
) -> Iterator[Batch]:
    """Some keys, as JSON or as text."""
    columns = ", ".join(f"{duckdb.quote(name)}: '{kind}'" for name in names)
    sql = f"SELECT * FROM read_json({source}, columns = {{{columns}}})"
    sql += f" LIMIT {limit}" if limit else ""
    return duckdb.ask(connection, sql, path, rows)


def _read_with_lines(
    connection: Connection,
    source: str,
    path: str,
    names: Sequence[str],
    rows: int,
    lines: deque[Strings],
) -> Iterator[Batch]:
    """All keys as text; the lines of each batch are put aside."""
    values = (f"json ->> {duckdb.quote(_pointer(name))}" for name in names)
    sql = f"SELECT {', '.join(values)}, json FROM read_json_objects({source})"
    line = "line"
    while line in names:
        line += "s"
    for batch in duckdb.ask(connection, sql, path, rows, [*names, line]):
        lines.append(cast("Strings", batch.columns[line]))
        yield batch.select(names)


def _pointer(key: str) -> str:
    """A key as a JSON pointer.

    >>> _pointer("a/b")
    '/a~1b'
    """
    return "/" + key.replace("~", "~0").replace("/", "~1")


class _Digits(str):
    """A number as it is written."""

    __slots__ = ()


def _fields(lines: Strings, names: Sequence[str]) -> dict[str, Strings]:
    """The values of some keys as JSON, None where there is none."""
    decode = json.JSONDecoder(parse_float=_Digits, parse_int=_Digits).decode
    rows = [decode(line) for line in lines.tolist() if line is not None]
    return {name: TextList([_token(row.get(name)) for row in rows]) for name in names}


def _token(value: str | bool | None) -> str | None:
    """A value that was read as JSON, as JSON."""
    if value is None or type(value) is _Digits:
        return value
    return json.dumps(value, ensure_ascii=False)


def _keys(connection: Connection, source: str, path: str) -> tuple[str, ...]:
    """All keys: those of the first rows in their order, then the others by name."""
    every = (
        "SELECT DISTINCT unnest(if(json_type(json) = 'OBJECT', json_keys(json), [NULL])) "
        f"FROM read_json_objects({source})"
    )
    early = f"SELECT json_keys(json) FROM read_json_objects({source}) LIMIT {_ORDERED_ROWS}"
    keys = set(duckdb.first_column(connection, every, path))
    if None in keys:
        raise FileError(f"{path} has a line that is no object.", hint="give one JSON object a line")
    order = [key for some in duckdb.first_column(connection, early, path) for key in some]
    names = tuple(dict.fromkeys([*order, *sorted(keys)]))
    _refuse_case(names, path)
    return names


def _refuse_case(names: Sequence[str], path: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise FileError(
                f"{path} has the keys {other!r} and {name!r}, which differ only in case.",
                hint="rename one of them",
            )
