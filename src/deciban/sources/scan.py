"""A scan: a table as a stream of batches. The contract between sources and engines.

Conventions
-----------
- Nothing is read before a scan is iterated over, except what its names need.
- ``names`` are the columns in order: at least one, each once. Every batch has
  exactly these columns in this order, each of one type in all batches.
- Batches have at most as many rows as were asked for when the scan was opened;
  some may have none.
- ``place`` says where rows can be counted: in ``"memory"``; in a ``"file"`` that is
  read from front to back; or by whoever has them, ``"duckdb"``, a ``"database"``,
  ``"spark"``: such a scan has methods of its own for the engine of that name.
- A scan that is not ``rereadable`` gives its batches once, and an error after that.
- ``n_rows`` is the number of rows if it is known before reading, otherwise None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Literal, Protocol, runtime_checkable

from deciban.errors import InputError
from deciban.sources import column_names
from deciban.sources.batch import Batch
from deciban.sources.columns import Column
from deciban.sources.formats import Format

__all__ = [
    "BATCH_ROWS",
    "BatchScan",
    "Place",
    "Scan",
    "check_names",
    "hold",
    "peek",
    "read_once",
    "scan_batches",
    "scan_columns",
    "select",
    "wrap",
]

#: The most rows in a batch, if nothing else is stated.
BATCH_ROWS = 65_536

Place = Literal["memory", "file", "duckdb", "database", "spark"]


@runtime_checkable
class Scan(Protocol):
    """A table that is ready to be read: its column names are known, its rows are not read yet.

    >>> from deciban import sources
    >>> table = sources.scan({"word": ["ham", "eggs"], "n": [1, None]})
    >>> table.names, table.place, table.rereadable, table.n_rows
    (('word', 'n'), 'memory', True, 2)
    >>> [batch.tolist() for batch in table]
    [[{'word': 'ham', 'n': 1}, {'word': 'eggs', 'n': None}]]
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""

    @property
    def place(self) -> Place:
        """Where rows can be counted."""

    @property
    def rereadable(self) -> bool:
        """Whether it can be iterated over more than once."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known before reading."""

    def __iter__(self) -> Iterator[Batch]:
        """Read the batches."""

    def require(self, name: str) -> str:
        """The name if there is such a column, otherwise an error that suggests the nearest."""


@dataclass(frozen=True, eq=False)
class BatchScan:
    """Batches from a function that reads them: tables in memory, files, streams.

    >>> BatchScan(("x",), lambda: iter([])).require("z")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: there is no column 'z'. Hint: the columns are x.
    """

    names: tuple[str, ...]
    read: Callable[[], Iterator[Batch]] = field(repr=False)
    place: Place = "memory"
    rereadable: bool = True
    n_rows: int | None = None
    #: How columns are written or what their type says they are, where that is known.
    formats: Callable[[], Mapping[str, Format]] = field(default=dict, repr=False)
    #: The table anew, of the files it is read from, with formats of columns that are known.
    reopen: Callable[[Mapping[str, str]], BatchScan] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_names(self.names)

    def __iter__(self) -> Iterator[Batch]:
        return self.read()

    def require(self, name: str) -> str:
        """The name if there is such a column, otherwise an error that suggests the nearest."""
        if name not in self.names:
            raise column_names.unknown(name, self.names)
        return name


def check_names(names: Sequence[str]) -> None:
    """Refuse a table without columns, and two columns of the same name.

    >>> check_names(["a", "b", "a"])
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: two columns have the same name 'a'. Hint: rename one of them.
    """
    if not names:
        raise InputError("the table has no columns.", hint="give at least one column")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns have the same name {twice!r}.", hint="rename one of them")


def scan_columns(
    names: tuple[str, ...],
    columns: Mapping[str, Column],
    n_rows: int,
    rows: int,
    formats: Callable[[], Mapping[str, Format]] = dict,
) -> BatchScan:
    """Whole columns of ``n_rows`` values, in batches of at most ``rows`` rows."""
    whole = Batch(n_rows, columns)

    def read() -> Iterator[Batch]:
        if 0 < n_rows <= rows:
            return iter((whole,))
        starts = range(0, n_rows, rows)
        return (whole.slice(start, min(start + rows, n_rows)) for start in starts)

    return BatchScan(names, read, n_rows=n_rows, formats=formats)


def scan_batches(names: Iterable[str], batches: Sequence[Batch]) -> BatchScan:
    """Batches of these columns that are held in memory."""
    n_rows = sum(batch.n_rows for batch in batches)
    return BatchScan(tuple(names), lambda: iter(batches), n_rows=n_rows)


def hold(scan: Scan) -> BatchScan:
    """Read a scan now and hold its batches in memory."""
    return scan_batches(scan.names, list(scan))


def select(scan: Scan, names: Iterable[str]) -> BatchScan:
    """Only some columns of a scan."""
    some = tuple(scan.require(name) for name in names)
    return wrap(scan, lambda: (batch.select(some) for batch in scan), some)


def wrap(
    scan: Scan, read: Callable[[], Iterator[Batch]], names: tuple[str, ...] | None = None
) -> BatchScan:
    """A scan whose batches pass through ``read``: whoever has the rows no longer counts them."""
    place: Place = "memory" if scan.place == "memory" else "file"
    formats = scan.formats if isinstance(scan, BatchScan) else dict
    return BatchScan(names or scan.names, read, place, scan.rereadable, scan.n_rows, formats)


def read_once(batches: Iterator[Batch]) -> Callable[[], Iterator[Batch]]:
    """Give out a stream's batches the first time, and an error after that."""
    unread = [batches]

    def read() -> Iterator[Batch]:
        if not unread:
            raise InputError(
                "this stream has been read already.",
                hint="a stream can be read once: pass a table or a file to read it again",
            )
        return unread.pop()

    return read


def peek(scan: Scan, n_rows: int) -> tuple[list[Batch], BatchScan]:
    """The first batches, of ``n_rows`` rows or more, and a scan that does not read them again.

    Only its first reading is spared them. The list is emptied by that reading, so that
    no batch is held longer than needed.
    """
    rest = iter(scan)
    first: list[Batch] = []
    while sum(batch.n_rows for batch in first) < n_rows:
        batch = next(rest, None)
        if batch is None:
            break
        first.append(batch)
    begun = [chain(map(first.pop, repeat(0, len(first))), rest)]

    def read() -> Iterator[Batch]:
        return begun.pop() if begun else iter(scan)

    return first, wrap(scan, read)
