"""Texts taken away from the counts that hold them, each by itself.

Taking a text away changes the counts of its own words in its own class, and the
totals of all classes where a word goes that no other text has: the vocabulary
is smaller then, and such a word says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import removal as kernel
from deciban.kernels.discrete import log_shares
from deciban.stats import rounding
from deciban.stats.sparse import SparseSum
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Mask
from deciban.stats.words import Bags


def rarity(documents: FloatArray, n_texts: FloatArray | float, power: float) -> FloatArray:
    """A power of the idf, ``log((n + 1) / (n_w + 1/2))``, of words that n_w of n texts have.

    It is above zero for all words, also those that every text has.

    >>> rarity(np.array([1.0, 3.0]), 3.0, 1.0).round(3)
    array([0.981, 0.134])
    """
    more = np.maximum(n_texts, 0.0) + 1.0
    share = (np.clip(documents, 0.0, more - 1.0) + 0.5) / more
    return np.asarray((-np.log(share)) ** power)


@dataclass(frozen=True, eq=False)
class SmoothedCounts:
    """Counts of words, the logarithms of what smoothing makes of them, and the totals of classes.

    ``others`` are the totals of all other classes. Where smoothing takes away from counts,
    totals are of what is left; what it adds is not in them.
    """

    amount: SparseSum
    classes: NDArray[np.int32]
    values: FloatArray
    logs: FloatArray
    totals: FloatArray
    others: FloatArray

    @classmethod
    def of(cls, amount: SparseSum, pseudo_count: float) -> SmoothedCounts:
        """Logarithms are those above that of a word which a class does not have."""
        n_classes = amount.n_classes
        values, of, add = amount.amounts, amount.classes.astype(np.int32), max(pseudo_count, 0.0)
        more = values + pseudo_count
        np.maximum(more, 0.0, out=more)
        totals = amount.by_class if add else np.bincount(of, more, n_classes).astype(np.float64)
        others = amount.by_cell.sum() - amount.by_class
        with np.errstate(divide="ignore"):
            logs = np.log(more, out=more)
        logs -= np.log(add) if add else 0.0
        return cls(amount, of, values, logs, totals, others)


@dataclass(frozen=True, eq=False)
class Removal:
    """Texts with their classes and weights, and which of their words stay in the vocabulary.

    ``size`` is how many words of each text stay, ``pseudo_count`` what smoothing adds to every
    count, ``worth`` what the evidence of every entry is multiplied by.
    """

    bags: Bags
    stays: Mask
    size: FloatArray
    y: Codes
    weight: FloatArray
    pseudo_count: float
    worth: FloatArray

    @classmethod
    def of(
        cls,
        bags: Bags,
        documents: SparseSum,
        y: Codes,
        weight: FloatArray,
        pseudo_count: float,
        n_texts: float = 0.0,
        idf: float = 0.0,
    ) -> Removal:
        """Some texts that are counted; ``documents`` has the texts of each class with each word.

        ``n_texts`` are all that were counted, ``idf`` is the power of the rarity of words.
        """
        stays, size = kernel.shared_entries(
            bags.data, bags.indices, bags.indptr, weight, documents.by_cell
        )
        worth = np.ones(len(bags.data))
        if idf:
            gone = weight[bags.rows]
            worth = rarity(documents.by_cell[bags.indices] - gone, n_texts - gone, idf)
        return cls(bags, stays, size, y, weight, pseudo_count, worth)

    def left_rows(self, rows: FloatArray) -> FloatArray:
        """The rows of each class that are left for each text, (rows, classes)."""
        left = np.tile(rows, (len(self.y), 1))
        left[np.arange(len(self.y)), self.y] -= self.weight
        return np.maximum(left, 0.0)

    def log_shares(self, counts: SmoothedCounts, *, others: bool) -> tuple[FloatArray, FloatArray]:
        """``sum_w u_w x_w log P(w | c)``; if asked for, ``sum_w u_w x_w log P(w | not c)``.

        u is the worth of each entry. The text is taken away from its own class, and so from the
        others of all others.
        """
        amount, bags = counts.amount, self.bags
        own = np.zeros((len(self.y), amount.n_classes))
        rest = np.zeros((len(self.y) if others else 0, amount.n_classes))
        kernel.leave_one_out(
            bags.data, self.worth, bags.indices, bags.indptr, self.y.astype(np.int64), self.weight,
            self.stays, amount.starts, counts.classes, counts.values, counts.logs,
            amount.by_cell, counts.totals, counts.others, self.pseudo_count, own, rest,
        )  # fmt: skip
        return own, rest

    def log_absence(self, documents: FloatArray, rows: FloatArray) -> FloatArray:
        """``sum_w log P(w there, or not, | c)``, the text taken away from its own class."""
        out = np.empty((len(self.y), len(documents)))
        for c, part in enumerate(documents):
            gone = np.where(self.y == c, self.weight, 0.0)
            for amount in np.unique(gone).tolist():
                of = gone == amount
                out[of, c] = self._class_absence(of, part, float(rows[c]) - amount, amount)
        return out

    def _class_absence(self, of: Mask, part: FloatArray, rows: float, gone: float) -> FloatArray:
        """The log absence of some texts under one class that has lost so many rows."""
        some = of[self.bags.rows]
        row, at, n = self.bags.rows[some], self.bags.indices[some], len(self.y)
        count = rounding.difference(part[at], np.full(len(at), gone))
        present = np.where(self.stays[some], self._log(count, rows), 0.0)
        absent = self._log(np.maximum(rows - part, 0.0), rows)
        # Vetoes are counted: minus infinity cannot be taken out of a sum again.
        never, no = np.isneginf(absent), np.isneginf(present)
        absent, present = np.where(never, 0.0, absent), np.where(no, 0.0, present)
        vetoes = never.sum() + np.bincount(row, no.astype(float) - never[at], n)
        total = absent.sum() + np.bincount(row, present - absent[at], n)
        return np.where(vetoes > 0, -np.inf, total)[of]

    def _log(self, texts: FloatArray, rows: float) -> FloatArray:
        """``log P`` of what so many of so many texts have."""
        amount = np.maximum(texts + self.pseudo_count, 0.0)
        both = amount + np.maximum(rows - texts + self.pseudo_count, 0.0)
        return log_shares(amount, both, 2)
