"""Files: a path or glob, or "-" for the standard input, to a scan.

The name says what a file is: ``.csv``, ``.tsv`` or ``.tab``, ``.parquet`` or
``.pq``, ``.jsonl`` or ``.ndjson``; the texts may end in ``.gz`` as well. What
comes from the standard input is kept in a temporary file, because types are
settled in a first reading, and is recognised by how it begins.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from deciban.errors import FileError
from deciban.sources import delimited, duckdb, json_lines
from deciban.sources.batch import Batch
from deciban.sources.column_names import nearest
from deciban.sources.field_types import ReadOptions
from deciban.sources.scan import BatchScan, Scan

__all__ = ["matching", "scan"]

_FORMS = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip


def scan(paths: Sequence[str], options: ReadOptions) -> Scan:
    """One table from all files that some paths and globs stand for; a column has one type."""
    if "-" not in paths:
        return _scan([file for path in paths for file in matching(path)], options)
    if len(paths) > 1:
        raise FileError(
            "the standard input cannot be read together with files.", hint="pass '-' alone"
        )
    spool = Spool(sys.stdin.buffer)
    table = _scan([spool.path], options)
    return BatchScan(table.names, partial(_read_spool, table, spool), "file")


def _scan(files: Sequence[Path], options: ReadOptions) -> Scan:
    forms = {_form(path) for path in files}
    if len(forms) > 1:
        raise FileError(
            f"{files[0].parent} gave files of several kinds: {', '.join(sorted(forms))}.",
            hint="use a glob that ends in one of them, such as '*.csv'",
        )
    form = forms.pop()
    if form == "parquet":
        return duckdb.scan_parquet(files, options.rows, options.kept)
    if form == "jsonl":
        return json_lines.scan(files, options)
    return delimited.scan(files, form, options)


def _form(path: Path) -> str:
    ends = path.suffixes
    end = "".join(ends[-1:]).lower()
    if end == ".gz" and len(ends) > 1 and ends[-2].lower() != ".parquet":
        end = ends[-2].lower()
    if end not in _FORMS:
        raise FileError(
            f"{path} has an ending that is not known: {end or 'none'!r}.",
            hint=f"known are {', '.join(_FORMS)}, texts also with .gz",
        )
    return _FORMS[end]


def matching(path: str) -> list[Path]:
    """The files, in the order of their names; each can be read and has something in it."""
    whole = Path(path).expanduser()
    if whole.exists() or not glob.has_magic(path):
        files = [whole]
    else:
        matches = map(Path, glob.iglob(str(whole), recursive=True))  # noqa: PTH207  (absolute ones)
        files = sorted(file for file in matches if not file.is_dir())
    if not files:
        raise FileError(f"no file matches {path!r}.", hint="check the folder and the ending")
    for file in files:
        _check(file)
    return files


def _check(file: Path) -> None:
    if file.is_dir():
        raise FileError(
            f"{file} is a folder, not a file.", hint=f"name the files, such as '{file}/*.csv'"
        )
    if not file.exists():
        raise FileError(f"{file} does not exist.", hint=_suggestion(file))
    if not os.access(file, os.R_OK):
        raise FileError(f"{file} may not be read.", hint="ask for permission to read it")
    if file.is_file() and file.stat().st_size == 0:
        raise FileError(f"{file} is empty.", hint="a table has at least a header")


def _suggestion(file: Path) -> str:
    """The nearest name in the same folder, or what is wrong with the folder."""
    if not file.parent.is_dir():
        return f"the folder {file.parent} does not exist either"
    close = nearest(file.name, sorted(other.name for other in file.parent.iterdir()))
    if close:
        return f"perhaps {str(file.with_name(close))!r} was meant"
    return "check the name" if file.suffix else "check the name; a text is given in a list"


class Spool:
    """A temporary file with all of a stream; it is deleted when nobody reads it any more."""

    def __init__(self, stream: IO[bytes]) -> None:
        start = stream.read(1 << 16)
        if not start:
            raise FileError("the standard input is empty.", hint="a table has at least a header")
        handle, name = tempfile.mkstemp(prefix="stdin-", suffix=_ending(start))
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            file.write(start)
            shutil.copyfileobj(stream, file, 1 << 20)


def _ending(start: bytes) -> str:
    """What a file's name would end in, from how it begins."""
    if start[:2] == b"\x1f\x8b":
        return _ending(zlib.decompressobj(wbits=31).decompress(start, 64)) + ".gz"
    if start[:4] == b"PAR1":
        return ".parquet"
    return ".jsonl" if start.lstrip()[:1] == b"{" else ".csv"


def _read_spool(table: Scan, spool: Spool) -> Iterator[Batch]:
    """The batches, holding on to the temporary file until the last one."""
    yield from table
    del spool
