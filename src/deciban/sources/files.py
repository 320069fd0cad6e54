"""Files: a path or glob, or "-" for the standard input, to a scan.

The name says what a file is; texts may end in ``.gz`` as well. What comes from
the standard input is kept in a temporary file, because types are settled in a
first reading, and is recognised by how it begins.
"""

from __future__ import annotations

import glob
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from deciban.errors import FileError
from deciban.sources import arrow_files, delimited, duckdb, excel, json_lines
from deciban.sources.batch import Batch
from deciban.sources.column_names import nearest
from deciban.sources.formats import Format
from deciban.sources.options import ReadOptions
from deciban.sources.scan import BatchScan, Scan
from deciban.sources.spool import Spool, read_spools

__all__ = ["ENDINGS", "matching", "scan", "scan_spool"]

_FORMS = {
    ".csv": "csv", ".txt": "csv", ".dat": "csv", ".data": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "json", ".xlsx": "excel", ".xlsm": "excel", ".xlsb": "excel", ".xls": "excel",
    ".ods": "excel", ".feather": "arrow", ".arrow": "arrow", ".ipc": "arrow", ".orc": "orc",
    ".avro": "avro",
}  # fmt: skip
#: What the names of files end in that can be read.
ENDINGS = frozenset(_FORMS)
_TEXTS = {"csv", "tsv", "jsonl", "json"}
#: How files begin that are no text, and what their names end in.
_BEGINNINGS = {
    b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx", b"ARROW1": ".arrow", b"ORC": ".orc",
    b"Obj\x01": ".avro", b"\xd0\xcf\x11\xe0": ".xls",
}  # fmt: skip


def scan(paths: Sequence[str], options: ReadOptions) -> Scan:
    """One table from all files that some paths and globs stand for; a column has one type."""
    if "-" not in paths:
        return _scan([file for path in paths for file in matching(path)], options)
    if len(paths) > 1:
        raise FileError(
            "the standard input cannot be read together with files.", hint="pass '-' alone"
        )
    return scan_spool(_spool(sys.stdin.buffer), options)


def scan_spool(spool: Spool, options: ReadOptions) -> BatchScan:
    """The table in a temporary file, which is there as long as somebody reads it."""
    with spool.named():
        table = _scan([spool.path], options)

    def read() -> Iterator[Batch]:
        with spool.named():
            yield from read_spools(iter(table), [spool])

    def formats() -> Mapping[str, Format]:
        with spool.named():
            return table.formats() if isinstance(table, BatchScan) else {}

    def reopen(types: Mapping[str, str]) -> BatchScan:
        return scan_spool(spool, replace(options, types={**types, **options.types}))

    return BatchScan(table.names, read, "file", formats=formats, reopen=reopen)


def _scan(files: Sequence[Path], options: ReadOptions) -> Scan:
    first = {_form(path): path for path in reversed(files)}
    if len(first) > 1:
        some = " and ".join(map(str, sorted(first.values())))
        raise FileError(
            f"{some} are files of several kinds: {', '.join(sorted(first))}.",
            hint="read those of one kind at once, such as '*.csv'",
        )
    (form,) = first
    if form == "parquet":
        return duckdb.scan_parquet(files, options.rows, options.kept)
    if form in ("jsonl", "json"):
        return json_lines.scan(files, options)
    if form == "excel":
        return excel.scan(files, options)
    if form in ("csv", "tsv"):
        return delimited.scan(files, form, options)
    return arrow_files.scan(files, form, options.rows)


def _form(path: Path) -> str:
    ends = path.suffixes
    end = "".join(ends[-1:]).lower()
    packed = end == ".gz" and len(ends) > 1
    if packed and _FORMS.get(ends[-2].lower()) in _TEXTS:
        end = ends[-2].lower()
    if end not in _FORMS:
        raise FileError(
            f"{path} has an ending that is not known: {end or 'none'!r}.",
            hint=f"known are {', '.join(_FORMS)}, texts also with .gz",
        )
    form = _FORMS[end]
    return _refuse_disguised(path, form) if form in _TEXTS and not packed else form


def _refuse_disguised(path: Path, form: str) -> str:
    """The form of a text file, unless it begins like another kind of file."""
    with path.open("rb") as file:
        start = file.read(8)
    ending = next((ending for begin, ending in _BEGINNINGS.items() if start.startswith(begin)), "")
    if ending:
        raise FileError(
            f"{path} is no text: it begins like a {ending} file.", hint=f"rename it to *{ending}"
        )
    return form


def matching(path: str) -> list[Path]:
    """The files, in the order of their names; each can be read and has something in it."""
    whole = Path(path).expanduser()
    if "://" in path and not whole.exists():
        raise FileError(
            f"{path} is no file: of URLs, those of databases alone are read.",
            hint="download it first",
        )
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


def _spool(stream: IO[bytes]) -> Spool:
    """A temporary file with all of a stream."""
    start = stream.read(1 << 16)
    if not start:
        raise FileError("the standard input is empty.", hint="a table has at least a header")
    return Spool(_blocks(start, stream), _ending(start), "the standard input")


def _blocks(start: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    yield start
    while block := stream.read(1 << 20):
        yield block


def _ending(start: bytes) -> str:
    """What a file's name would end in, from how it begins."""
    if start[:2] == b"\x1f\x8b":
        return _ending(zlib.decompressobj(wbits=31).decompress(start, 64)) + ".gz"
    for begin, ending in _BEGINNINGS.items():
        if start.startswith(begin):
            return ending
    return {b"{": ".jsonl", b"[": ".json"}.get(start.lstrip()[:1], ".csv")
