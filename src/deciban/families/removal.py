"""Texts taken away from the counts that hold them, each by itself.

Taking a text away changes the counts of its own words in its own class, and the
totals of all classes where a word goes that no other text has: the vocabulary
is smaller then, and such a word says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban import rounding
from deciban.families.discrete import FloatArray, log_shares
from deciban.kernels import removal as kernel
from deciban.sparse import SparseSum

if TYPE_CHECKING:
    from deciban.families.words import Bags

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Removal:
    """Texts with their classes and weights, and which of their words stay in the vocabulary.

    ``extra`` is what smoothing adds to every count.
    """

    bags: Bags
    stays: Mask
    y: NDArray[np.intp]
    weight: FloatArray
    extra: float

    @classmethod
    def of(
        cls,
        bags: Bags,
        documents: SparseSum,
        y: NDArray[np.intp],
        weight: FloatArray,
        extra: float,
    ) -> Removal:
        """Some texts that are counted; ``documents`` has the texts of each class with each word."""
        each = np.repeat(weight, np.diff(bags.indptr))
        stays = rounding.difference(documents.by_cell[bags.indices], each) > 0
        return cls(bags, stays, y, weight, extra)

    @cached_property
    def size(self) -> FloatArray:
        """How many words of each text stay."""
        return self.bags.sums(np.where(self.stays, self.bags.data, 0.0))

    def shares(self, amount: SparseSum, *, others: bool) -> tuple[FloatArray, FloatArray]:
        """``sum_w x_w log P(w | c)`` and, if asked for, ``sum_w x_w log P(w | not c)``.

        The text is taken away from its own class, and so from the others of all others.
        """
        own = np.zeros((len(self.y), amount.n_classes))
        rest = np.zeros((len(self.y) if others else 0, amount.n_classes))
        values, of = amount.amounts, amount.classes.astype(np.int32)
        more = np.maximum(values + self.extra, 0.0)
        add, n_words = max(self.extra, 0.0), amount.shape[1]
        absent = n_words - np.bincount(of, minlength=amount.n_classes)
        totals = np.bincount(of, more, amount.n_classes) + add * absent
        others_have = amount.by_cell.sum() - amount.by_class + add * n_words
        with np.errstate(divide="ignore"):
            logs = np.log(more) - (np.log(add) if add else 0.0)
        bags = self.bags
        kernel.shares(
            bags.data, bags.indices, bags.indptr, self.y.astype(np.int64), self.weight,
            self.stays.view(np.uint8), amount.starts, of, values, logs, amount.by_cell,
            totals, others_have, self.extra, own, rest,
        )  # fmt: skip
        return own, rest

    def absence(self, documents: FloatArray, rows: FloatArray) -> FloatArray:
        """``sum_w log P(w there, or not, | c)``, the text taken away from its own class."""
        out = np.empty((len(self.y), len(documents)))
        for c, part in enumerate(documents):
            gone = np.where(self.y == c, self.weight, 0.0)
            for amount in np.unique(gone).tolist():
                of = gone == amount
                out[of, c] = self._absence(of, part, float(rows[c]) - amount, amount)
        return out

    def _absence(self, of: Mask, part: FloatArray, rows: float, gone: float) -> FloatArray:
        """The same of some texts for one class that has lost so many rows."""
        some = of[self.bags.rows]
        row, at, n = self.bags.rows[some], self.bags.indices[some], len(self.y)
        present = rounding.difference(part[at], np.full(len(at), gone))
        said = np.where(self.stays[some], self._log(present, rows), 0.0)
        absent = self._log(np.maximum(rows - part, 0.0), rows)
        # Vetoes are counted: minus infinity cannot be taken out of a sum again.
        never, no = np.isneginf(absent), np.isneginf(said)
        absent, said = np.where(never, 0.0, absent), np.where(no, 0.0, said)
        vetoes = never.sum() + np.bincount(row, no.astype(float) - never[at], n)
        total = absent.sum() + np.bincount(row, said - absent[at], n)
        return np.where(vetoes > 0, -np.inf, total)[of]

    def _log(self, texts: FloatArray, rows: float) -> FloatArray:
        """``log P`` of what so many of so many texts have."""
        amount = np.maximum(texts + self.extra, 0.0)
        both = amount + np.maximum(rows - texts + self.extra, 0.0)
        return log_shares(amount, both, 2)
