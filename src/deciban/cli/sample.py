"""Evenly spaced rows, kept while a table passes by."""

from __future__ import annotations

import numpy as np

from deciban.sources import Batch, Scan
from deciban.sources.columns import taken


class Sample:
    """Every ``stride``-th row; the stride doubles when more than ``most`` rows are kept.

    >>> from deciban import sources
    >>> sample = Sample(most=3)
    >>> for batch in sources.batches({"x": list(range(8))}, rows=3):
    ...     sample.add(batch)
    >>> [row["x"] for batch in sample.scan() for row in batch.tolist()]
    [0, 4]
    >>> sample.seen, sample.kept
    (8, 2)
    """

    def __init__(self, most: int) -> None:
        self.most, self.seen, self.stride = most, 0, 1
        self._parts: list[tuple[int, Batch]] = []

    def add(self, batch: Batch) -> None:
        """Rows that pass by."""
        if batch.n_rows:
            self._keep(self.seen, 1, batch)
        self.seen += batch.n_rows
        while self.kept > self.most:
            parts, before = self._parts, self.stride
            self._parts, self.stride = [], 2 * before
            for first, part in parts:
                self._keep(first, before, part)

    @property
    def kept(self) -> int:
        """How many rows are kept."""
        return sum(batch.n_rows for _, batch in self._parts)

    def scan(self) -> Scan:
        """The kept rows as a table."""
        batches = [batch for _, batch in self._parts]
        return Scan(tuple(batches[0].columns) if batches else (), lambda: iter(batches))

    def _keep(self, first: int, step: int, batch: Batch) -> None:
        """Of the rows ``first, first + step, ...`` those that the stride meets."""
        numbers = first + step * np.arange(batch.n_rows)
        rows = np.flatnonzero(numbers % self.stride == 0)
        if len(rows):
            columns = {name: taken(column, rows) for name, column in batch.columns.items()}
            self._parts.append((int(numbers[rows[0]]), Batch(len(rows), columns)))
