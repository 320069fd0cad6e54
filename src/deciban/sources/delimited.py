"""Delimited text: CSV and TSV files, parsed by DuckDB unless they are small and plain, typed by us.

The dialect is fixed by the first line, not guessed from the data: it names
the columns, and the delimiter is the one of comma, tab, semicolon and bar
that it holds most often (a tab for ``.tsv``); if it holds none, there is one
column, in which they are signs like others. Fields are quoted with ``"``,
doubled inside. An empty field is missing, a quoted empty one (``""``) is the
empty text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from deciban.errors import FileError
from deciban.kernels.texts import utf8
from deciban.sources import duckdb, field_types
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.encodings import TextFile, open_bytes, open_text
from deciban.sources.formats import Format
from deciban.sources.options import ReadOptions
from deciban.sources.scan import BATCH_ROWS, BatchScan
from deciban.sources.spool import Spool, read_spools
from deciban.sources.tabular import Connection

__all__ = ["PlainText", "read_plain", "scan"]

_DELIMITERS = ",\t;|"
#: Names of columns have no more lines than this together.
MAX_HEADER_LINES = 1000
#: A sign that is in no text.
_NO_DELIMITER = "\x1f"
#: A file of more bytes than this is DuckDB's, however plain it is.
MAX_PLAIN_BYTES = 1 << 17


def scan(files: Sequence[Path], form: str, options: ReadOptions) -> BatchScan:
    """One table from files with the same header."""
    plain = None if options.encoding else read_plain(files)
    if plain is None:
        texts = [open_text(path, options) for path in files]
        firsts = [_first_line(t.path, path) for t, path in zip(texts, files, strict=True)]
    else:
        texts = [TextFile(path) for path in files]
        firsts = [text.partition("\n")[0] for text in plain]
    heads = [_head(first, path, form) for first, path in zip(firsts, files, strict=True)]
    names, delimiter = heads[0]
    for path, head in zip(files, heads, strict=True):
        if head != heads[0]:
            raise FileError(
                f"{path} has another header than {files[0]}.",
                hint="files that are read together need the same columns in the same order",
            )
    paths = [text.path for text in texts]
    read = _text_reader(paths, str(files[0]), names, delimiter, plain)
    spools = [text.spool for text in texts if text.spool is not None]
    types = cache(lambda: field_types.infer(names, read, options, commas=delimiter == ";"))

    def batches() -> Iterator[Batch]:
        return _keep(types().convert(read(names, None, options.rows)), spools)

    def reopen(known: Mapping[str, str]) -> BatchScan:
        return scan(files, form, replace(options, types={**known, **options.types}))

    formats = cache(lambda: _formats(types(), texts[0]))
    return BatchScan(names, batches, "file", formats=formats, reopen=reopen)


def _text_reader(
    files: Sequence[Path],
    path: str,
    names: tuple[str, ...],
    delimiter: str,
    plain: Sequence[str] | None,
) -> Callable[..., Iterator[Batch]]:
    """What reads some columns as text, when it is first asked to; errors name ``path``.

    ``plain`` are the texts of small plain files.
    """

    @cache
    def reader() -> Callable[..., Iterator[Batch]]:
        table = None if plain is None else PlainText.of(plain, names, delimiter)
        if table is not None:
            return table.read
        sql = _reader(files, delimiter, len(names))
        return partial(_read_text, duckdb.connect(), sql, path, names)

    def read(*what: Any) -> Iterator[Batch]:
        return reader()(*what)

    return read


def _keep(batches: Iterator[Batch], spools: list[Spool]) -> Iterator[Batch]:
    return read_spools(batches, spools) if spools else batches


def _formats(types: field_types.FieldTypes, text: TextFile) -> dict[str, Format]:
    """The formats of columns; those of text say in which encoding they were, if not UTF-8."""
    if not text.encoding:
        return dict(types.formats)
    texts = [n for n, kind in types.kinds.items() if not kind and n not in types.formats]
    return {**types.formats, **dict.fromkeys(texts, Format(f"text {text.encoding}"))}


def _read_text(
    connection: Connection,
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


def _reader(files: Sequence[Path], delimiter: str, n_columns: int) -> str:
    """DuckDB's reader with nothing left to guess."""
    paths = duckdb.paths_literal(files)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(n_columns))
    return (
        f"read_csv({paths}, auto_detect = false, header = true, "
        f"delim = '{delimiter}', quote = '\"', escape = '\"', nullstr = '', "
        f"allow_quoted_nulls = false, encoding = 'utf-8', columns = {{{columns}}})"
    )


def _first_line(text: Path, path: Path) -> str:
    """The first line of a file in UTF-8; errors name ``path``."""
    try:
        with open_bytes(text) as file:
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            return _first_record(lines)
    except UnicodeDecodeError:
        raise FileError(
            f"{path} is not in utf-8.", hint="leave encoding out, or save the file as UTF-8"
        ) from None


def _head(first: str, path: Path, form: str) -> tuple[tuple[str, ...], str]:
    """The names in the first line of a file, and the delimiter; errors name ``path``."""
    try:
        delimiter = _delimiter(first, form)
        names = next(csv.reader(io.StringIO(first, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise FileError(f"{path} has a first line that is no header: {error}.") from None
    if not any(name.strip() for name in names):
        raise FileError(
            f"{path} has no header: its first line is blank.", hint="name the columns in line one"
        )
    return tuple(name.strip() or f"column {i + 1}" for i, name in enumerate(names)), delimiter


def _first_record(lines: Iterable[str]) -> str:
    """The first line, and those after it that belong to it because a quote is still open."""
    record = ""
    for line in islice(lines, MAX_HEADER_LINES):
        record += line
        if record.count('"') % 2 == 0:
            break
    return record


def _delimiter(first: str, form: str) -> str:
    """What the first line has most often; one that no text has, if it names one column."""
    bare = _bare(first)
    if form == "tsv":
        return "\t"
    delimiter = max(_DELIMITERS, key=bare.count)
    return delimiter if delimiter in bare else _NO_DELIMITER


def _bare(line: str) -> str:
    """The parts of a line outside quotes."""
    return "".join(line.split('"')[::2])


# ---------------------------------------------------------------------- small plain files


class PlainText:
    """The columns of small plain files, as text, read without DuckDB: starting it takes longer.

    A file is plain if it has no quote and no carriage return but before every line feed, and if
    all its lines have as many fields as the first. What such a file holds cannot be read in two
    ways; anything else is DuckDB's.
    """

    def __init__(self, columns: Mapping[str, Strings], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    @classmethod
    def of(cls, texts: Iterable[str], names: Sequence[str], delimiter: str) -> PlainText | None:
        """The columns of texts with a header; None where a line has another number of fields."""
        lines = []
        for text in texts:
            rest = text.partition("\n")[2]
            lines += rest.removesuffix("\n").split("\n") if rest else []
        rows = [line.split(delimiter) for line in lines]
        if any(len(row) != len(names) for row in rows) or "" in lines:
            return None
        fields = zip(*rows, strict=True) if rows else [()] * len(names)
        columns = {
            name: Strings(*utf8([field or None for field in column]))
            for name, column in zip(names, fields, strict=True)
        }
        return cls(columns, len(rows))

    def read(
        self, names: Sequence[str], limit: int | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[Batch]:
        """Some columns, at most ``limit`` rows, in batches of at most ``rows``."""
        stop = self._n_rows if limit is None else min(limit, self._n_rows)
        whole = Batch(self._n_rows, {name: self._columns[name] for name in names})
        if 0 < stop == self._n_rows <= rows:
            return iter((whole,))
        return (whole.slice(start, min(start + rows, stop)) for start in range(0, stop, rows))


def read_plain(files: Sequence[Path]) -> list[str] | None:
    """The texts of files in UTF-8, if all of them are plain and small together; else None."""
    texts = []
    left = MAX_PLAIN_BYTES
    for file in files:
        text = _plain_text(file, left)
        if text is None:
            return None
        left -= file.stat().st_size
        texts.append(text)
    return texts


def _plain_text(file: Path, max_bytes: int) -> str | None:
    """The text of a file with lines that end in a line feed, or None where it is not plain."""
    if file.suffix.lower() == ".gz" or file.stat().st_size > max_bytes:
        return None
    data = file.read_bytes()
    if b'"' in data or b"\0" in data:
        return None
    if b"\r" in data:
        if data.count(b"\r\n") != data.count(b"\n") or data.count(b"\r") != data.count(b"\n"):
            return None
        data = data.replace(b"\r\n", b"\n")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
