"""A batch: some rows of a table, as columns of the same length by name.

A :class:`FieldBatch` has the fields of the file besides, for whoever writes them out again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.sources.columns import Column, Strings, concatenate

__all__ = ["Batch", "FieldBatch", "Uncast"]


class Uncast(NamedTuple):
    """The rows of a column whose values cannot be of its type, and the column as it came."""

    rows: NDArray[np.intp]
    column: Column


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table: columns of the same length, by name.

    ``uncast`` has what is missing in a column because it could not be cast to the column's type;
    it stays with all rows of a batch, not with some of them.

    >>> from deciban.sources.columns import Numbers
    >>> Batch(1, {"x": Numbers(np.array([0.5]))}).tolist()
    [{'x': 0.5}]
    """

    n_rows: int
    columns: Mapping[str, Column]
    uncast: Mapping[str, Uncast] = field(default_factory=dict)

    def select(self, names: Iterable[str]) -> Batch:
        """Only some columns, in the order of the names."""
        return Batch(self.n_rows, {name: self.columns[name] for name in names}, self.uncast)

    def slice(self, start: int, stop: int) -> Batch:
        """Rows ``start .. stop``, as a view."""
        some = {name: column.slice(start, stop) for name, column in self.columns.items()}
        return Batch(stop - start, some)

    def take(self, rows: NDArray[np.intp]) -> Batch:
        """Some rows, copied."""
        return Batch(len(rows), {name: column.take(rows) for name, column in self.columns.items()})

    @staticmethod
    def concatenate(batches: Sequence[Batch]) -> Batch:
        """Batches of the same columns, one after the other."""
        if len(batches) == 1:
            return batches[0]
        columns = {
            name: concatenate([batch.columns[name] for batch in batches])
            for name in batches[0].columns
        }
        return Batch(sum(batch.n_rows for batch in batches), columns)

    def tolist(self) -> list[dict[str, Any]]:
        """The rows as dicts of Python values: for tests and for showing a few of them."""
        lists = [column.tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*lists, strict=True)]


@dataclass(frozen=True, eq=False)
class FieldBatch(Batch):
    """Some rows of a file, with the fields of some columns as they stand there.

    ``fields`` are texts, or ``json``: values as JSON writes them, numbers by their own digits.
    ``types`` are the SQL types of these columns, where the file states types.
    """

    fields: Mapping[str, Strings] = field(kw_only=True)
    json: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
