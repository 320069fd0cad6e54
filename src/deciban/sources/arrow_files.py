"""Files of Arrow (Feather), ORC and Avro, read by pyarrow or Polars where one is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from deciban.errors import FileError, MissingPackageError
from deciban.sources import arrow
from deciban.sources.batch import Batch
from deciban.sources.scan import BatchScan

__all__ = ["scan"]


def scan(files: Sequence[Path], form: str, rows: int) -> BatchScan:
    """One table from files of one form with the same columns."""
    open_file = _OPENERS[form]
    tables = [_names(path, open_file) for path in files]
    for path, names in zip(files, tables, strict=True):
        if names != tables[0]:
            raise FileError(
                f"{path} has other columns than {files[0]}.",
                hint="files that are read together need the same columns in the same order",
            )

    def read() -> Iterator[Batch]:
        for path in files:
            with _errors_about(path):
                for table in open_file(path):
                    yield from arrow.read(arrow.open_stream(table), rows)

    return BatchScan(tables[0], read, "file")


def _names(path: Path, open_file: Callable[[Path], Iterator[Any]]) -> tuple[str, ...]:
    with _errors_about(path):
        for table in open_file(path):
            return tuple(name for name, _, _ in arrow.open_stream(table).fields)
    raise FileError(f"{path} has no columns.", hint="a table has at least one column")


@contextmanager
def _errors_about(path: Path) -> Iterator[None]:
    """What a library says about a file, as a FileError."""
    try:
        yield
    except Exception as error:
        if not _is_foreign(error):
            raise
        headline = str(error).strip().partition("\n")[0].rstrip(".")
        raise FileError(
            f"{path} cannot be read: {headline}.",
            hint="check that it is complete, and that its name ends in what it is",
        ) from None


def _is_foreign(error: Exception) -> bool:
    """Whether an error is about a file that another library reads, and not one of deciban's."""
    home = type(error).__module__
    known = isinstance(error, OSError | ValueError | arrow.ArrowError)
    return home.startswith(("pyarrow", "polars")) or (
        known and not home.startswith("deciban.errors")
    )


def _library(path: Path, *names: str) -> Any:
    """The first of some libraries that is installed."""
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            continue
    package = names[0].partition(".")[0]
    raise MissingPackageError(
        f"{path} needs {package}, which is not installed.",
        hint=f"pip install {package}, or save the table as Parquet or CSV",
    )


def _open_arrow(path: Path) -> Iterator[Any]:
    """The batches of Arrow's file or stream format."""
    ipc = _library(path, "pyarrow.ipc")
    pyarrow = import_module("pyarrow")
    with pyarrow.memory_map(str(path)) as source:
        try:
            reader = ipc.open_file(source)
        except pyarrow.ArrowInvalid:
            source.seek(0)
            with ipc.open_stream(source) as stream:
                yield stream.schema.empty_table()
                yield from (_checked(pyarrow.Table.from_batches([batch])) for batch in stream)
            return
        yield reader.schema.empty_table()
        for i in range(reader.num_record_batches):
            yield _checked(pyarrow.Table.from_batches([reader.get_batch(i)]))


def _checked(table: Any) -> Any:
    """A table of a file of which nothing was checked yet: offsets, lengths, characters."""
    table.validate(full=True)
    return table


def _open_orc(path: Path) -> Iterator[Any]:
    """The stripes of an ORC file."""
    orc = _library(path, "pyarrow.orc")
    pyarrow = import_module("pyarrow")
    file = orc.ORCFile(path)
    yield file.schema.empty_table()
    for i in range(file.nstripes):
        yield pyarrow.Table.from_batches([file.read_stripe(i)])


def _open_avro(path: Path) -> Iterator[Any]:
    """The whole table of an Avro file."""
    yield _library(path, "polars").read_avro(path)


_OPENERS: dict[str, Callable[[Path], Iterator[Any]]] = {
    "arrow": _open_arrow, "orc": _open_orc, "avro": _open_avro,
}  # fmt: skip
