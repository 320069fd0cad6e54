"""What a model file holds, in words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deciban.files import archive, model
from deciban.stats.table import Table

#: More classes or columns than this are not listed one by one.
LISTED = 20


@dataclass(frozen=True)
class Column:
    """A column: its family, and the number of its values if it has any."""

    name: object
    family: str
    values: int | None = None


@dataclass(frozen=True)
class Description:
    """What people want to know of a model file; ``str`` says it in lines."""

    path: str
    size: int
    version: int
    writer: str
    kind: str
    classes: tuple[tuple[object, float | None], ...]
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.path}: {self.kind}, {self.size:,} bytes"
        yield f"format version {self.version}, written by deciban {self.writer}"
        yield f"{len(self.classes)} classes"
        for label, weight in self.classes[:LISTED]:
            yield f"  {label!r}" + ("" if weight is None else f": {weight:g} rows")
        yield from _more(len(self.classes))
        yield f"{len(self.columns)} columns"
        for column in self.columns[:LISTED]:
            values = "" if column.values is None else f", {column.values} values"
            yield f"  {column.name!r}: {column.family}{values}"
        yield from _more(len(self.columns))


def _more(number: int) -> Iterator[str]:
    if number > LISTED:
        yield f"  and {number - LISTED} more"


def describe(path: str | os.PathLike[str]) -> Description:
    r"""What a model file holds; all of it is checked on the way.

    >>> import tempfile
    >>> from deciban.stats.counts import Counts
    >>> counts = Counts.of({"size": ["S", "M"]}, ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/m.deciban", model.Stored("CategoricalNB", counts))
    ...     print(str(describe(f"{folder}/m.deciban")).partition("\n")[2])
    format version 1, written by deciban 0.1.0
    2 classes
      'ham': 1 rows
      'spam': 1 rows
    1 columns
      'size': categorical, 2 values
    """
    content = archive.read(path)
    stored = model.unpacked(path, content)
    return Description(
        os.fspath(path),
        Path(path).stat().st_size,
        content.version,
        content.writer,
        content.kind,
        tuple(_classes(stored)),
        tuple(_all_columns(stored)),
    )


def _classes(stored: model.Stored) -> Iterator[tuple[object, float | None]]:
    """The classes and their weights; a model without counts knows only their names."""
    if stored.counts is not None:
        yield from zip(stored.counts.classes.tolist(), stored.counts.weight.tolist(), strict=True)
    elif "classes" in stored.labels:
        yield from ((label, None) for label in stored.labels["classes"].tolist())


def _all_columns(stored: model.Stored) -> Iterator[Column]:
    if stored.counts is not None:
        for table in stored.counts.tables.values():
            yield from _columns(table)
    elif "columns" in stored.labels:
        yield from (Column(name, "linear") for name in stored.labels["columns"].tolist())


def _columns(table: Table) -> Iterator[Column]:
    names, values = table.cells.columns.tolist(), table.cells.values
    sizes = [None] * len(names) if values is None else [len(column) for column in values]
    for name, size in zip(names, sizes, strict=True):
        yield Column(name, table.family, size)
