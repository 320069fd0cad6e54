"""Where tables are written: whole files or none, or the standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from deciban.errors import ParameterError
from deciban.prediction.writing import Field, Write, writer

#: What the end of a name says about a file.
FORMATS = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


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
    with _target(path, overwrite) as file, writer(form, file, fields) as write:
        yield write


def _target(path: str | None, overwrite: bool) -> AbstractContextManager[IO[bytes]]:
    if path is None:
        return _standard_output()
    from deciban.files.atomic import output

    return output(path, overwrite=overwrite)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
