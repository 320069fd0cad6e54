"""Some rows of the matrices that a model learned, kept to be judged when somebody asks.

Judging a row needs the counts or the optimum of all rows, which are known at the end. A
thousand rows are copied in next to no time, and most models are never asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels
from deciban.sources.matrix import (
    CheckedMatrix,
    FloatArray,
    canonical,
    numbers_per_row,
)

__all__ = ["NOTHING_KEPT", "KeptPart", "KeptRows"]

#: No more rows are kept than this, and of wide matrices fewer, though not fewer than the least.
MAX_KEPT_ROWS, MAX_KEPT_NUMBERS, MIN_KEPT_ROWS = 1_000, 1 << 20, 100


@dataclass(frozen=True, eq=False)
class KeptPart:
    """Evenly spaced rows of one matrix, each of which stands for so many of it."""

    X: CheckedMatrix
    codes: NDArray[np.intp]
    classes: Labels
    weight: FloatArray
    stands_for: float

    def codes_among(self, classes: Labels) -> NDArray[np.intp]:
        """The classes of the rows, by their places among others."""
        return labels.positions(self.classes, classes)[self.codes]

    def every_second(self, first: int) -> KeptPart:
        """Half of the rows, from the first or the second on."""
        some = slice(first, None, 2)
        return replace(
            self,
            X=self.X[some],
            codes=self.codes[some],
            weight=self.weight[some],
            stands_for=2 * self.stands_for,
        )


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of all matrices that a model learned, no more than ``MAX_KEPT_ROWS``.

    >>> kept = KeptRows.of(np.arange(5000.0)[:, None], np.zeros(5000, int), np.array(["a"]), None)
    >>> kept.n_rows, kept.parts[0].stands_for, (kept + kept).n_rows
    (1000, 5.0, 1000)
    """

    parts: tuple[KeptPart, ...] = ()

    @classmethod
    def of(
        cls,
        X: CheckedMatrix,
        codes: NDArray[np.intp],
        classes: Labels,
        weight: FloatArray | None,
    ) -> KeptRows:
        """Some rows of a matrix, dense or CSR, of those that weigh anything."""
        weighty = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
        if not len(weighty):
            return cls()
        most = min(MAX_KEPT_ROWS, MAX_KEPT_NUMBERS // max(1, numbers_per_row(X)))
        step = -(-len(weighty) // max(most, MIN_KEPT_ROWS))
        at = weighty[::step]
        each = np.ones(len(at)) if weight is None else weight[at]
        some = X[at] if isinstance(X, np.ndarray) else canonical(X[at])
        return cls((KeptPart(some, codes[at], classes, each, float(step)),))

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return sum(len(part.codes) for part in self.parts)

    @property
    def weight(self) -> FloatArray:
        """The weight of each row."""
        return np.concatenate([np.empty(0), *(part.weight for part in self.parts)])

    @property
    def stands_for(self) -> FloatArray:
        """How many rows each stands for."""
        each = (np.full(len(part.codes), part.stands_for) for part in self.parts)
        return np.concatenate([np.empty(0), *each])

    def codes_among(self, classes: Labels) -> NDArray[np.intp]:
        """The class of each row, by its place among others."""
        each = (part.codes_among(classes) for part in self.parts)
        return np.concatenate([np.empty(0, dtype=np.intp), *each])

    def __iter__(self) -> Iterator[KeptPart]:
        return iter(self.parts)

    def __add__(self, other: KeptRows) -> KeptRows:
        """The rows of both; of too many, half of those that stand for the fewest."""
        both = KeptRows(self.parts + other.parts)
        while both.n_rows > MAX_KEPT_ROWS:
            both = both._thin()
        return both

    def _thin(self) -> KeptRows:
        """Without every second row of those that stand for the fewest, in whatever parts."""
        least, before, parts = min(part.stands_for for part in self.parts), 0, []
        for part in self.parts:
            if part.stands_for > least:
                parts.append(part)
                continue
            half = part.every_second(before % 2)
            before += len(part.codes)
            parts += [half] if len(half.codes) else []
        return KeptRows(tuple(parts))


NOTHING_KEPT = KeptRows()
