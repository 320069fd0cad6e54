"""The contract of samples: some rows of a table, kept while it is read, to judge a model by.

:class:`~deciban.sources.row_sample.RowSample` keeps single rows,
:mod:`deciban.sources.unit_sample` whole groups, or all rows where their order matters.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.sources.batch import LabelledBatch

__all__ = ["ALL_ROWS", "SAMPLE_ROWS", "Part", "Sample"]

#: No more rows are kept than this, unless something else is stated.
SAMPLE_ROWS = 20_000
#: A sample of at most so many rows is the whole table.
ALL_ROWS = sys.maxsize


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a sample that are judged, each of which stands for so many of all rows.

    ``judged`` are the numbers of those among ``rows``, None where that is all of them: the others
    are needed to judge them by.
    """

    rows: LabelledBatch
    stands_for: float
    judged: NDArray[np.intp] | None = None


class Sample(ABC):
    """Some of the rows that were added, no more than ``max_rows`` if that can be."""

    max_rows: int
    rows_seen: int

    @property
    @abstractmethod
    def batches(self) -> list[LabelledBatch]:
        """The rows that are kept."""

    @property
    @abstractmethod
    def stands_for(self) -> float:
        """How many rows each that is kept stands for."""

    @abstractmethod
    def add(self, batch: LabelledBatch, content: Collection[str] | None = None) -> None:
        """Keep some of these rows; ``content`` are the columns that tell rows apart, or all."""

    @abstractmethod
    def thin(self, max_rows: int) -> None:
        """Keep no more rows than this, of those that were added and of those to come."""

    @abstractmethod
    def part(self, step: int) -> Part:
        """About one in so many of the rows that are kept, to be judged; there must be some."""

    @abstractmethod
    def chunks(self, n_rows: int) -> Iterator[LabelledBatch]:
        """All rows that are kept, about so many at once."""

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return sum(batch.n_rows for batch in self.batches)
