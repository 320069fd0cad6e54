"""A labelled batch: some rows with their classes and weights, and the groups or times they are of.

``codes`` are the positions of the rows' classes among ``classes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError
from deciban.labels import Labels
from deciban.sources.batch import Batch
from deciban.sources.units import Units

__all__ = ["LabelledBatch"]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Some rows with their labels and weights; ``units`` where they belong to groups or times."""

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
        used = at[np.unique(self.codes)]
        if np.any(used < 0):
            unknown = self.classes[np.unique(self.codes)][used < 0][0]
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
