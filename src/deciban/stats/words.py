"""Words of texts: how often each occurs in each class, and in how many of its texts.

``X`` is :class:`Bags`: rows of amounts over the words, in compressed form. The sums are sparse:
most words occur in a few classes only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import sparse as kernel
from deciban.labels import Array, Labels
from deciban.stats.amounts import AMOUNTS
from deciban.stats.cells import Cells
from deciban.stats.rounding import ROUNDING
from deciban.stats.sparse import SparseSum, align
from deciban.stats.statistic import Additive, Codes, FloatArray, Sums
from deciban.stats.table import Mask, Stored, Sum, Table

#: What a word of a text counts for.
Weighting = Literal["amount", "presence", "absence"]
NO_WORDS: Labels = np.empty(0, dtype=object)


@dataclass(frozen=True, eq=False)
class Bags:
    """Rows of words: entry i is ``data[i]`` times word ``indices[i]``; row r's start at indptr[r].

    >>> bags = Bags(np.array([1.0, 4.0]), np.array([0, 1], "i4"), np.array([0, 2], "i4"), 2)
    >>> bags.shape, bags.sum_rows(bags.data), bags.weighted("presence").data
    ((1, 2), array([5.]), array([1., 1.]))
    """

    data: FloatArray
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    n_words: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and words."""
        return len(self.indptr) - 1, self.n_words

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The row of every entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def weighted(self, weighting: Weighting) -> Bags:
        """Every word as it counts: each time, or once a text."""
        return self if weighting == "amount" else self.with_data(np.ones(len(self.data)))

    def with_data(self, data: FloatArray) -> Bags:
        """These words with other numbers."""
        return Bags(data, self.indices, self.indptr, self.n_words)

    def sum_rows(self, values: Array) -> FloatArray:
        """The sum of some values of the entries, row by row, each in the order of its entries."""
        if len(self.indptr) == 2 and len(values):
            return np.add.accumulate(values, dtype=np.float64)[-1:]
        return np.bincount(self.rows, values, len(self.indptr) - 1).astype(np.float64, copy=False)


class Words(Additive):
    """``amount``: how often a word occurs in a class; ``documents``: in how many texts."""

    name = "words"
    cells: type[Cells] = Cells
    by_value = True
    sum_names = ("amount", "documents")

    def encode(self, names: Sequence[object], columns: Sequence[Any]) -> tuple[Cells, Bags]:
        """The words of columns of texts, and the bags of every row."""
        from deciban import text

        return text.block(list(names), list(columns))

    def check(self, X: Bags, columns: Labels) -> None:
        """Amounts are finite numbers >= 0."""
        AMOUNTS.check(X, columns)

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """Columns without any word."""
        none = SparseSum.of(np.zeros((n_classes, 0)))
        return Cells(columns, (NO_WORDS,) * len(columns)), dict.fromkeys(self.sum_names, none)

    def count(
        self, X: Bags, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
    ) -> dict[str, Sum]:
        """How often each word occurs in each class, and in how many texts."""

        def count(data: FloatArray) -> SparseSum:
            return SparseSum.of(
                kernel.count(data, X.indices, X.indptr, y, weight, n_classes, X.n_words)
            )

        return {"amount": count(X.data), "documents": count(np.ones(len(X.data)))}

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """Less of a word than nothing, or than texts that have it; or in more texts than rows."""
        sums = {name: cast("SparseSum", left[name]) for name in self.sum_names}
        keys, amount, documents = align(sums["amount"], sums["documents"])
        n_classes, n_cells = sums["amount"].shape
        of = keys % max(n_classes, 1)
        bad = (amount < 0) | (documents < 0) | ((amount > 0) != (documents > 0))
        bad |= documents > (1 + ROUNDING) * rows[of]
        out = np.zeros((n_classes, n_cells), dtype=bool)
        out[of[bad], (keys // max(n_classes, 1))[bad]] = True
        return out

    def from_arrays(self, arrays: Stored, shape: tuple[int, int]) -> dict[str, Sum]:
        """Both sums of a file."""
        return {n: SparseSum.from_arrays(arrays, f"sum.{n}", shape) for n in self.sum_names}


WORDS = Words()


def sum_of(table: Table, weighting: Weighting) -> SparseSum:
    """The sum that a weighting is estimated from: occurrences, or texts that have the word."""
    return cast("SparseSum", table.sums["amount" if weighting == "amount" else "documents"])
