"""A batch: some rows of a table, as columns of the same length by name.

A :class:`FieldBatch` has the fields of the file besides, for whoever writes them out again; a
:class:`LabelledBatch` the classes and weights of its rows, and the units that they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError
from deciban.labels import Array, Labels
from deciban.sources.columns import Column, Strings, concatenate, take_rows
from deciban.sources.tabular import Value

__all__ = ["Batch", "FieldBatch", "LabelledBatch", "Uncast", "UnitKind", "Units"]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
#: What rows belong together by.
UnitKind = Literal["group", "time"]


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
        """Rows ``start .. stop``, as a view; the batch itself where that is all of it."""
        if start == 0 and stop == self.n_rows:
            return self
        some = {name: column.slice(start, stop) for name, column in self.columns.items()}
        return Batch(stop - start, some)

    def take(self, rows: NDArray[np.intp]) -> Batch:
        """Some rows, copied."""
        return Batch(len(rows), take_rows(self.columns, rows))

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

    def tolist(self) -> list[dict[str, Value]]:
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


@dataclass(frozen=True, eq=False)
class Units:
    """The group of every row, as a hash, or its time."""

    kind: UnitKind
    values: Array

    def take(self, rows: NDArray[np.intp]) -> Units:
        """Those of some rows."""
        return replace(self, values=self.values[rows])

    def codes(self) -> NDArray[np.intp]:
        """The unit of every row, numbered from 0 in the order of the values.

        >>> Units("time", np.array([5.0, 2.0, 5.0])).codes()
        array([1, 0, 1])
        """
        return np.asarray(np.unique(self.values, return_inverse=True)[1], dtype=np.intp)

    @staticmethod
    def concatenate(parts: Sequence[Units | None]) -> Units | None:
        """Those of batches of one table."""
        some = [part for part in parts if part is not None]
        if not some:
            return None
        return replace(some[0], values=np.concatenate([part.values for part in some]))


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Some rows with their labels and weights; ``units`` where they belong to groups or times.

    ``codes`` are the positions of the rows' classes among ``classes``.
    """

    batch: Batch
    classes: Labels
    codes: Codes
    weight: FloatArray | None
    units: Units | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.batch.n_rows

    @property
    def weights(self) -> FloatArray:
        """The weight of every row."""
        return np.ones(self.batch.n_rows) if self.weight is None else self.weight

    def take(self, rows: NDArray[np.intp]) -> LabelledBatch:
        """Only some rows, copied."""
        weight = None if self.weight is None else self.weight[rows]
        units = None if self.units is None else self.units.take(rows)
        return LabelledBatch(self.batch.take(rows), self.classes, self.codes[rows], weight, units)

    def drop_zero_weights(self) -> LabelledBatch:
        """Only the rows that count: a weight of zero is a row that is not there."""
        if self.weight is None or self.weight.all():
            return self
        return self.take(np.flatnonzero(self.weight)).drop_unused_classes()

    def drop_unused_classes(self) -> LabelledBatch:
        """With only the classes that some row has."""
        used = np.bincount(self.codes, minlength=len(self.classes)) > 0
        if used.all():
            return self
        codes = (np.cumsum(used) - 1)[self.codes]
        return replace(self, classes=self.classes[used], codes=codes)

    def codes_among(self, classes: Labels) -> Codes:
        """The codes of the rows among other classes, which must be known."""
        at = labels.positions(self.classes, classes)
        used = np.bincount(self.codes, minlength=len(at)) > 0
        if np.any(at[used] < 0):
            unknown = self.classes[used & (at < 0)][0]
            raise InputError(
                f"class {unknown!s} was never counted.",
                hint=f"the classes are {', '.join(map(str, classes[:10]))}",
            )
        return at[self.codes]

    @staticmethod
    def concatenate(batches: Sequence[LabelledBatch]) -> LabelledBatch:
        """Batches of one table, one after the other."""
        if len(batches) == 1:
            return batches[0]
        classes = batches[0].classes
        for batch in batches[1:]:
            classes = labels.union(classes, batch.classes)
        weighted = any(batch.weight is not None for batch in batches)
        return LabelledBatch(
            Batch.concatenate([batch.batch for batch in batches]),
            classes,
            np.concatenate([batch.codes_among(classes) for batch in batches]),
            np.concatenate([batch.weights for batch in batches]) if weighted else None,
            Units.concatenate([batch.units for batch in batches]),
        )
