"""A scan: the names of a source's columns, and its batches one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from deciban.errors import InputError
from deciban.sources import naming
from deciban.sources.columns import Batch, Column, Integers, Numbers, Strings, Times, replaced

if TYPE_CHECKING:
    from deciban.sources.duck import Stored

__all__ = ["Scan", "agreed", "cut", "once"]


@dataclass(frozen=True, eq=False)
class Scan:
    """A table that is ready to be read: its column names are known, its rows are not read yet.

    Iterating gives the batches. A table that stays where it is can be iterated
    over again; a stream can not, and says so. Of one that is ``stored``, parts
    can be asked for.

    >>> from deciban import sources
    >>> table = sources.scan({"word": ["ham", "eggs"], "n": [1, None]})
    >>> table.names
    ('word', 'n')
    >>> [batch.tolist() for batch in table]
    [[{'word': 'ham', 'n': 1}, {'word': 'eggs', 'n': None}]]
    """

    names: tuple[str, ...]
    read: Callable[[], Iterator[Batch]] = field(repr=False)
    stored: Stored | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Batch]:
        return self.read()

    def require(self, name: str) -> str:
        """The name if there is such a column, otherwise an error that suggests the nearest."""
        if name not in self.names:
            raise naming.unknown(name, self.names)
        return name


def once(batches: Iterator[Batch]) -> Callable[[], Iterator[Batch]]:
    """Give out a stream's batches the first time, and an error after that."""
    left = [batches]

    def read() -> Iterator[Batch]:
        if not left:
            raise InputError(
                "this stream has been read already.",
                hint="a stream can be read once: pass a table or a file to read it again",
            )
        return left.pop()

    return read


def cut(columns: Mapping[str, Column], rows: int) -> Iterator[Batch]:
    """Whole columns as batches of at most ``rows`` rows."""
    n_rows = len(next(iter(columns.values()), ()))
    for start in range(0, n_rows, rows):
        yield Batch(n_rows, columns).part(start, min(start + rows, n_rows))


def agreed(first: Mapping[str, Column], batch: Batch, number: int) -> Batch:
    """A later frame of a stream, with the columns of the first in their order and types."""
    odd = sorted(set(first) ^ set(batch.columns))
    if odd:
        where = "only in the first" if odd[0] in first else "not in the first"
        raise InputError(
            f"frame {number} has other columns than the first: {odd[0]!r} is {where}.",
            hint="all frames of a stream need the same columns",
        )
    return Batch(
        batch.n_rows,
        {name: _alike(name, first[name], batch.columns[name], number) for name in first},
    )


def _alike(name: str, first: Column, column: Column, number: int) -> Column:
    """The column as the type it had in the first frame, where nothing is lost by that."""
    if isinstance(column, Times) and isinstance(first, Times):
        if "time" not in {first.unit, column.unit} or first.unit == column.unit:
            return Times(column.values, column.missing, first.unit)
    elif type(column) is type(first):
        return column
    elif isinstance(column, Integers) and isinstance(first, Numbers):
        return column.numbers()
    elif isinstance(column, Numbers):
        known = column.values[~column.missing]
        if len(known) == 0:
            return _nothing(first, len(column))
        if (
            isinstance(first, Integers)
            and np.all(np.abs(known) <= 2**53)
            and np.all(known % 1 == 0)
        ):
            values = np.where(column.missing, 0, column.values).astype(np.int64)
            return Integers(values, column.missing)
    raise InputError(
        f"column {name!r} holds {type(first).__name__.lower()} in the first frame and "
        f"{type(column).__name__.lower()} in frame {number}.",
        hint="give the column the same type in every frame",
    )


def _nothing(like: Column, n: int) -> Column:
    """A column of ``n`` missing values."""
    gap = np.ones(n, dtype=bool)
    if isinstance(like, Strings):
        return Strings(np.zeros(n + 1, np.int64), np.empty(0, np.uint8), gap)
    return replaced(like, np.zeros(n, like.values.dtype), gap)
