"""Texts scored by what is left of the counts when whole groups of texts are taken away.

A word that only the texts of a group have is not in the vocabulary any more: it says nothing,
and smoothing adds less to the totals of all classes.

Words are gone through in runs of whole words, so that what is looked at is never much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families.remaining import Remaining, UnitLeft, left_by_unit
from deciban.families.removal import SmoothedCounts, rarity
from deciban.kernels.discrete import log_shares
from deciban.stats.sparse import SparseSum
from deciban.stats.statistic import FloatArray
from deciban.stats.table import Mask
from deciban.stats.words import Bags

#: Numbers of entries by classes that are looked at together.
MAX_ENTRY_SCORES = 1 << 21


@dataclass(frozen=True, eq=False)
class UnitRemoval:
    """Texts with what is left for each, and which of their words stay in the vocabulary.

    ``size`` is how many words of each text stay, ``pseudo_count`` what smoothing adds to every
    count; ``n_lost`` is how many words of the vocabulary are lost, and ``worth`` what the evidence
    of every entry is multiplied by.
    """

    bags: Bags
    remaining: Remaining
    stays: Mask
    size: FloatArray
    n_lost: FloatArray
    pseudo_count: float
    worth: FloatArray

    @classmethod
    def of(
        cls,
        bags: Bags,
        documents: SparseSum,
        remaining: Remaining,
        pseudo_count: float,
        rows: FloatArray,
        idf: float = 0.0,
    ) -> UnitRemoval:
        """Some texts that are counted; ``documents`` has the texts of each class with each word.

        ``rows`` are all texts of each class, ``idf`` is the power of the rarity of words.
        """
        entries = remaining.take(bags.rows)
        documents_left = np.zeros(len(bags.data))
        for some in runs(bags.indices, documents.n_classes):
            words = bags.indices[some].astype(np.int64)
            left = entries.take(some).left_alike(_amounts(documents, words), words)
            documents_left[some] = left.sum(axis=1)
        stays, worth = documents_left > 0, np.ones(len(bags.data))
        if idf:
            n_texts = remaining.left(rows).sum(axis=1)[bags.rows]
            worth = rarity(documents_left, n_texts, idf)
        lost = remaining.n_lost(bags.rows, bags.indices.astype(np.int64), stays)
        size = bags.sum_rows(bags.data * stays)
        return cls(bags, remaining, stays, size, lost, pseudo_count, worth)

    def left_rows(self, rows: FloatArray) -> FloatArray:
        """The rows of each class that are left for each text, (rows, classes)."""
        return np.maximum(self.remaining.left(rows), 0.0)

    @property
    def n_words(self) -> FloatArray:
        """How many words the vocabulary has for each text, (rows, 1)."""
        return np.asarray(self.bags.n_words - self.n_lost)[:, None]

    @cached_property
    def _entries(self) -> Remaining:
        return self.remaining.take(self.bags.rows)

    def totals_left(self, by_class: FloatArray) -> FloatArray:
        """All words of each class that are left for each text, (rows, classes)."""
        sizes = self.bags.sum_rows(self.bags.data)
        return np.maximum(self.remaining.left(by_class, sizes), 0.0)

    def log_shares(self, counts: SmoothedCounts, *, others: bool) -> tuple[FloatArray, FloatArray]:
        """``sum_w x_w log P(w | c)`` and, if asked for, ``sum_w x_w log P(w | not c)``."""
        amount, shape = counts.amount, (len(self.size), counts.amount.n_classes)
        if self.pseudo_count < 0:
            return self._log_shares_by_unit(amount), np.zeros((0, shape[1]))
        own, rest = np.zeros(shape), np.zeros(shape if others else (0, shape[1]))
        for some in runs(self.bags.indices, amount.n_classes):
            words, x = self.bags.indices[some].astype(np.int64), self.bags.data[some]
            left = self._entries.take(some).left_alike(_amounts(amount, words), words, x)
            stays, row = self.stays[some], self.bags.rows[some]
            left, row = np.maximum(left[stays], 0.0), row[stays]
            x = (x * self.worth[some])[stays, None]
            with np.errstate(divide="ignore"):
                add_rows(own, row, x * np.log(left + self.pseudo_count))
                if others:
                    apart = np.maximum(left.sum(axis=1, keepdims=True) - left, 0.0)
                    add_rows(rest, row, x * np.log(apart + self.pseudo_count))
        totals = self.totals_left(amount.by_class)
        if others:
            rest = self._normalise(rest, totals.sum(axis=1, keepdims=True) - totals)
        return self._normalise(own, totals), rest

    def log_absence(self, documents: FloatArray, rows: FloatArray) -> FloatArray:
        """``sum_w log P(w there, or not, | c)`` over the words that stay, by the texts left."""
        out, left_rows = np.empty((len(self.size), len(documents))), self.remaining.left(rows)
        for mine, _, left in self._left_by_unit(documents):
            stays = left.sum(axis=0) > 0
            there = np.maximum(left + self.pseudo_count, 0.0)
            absent = left_rows[mine[0]][:, None] - left + self.pseudo_count
            absent = np.maximum(absent, 0.0)
            logs = (log_shares(each, there + absent, 2) for each in (there, absent))
            present, absence = (np.where(stays, log, 0.0) for log in logs)
            for row in mine.tolist():
                words, log = self._words(row), absence.copy()
                log[:, words] = present[:, words]
                out[row] = log.sum(axis=1)
        return out

    def _log_shares_by_unit(self, amount: SparseSum) -> FloatArray:
        """Where smoothing takes away from counts, totals are of what is left of each."""
        out = np.zeros((len(self.size), amount.n_classes))
        for mine, _, left in self._left_by_unit(amount.dense()):
            more = np.maximum(left + self.pseudo_count, 0.0)
            stays = left.sum(axis=0) > 0
            log = log_shares(more, more.sum(axis=1, keepdims=True), float(max(stays.sum(), 1)))
            for row in mine.tolist():
                some = slice(self.bags.indptr[row], self.bags.indptr[row + 1])
                words, x = self.bags.indices[some], (self.bags.data * self.worth)[some]
                known = stays[words]
                out[row] = log[:, words[known]] @ x[known]
        return out

    def _left_by_unit(self, amount: FloatArray) -> Iterator[UnitLeft]:
        bags = self.bags
        return left_by_unit(self.remaining, bags.rows, bags.indices, bags.data, amount)

    def _words(self, row: int) -> NDArray[np.int32]:
        return self.bags.indices[self.bags.indptr[row] : self.bags.indptr[row + 1]]

    def _normalise(self, log: FloatArray, left: FloatArray) -> FloatArray:
        """From sums of log counts; where nothing is left, all words are equally likely."""
        size = self.bags.sum_rows(self.bags.data * self.worth * self.stays)[:, None]
        total = left + self.pseudo_count * self.n_words
        alike = -np.log(np.maximum(self.n_words, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.where(total > 0, log - size * np.log(total), size * alike)
        return np.where(size > 0, out, 0.0)


def runs(columns: NDArray[np.integer[Any]], n_classes: int) -> Iterator[NDArray[np.intp]]:
    """The entries of bags in the order of their columns, some whole columns at once."""
    order = np.argsort(columns, kind="stable")
    words = columns[order]
    first = np.flatnonzero(np.diff(words, prepend=-1))
    step, start = max(1, MAX_ENTRY_SCORES // max(1, n_classes)), 0
    while start < len(order):
        after = int(np.searchsorted(first, start + step))
        stop = int(first[after]) if after < len(first) else len(order)
        yield order[start:stop]
        start = stop


def _amounts(sums: SparseSum, words: NDArray[np.int64]) -> FloatArray:
    """The sums of some words, (words, classes)."""
    known, at = np.unique(words, return_inverse=True)
    lengths = sums.starts[known + 1] - sums.starts[known]
    word = np.repeat(np.arange(len(known)), lengths)
    entry = np.arange(len(word)) + np.repeat(
        sums.starts[known] - np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])[:-1],
        lengths,
    )
    out = np.zeros((len(known), sums.n_classes))
    out[word, sums.classes[entry]] = sums.values[entry]
    return out[at]


def add_rows(out: FloatArray, row: NDArray[np.intp], values: FloatArray) -> None:
    """Add the values of entries to their rows."""
    order = np.argsort(row, kind="stable")
    first = np.flatnonzero(np.diff(row[order], prepend=-1))
    if len(first):
        out[row[order][first]] += np.add.reduceat(values[order], first, axis=0)
