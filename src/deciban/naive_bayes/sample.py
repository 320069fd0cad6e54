"""Evenly spaced rows of a stream, kept while it is read.

Which rows are kept depends on their number alone, not on the batches they come
in: every row at first, then every second, every fourth, ... as they become too
many. One pass is enough, and so is one read of a stream that can be read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from deciban.naive_bayes.parts import Part, joined

#: No more rows are kept than this, unless something else is said.
MOST = 20_000


@dataclass
class Sample:
    """Rows 0, ``stride``, 2 ``stride``, ... of those that were added; no more than ``most``."""

    most: int = field(default_factory=lambda: MOST)
    stride: int = 1
    seen: int = 0
    parts: list[Part] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """How many rows are kept."""
        return sum(part.batch.n_rows for part in self.parts)

    def add(self, part: Part) -> None:
        """See some more rows."""
        n_rows = part.batch.n_rows
        self._make_room(n_rows)
        some = np.arange(-self.seen % self.stride, n_rows, self.stride)
        self.seen += n_rows
        if len(some):
            self.parts.append(part.taken(some))

    def begin(self, n_rows: int) -> None:
        """Settle the stride for rows whose number is known before they are seen."""
        self._make_room(n_rows)
        self.seen = n_rows

    def _make_room(self, n_rows: int) -> None:
        while -(-(self.seen + n_rows) // self.stride) > self.most:
            self._thin()

    def _thin(self) -> None:
        """Keep every second row."""
        self.stride *= 2
        self.parts = list(self.every(2))

    def every(self, step: int) -> Iterator[Part]:
        """Every so many of the rows that are kept."""
        before = 0
        for part in self.parts:
            rows = np.arange(-before % step, part.batch.n_rows, step)
            before += part.batch.n_rows
            if len(rows):
                yield part.taken(rows)

    def pieces(self, size: int) -> Iterator[Part]:
        """All rows that are kept, ``size`` at once: wherever the parts begin and end."""
        some: list[Part] = []
        left = size
        for part in self.parts:
            start = 0
            while start < part.batch.n_rows:
                stop = min(start + left, part.batch.n_rows)
                some.append(part.taken(np.arange(start, stop)))
                start, left = stop, left - (stop - start)
                if not left:
                    yield joined(some)
                    some, left = [], size
        if some:
            yield joined(some)
