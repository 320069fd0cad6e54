"""Small files of plain delimited text, read without DuckDB: starting that would take longer.

A file is plain if it has no quote and no carriage return but before every line feed, and if all
its lines have as many fields as the first. What such a file holds cannot be read in two ways;
anything else is DuckDB's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from deciban.kernels.texts import utf8
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.scan import BATCH_ROWS

__all__ = ["PlainText", "read_plain"]

#: A file of more bytes than this is not looked at.
MAX_BYTES = 1 << 17


class PlainText:
    """The columns of some files, as text."""

    def __init__(self, columns: Mapping[str, Strings], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    def read(
        self, names: Sequence[str], limit: int | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[Batch]:
        """Some columns, at most ``limit`` rows, in batches of at most ``rows``."""
        stop = self._n_rows if limit is None else min(limit, self._n_rows)
        whole = Batch(self._n_rows, {name: self._columns[name] for name in names})
        return (whole.slice(start, min(start + rows, stop)) for start in range(0, stop, rows))


def read_plain(files: Sequence[Path], names: Sequence[str], delimiter: str) -> PlainText | None:
    """The files as they are, if all of them are plain and small together; else None."""
    lines = []
    left = MAX_BYTES
    for file in files:
        some = _lines(file, left)
        if some is None:
            return None
        left -= file.stat().st_size
        lines += some
    rows = [line.split(delimiter) for line in lines]
    if any(len(row) != len(names) for row in rows):
        return None
    fields = zip(*rows, strict=True) if rows else [()] * len(names)
    columns = {
        name: Strings(*utf8([field or None for field in column]))
        for name, column in zip(names, fields, strict=True)
    }
    return PlainText(columns, len(rows))


def _lines(file: Path, max_bytes: int) -> list[str] | None:
    """The lines after the first, or None where they are not plain."""
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
        _, end, rest = data.decode("utf-8-sig").partition("\n")
    except UnicodeDecodeError:
        return None
    lines = rest.removesuffix("\n").split("\n") if end and rest else []
    return None if "" in lines else lines
