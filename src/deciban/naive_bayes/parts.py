"""Labelled rows: a batch of columns, the class of each row, and its weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError
from deciban.labels import Labels
from deciban.sources.columns import Batch, taken
from deciban.sources.columns import joined as joined_columns

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: ``codes`` are positions among ``classes``; without weights, all count once."""

    batch: Batch
    classes: Labels
    codes: Codes
    weight: FloatArray | None

    @property
    def weights(self) -> FloatArray:
        """The weight of every row."""
        return np.ones(self.batch.n_rows) if self.weight is None else self.weight

    def taken(self, rows: NDArray[np.intp]) -> Part:
        """Only some rows, copied."""
        weight = None if self.weight is None else self.weight[rows]
        return Part(some_rows(self.batch, rows), self.classes, self.codes[rows], weight)

    def counted(self) -> Part:
        """Only the rows that count: a weight of zero is a row that is not there."""
        if self.weight is None or self.weight.all():
            return self
        left = self.taken(np.flatnonzero(self.weight))
        return Part(left.batch, *labels_in_use(left.classes, left.codes), left.weight)

    def codes_among(self, classes: Labels) -> Codes:
        """The codes of the rows among other classes, which must be known."""
        at = labels.positions(self.classes, classes)
        used = at[np.unique(self.codes)]
        if np.any(used < 0):
            unknown = self.classes[np.unique(self.codes)][used < 0][0]
            raise InputError(
                f"class {unknown!s} was never counted.",
                hint=f"the classes are {', '.join(map(str, classes[:10]))}",
            )
        return at[self.codes]


def labels_in_use(classes: Labels, codes: Codes) -> tuple[Labels, Codes]:
    """The classes that some row has, and the codes of the rows among them.

    >>> labels_in_use(np.array(["a", "b", "c"]), np.array([2, 0]))
    (array(['a', 'c'], dtype='<U1'), array([1, 0]))
    """
    used = np.bincount(codes, minlength=len(classes)) > 0
    return (classes, codes) if used.all() else (classes[used], (np.cumsum(used) - 1)[codes])


def some_rows(batch: Batch, rows: NDArray[np.intp]) -> Batch:
    """Some rows of a batch, copied."""
    return Batch(len(rows), {name: taken(c, rows) for name, c in batch.columns.items()})


def joined(parts: Sequence[Part]) -> Part:
    """Parts of one table, one after the other."""
    if len(parts) == 1:
        return parts[0]
    classes = parts[0].classes
    for part in parts[1:]:
        classes = labels.union(classes, part.classes)
    weighted = any(part.weight is not None for part in parts)
    columns = {
        name: joined_columns([part.batch.columns[name] for part in parts])
        for name in parts[0].batch.columns
    }
    return Part(
        Batch(sum(part.batch.n_rows for part in parts), columns),
        classes,
        np.concatenate([part.codes_among(classes) for part in parts]),
        np.concatenate([part.weights for part in parts]) if weighted else None,
    )
