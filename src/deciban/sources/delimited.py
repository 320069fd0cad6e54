"""Delimited text: CSV and TSV files, parsed by DuckDB, typed by us.

The dialect is fixed by the first line, not guessed from the data: it names
the columns, and the delimiter is the one of comma, tab, semicolon and bar
that it holds most often (a tab for ``.tsv``). Fields are quoted with ``"``,
doubled inside. A byte-order mark is skipped. An empty field is missing, a
quoted empty one (``""``) is the empty text.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

from deciban.errors import FileError, ParameterError
from deciban.sources import duckdb, field_types
from deciban.sources.batch import Batch
from deciban.sources.field_types import ReadOptions
from deciban.sources.scan import BATCH_ROWS, BatchScan

__all__ = ["scan"]

_DELIMITERS = ",\t;|"
#: Python's name of an encoding, and DuckDB's.
_ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "iso8859-1": "latin-1"}


def scan(files: Sequence[Path], form: str, options: ReadOptions) -> BatchScan:
    """One table from files with the same header."""
    heads = [_head(path, form, _encoding(path, options.encoding)) for path in files]
    names, delimiter = heads[0]
    for path, head in zip(files, heads, strict=True):
        if head != heads[0]:
            raise FileError(
                f"{path} has another header than {files[0]}.",
                hint="files that are read together need the same columns in the same order",
            )
    table = _reader(files, delimiter, len(names), _encoding(files[0], options.encoding))
    read = partial(_read_text, duckdb.connect(), table, str(files[0]), names)
    kinds = cache(lambda: field_types.infer(names, read, options))

    def batches() -> Iterator[Batch]:
        return field_types.convert(read(names, None, options.rows), kinds(), options)

    return BatchScan(names, batches, "file")


def _read_text(
    connection: Any,
    table: str,
    path: str,
    names: tuple[str, ...],
    some: Sequence[str],
    limit: int | None = None,
    rows: int = BATCH_ROWS,
) -> Iterator[Batch]:
    """Some columns as text; in DuckDB by number, since it takes no names that differ in case."""
    place = {name: f"c{i}" for i, name in enumerate(names)}
    chosen = ", ".join(place[name] for name in some)
    sql = f"SELECT {chosen} FROM {table}" + (f" LIMIT {limit}" if limit else "")
    return duckdb.ask(connection, sql, path, rows, some)


def _reader(files: Sequence[Path], delimiter: str, n_columns: int, encoding: str) -> str:
    """DuckDB's reader with nothing left to guess."""
    paths = duckdb.paths_literal(files)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(n_columns))
    return (
        f"read_csv({paths}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', nullstr = '', "
        f"allow_quoted_nulls = false, encoding = '{_ENCODINGS[encoding]}', columns = {{{columns}}})"
    )


def _encoding(path: Path, stated: str) -> str:
    """Python's name of the encoding; a byte-order mark of UTF-16 overrules what is stated."""
    with _open(path) as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
    try:
        name = codecs.lookup(stated).name
    except LookupError:
        name = ""
    if name not in _ENCODINGS:
        raise ParameterError(
            f"encoding must be utf-8, utf-16 or latin-1, got {stated!r}.",
            hint="convert other encodings first, for example with iconv",
        )
    return name


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast("IO[bytes]", file)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileError(
            f"{path} is not a complete gzip file.", hint="copy or compress it again"
        ) from None


def _head(path: Path, form: str, encoding: str) -> tuple[tuple[str, ...], str]:
    """The names in the first line, and the delimiter."""
    try:
        with _open(path) as file:
            name = "utf-8-sig" if encoding == "utf-8" else encoding
            lines = io.TextIOWrapper(file, encoding=name, newline="")
            first = lines.readline()
            delimiter = "\t" if form == "tsv" else max(_DELIMITERS, key=_bare(first).count)
            names = next(csv.reader(chain([first], lines), delimiter=delimiter), [])
    except UnicodeDecodeError:
        raise FileError(
            f"{path} is not in {encoding}.",
            hint="pass encoding='latin-1' or 'utf-16', or save the file as UTF-8",
        ) from None
    except csv.Error as error:
        raise FileError(f"{path} has a first line that is no header: {error}.") from None
    if not any(name.strip() for name in names):
        raise FileError(
            f"{path} has no header: its first line is blank.", hint="name the columns in line one"
        )
    return tuple(name.strip() or f"column {i + 1}" for i, name in enumerate(names)), delimiter


def _bare(line: str) -> str:
    """The parts of a line outside quotes."""
    return "".join(line.split('"')[::2])
