"""Evenly spaced rows of a stream, kept while it is read: figures are measured on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from deciban.sources.batch import Batch

__all__ = ["SpacedRows"]


@dataclass
class SpacedRows:
    """Rows 0, ``stride``, 2 ``stride``, ... of those that were added; no more than ``max_rows``.

    Every row at first, then every second, every fourth, ... as they become too many.

    >>> from deciban import sources
    >>> rows = SpacedRows(max_rows=3)
    >>> for batch in sources.batches({"x": list(range(8))}, rows=3):
    ...     rows.add(batch)
    >>> [row["x"] for batch in rows.batches for row in batch.tolist()]
    [0, 4]
    >>> rows.rows_seen, rows.stride
    (8, 4)
    """

    max_rows: int
    stride: int = 1
    rows_seen: int = 0
    batches: list[Batch] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Keep some of these rows, which follow those that were added before."""
        n_rows = batch.n_rows
        while -(-(self.rows_seen + n_rows) // self.stride) > self.max_rows:
            self.stride *= 2
            self.batches = list(self._every_second())
        rows = np.arange(-self.rows_seen % self.stride, n_rows, self.stride)
        self.rows_seen += n_rows
        if len(rows):
            self.batches.append(batch if len(rows) == n_rows else batch.take(rows))

    def _every_second(self) -> Iterator[Batch]:
        before = 0
        for batch in self.batches:
            rows = np.arange(-before % 2, batch.n_rows, 2)
            before += batch.n_rows
            if len(rows):
                yield batch.take(rows)
