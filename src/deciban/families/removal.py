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
from deciban.families import bag
from deciban.families.bag import Linear
from deciban.families.discrete import FloatArray, log_shares

if TYPE_CHECKING:
    from deciban.families.words import Bags

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Removal:
    """Texts with their classes and weights, and which of their words stay in the vocabulary.

    ``n_words`` is the size of the vocabulary without each text, ``extra`` what
    smoothing adds to every count.
    """

    bags: Bags
    stays: Mask
    y: NDArray[np.intp]
    weight: FloatArray
    n_words: FloatArray
    extra: float

    @classmethod
    def of(
        cls,
        bags: Bags,
        documents: FloatArray,
        y: NDArray[np.intp],
        weight: FloatArray,
        extra: float,
    ) -> Removal:
        """Some texts that are counted; ``documents`` has the texts of each class with each word."""
        left = rounding.difference(documents.sum(axis=0)[bags.indices], weight[bags.rows])
        return cls(bags, left > 0, y, weight, bags.n_words - bags.sums(left <= 0), extra)

    @cached_property
    def kept(self) -> Bags:
        """The words that stay; the others count for nothing."""
        return self.bags.holding(np.where(self.stays, self.bags.data, 0.0))

    def shares(self, amount: FloatArray, *, others: bool = False) -> FloatArray:
        """``sum_w x_w log P(w | c)``, the text taken away from its own class or from the others."""
        more = np.maximum(amount + self.extra, 0.0)
        out = np.zeros((len(self.y), len(amount)))
        with np.errstate(divide="ignore"):
            bag.add(Linear(np.log(more).T), self.kept, out)
        lost = self.bags.n_words - self.n_words
        total = more.sum(axis=1) - lost[:, None] * max(self.extra, 0.0)
        for c, part in enumerate(amount):
            changed = (self.y != c) if others else (self.y == c)
            out[changed, c], total[changed, c] = self._changed(changed, part)
        return self._normed(out, total)

    def _normed(self, said: FloatArray, total: FloatArray) -> FloatArray:
        """Shares of the totals; where nothing was counted, every word has the same share."""
        size = self.kept.sums(self.kept.data)[:, None]
        alike = np.log(np.maximum(self.n_words, 1.0))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            some = said - size * np.log(total)
        return np.where(size > 0, np.where(total > 0, some, -size * alike), 0.0)

    def _changed(self, changed: Mask, part: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What texts that are taken away from a class have of it, and its totals without them."""
        of = changed[self.bags.rows]
        row, at = self.bags.rows[of], self.bags.indices[of]
        x, stays = self.bags.data[of], self.stays[of]
        before = np.maximum(part[at] + self.extra, 0.0)
        less = rounding.difference(part[at], self.weight[row] * x) + self.extra
        after = np.where(stays, np.maximum(less, 0.0), 0.0)
        with np.errstate(divide="ignore"):
            said = x * np.log(np.where(stays, after, 1.0))
        n, whole = len(changed), np.maximum(part + self.extra, 0.0).sum()
        total = whole - np.bincount(row, before - after, n)
        # What is left by the rounding of fractional weights is not a word.
        total[total <= rounding.ROUNDING * whole] = 0.0
        return np.asarray(np.bincount(row, said, n)[changed], np.float64), total[changed]

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
