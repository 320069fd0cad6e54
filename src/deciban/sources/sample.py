"""Evenly spaced rows of a stream, kept while it is read.

Which rows are kept depends on their number alone, not on the batches they come
in: every row at first, then every second, every fourth, ... as they become too
many. One pass is enough, and so is one read of a stream that can be read once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch

__all__ = ["ALL_ROWS", "SAMPLE_ROWS", "Part", "Sample"]

B = TypeVar("B", Batch, LabelledBatch)

#: No more rows are kept than this, unless something else is stated.
SAMPLE_ROWS = 20_000
#: A sample of at most so many rows is the whole table.
ALL_ROWS = sys.maxsize


@dataclass(frozen=True, eq=False)
class Part(Generic[B]):
    """Rows of a sample that are judged, each of which stands for so many of all rows.

    ``judged`` are the numbers of those among ``rows``, None where that is all of them: the others
    are needed to judge them by.
    """

    rows: B
    stands_for: float
    judged: NDArray[np.intp] | None = None


@dataclass
class Sample(Generic[B]):
    """Rows 0, ``stride``, 2 ``stride``, ... of those that were added; no more than ``max_rows``.

    >>> from deciban import sources
    >>> sample = Sample(max_rows=3)
    >>> for batch in sources.batches({"x": list(range(8))}, rows=3):
    ...     sample.add(batch)
    >>> [row["x"] for batch in sample.batches for row in batch.tolist()]
    [0, 4]
    >>> sample.rows_seen, sample.n_rows, sample.stride
    (8, 2, 4)
    """

    max_rows: int = field(default_factory=lambda: SAMPLE_ROWS)
    stride: int = 1
    rows_seen: int = 0
    batches: list[B] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return sum(batch.n_rows for batch in self.batches)

    @property
    def stands_for(self) -> float:
        """How many rows each that is kept stands for."""
        return float(self.stride)

    def add(self, batch: B) -> None:
        """Keep some of these rows, which follow those that were added before."""
        n_rows = batch.n_rows
        self._make_room(n_rows)
        rows = np.arange(-self.rows_seen % self.stride, n_rows, self.stride)
        self.rows_seen += n_rows
        if len(rows):
            self.batches.append(batch if len(rows) == n_rows else batch.take(rows))

    def expect(self, n_rows: int) -> None:
        """Choose the stride for rows whose number is known before they are read."""
        self._make_room(n_rows)
        self.rows_seen = n_rows

    def thin(self, max_rows: int) -> None:
        """Keep no more rows than this, of those that were added and of those to come.

        >>> from deciban import sources
        >>> sample = Sample()
        >>> sample.add(next(sources.batches({"x": [0, 1, 2, 3, 4]})))
        >>> sample.thin(2)
        >>> [row["x"] for batch in sample.batches for row in batch.tolist()], sample.stride
        ([0, 4], 4)
        """
        self.max_rows = min(self.max_rows, max_rows)
        self._make_room(0)

    def _make_room(self, n_rows: int) -> None:
        while -(-(self.rows_seen + n_rows) // self.stride) > self.max_rows:
            self.stride *= 2
            self.batches = list(self.every(2))

    def every(self, step: int) -> Iterator[B]:
        """Every so many of the rows that are kept."""
        before = 0
        for batch in self.batches:
            rows = np.arange(-before % step, batch.n_rows, step)
            before += batch.n_rows
            if len(rows):
                yield batch.take(rows)

    def part(self, step: int) -> Part[B]:
        """About one in so many of the rows that are kept, to be judged; there must be some."""
        some = list(self.every(step))
        return Part(type(some[0]).concatenate(some), self.stands_for * step)

    def chunks(self, n_rows: int) -> Iterator[B]:
        """All rows that are kept, so many at once: wherever the batches begin and end."""
        some: list[B] = []
        left = n_rows
        for batch in self.batches:
            start, size = 0, batch.n_rows
            while start < size:
                stop = min(start + left, size)
                whole = stop - start == size
                some.append(batch if whole else batch.take(np.arange(start, stop)))
                start, left = stop, left - (stop - start)
                if not left:
                    yield type(batch).concatenate(some)
                    some, left = [], n_rows
        if some:
            yield type(some[0]).concatenate(some)
