"""Texts: bags of words, read in one of several ways.

Two sums are kept of every word and class: ``amount``, how often it occurs, and
``documents``, how many texts have it. How they are used is a setting:

===============  ==========================================================
``amount``       ``sum_w n_w log P(w | c)``, the multinomial model of text
``presence``     the same with every word of a text once
``absence``      ``sum_w log P(w there, or not, | c)`` over the whole vocabulary
===============  ==========================================================

``P(w | c) = (n_{c,w} + lam) / (n_c + V lam)`` with the vocabulary V of all that
was counted. A word outside of it says nothing, whatever the class. With a
``contrast`` t, a class is scored by ``(1 - t) log P(w | c) - t log P(w | not c)``:
t = 1 is the complement model of Rennie et al. (2003), in between is a class
against the rest. What a text of n words says is multiplied by ``scale * n ** -length``,
but never by more than one.

``X`` is :class:`Bags`: rows of amounts over the words, in compressed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families import bag
from deciban.families.bag import Linear, check
from deciban.families.discrete import FloatArray, log_shares, pseudo_count
from deciban.families.removal import Removal, Smoothed
from deciban.families.settings import Settings
from deciban.kernels import sparse as kernel
from deciban.stats.cells import Cells
from deciban.stats.rounding import ROUNDING
from deciban.stats.sparse import SparseSum, both, full

__all__ = [
    "Bags",
    "add",
    "check",
    "count",
    "estimate",
    "explain",
    "impossible",
    "left_out",
    "same",
    "subtract",
]

#: The sums that are kept, and what a word of a text counts for in each.
SUMS = {"amount": "amount", "documents": "presence"}
#: A word that a class or its complement never has weighs no more than this share.
LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class Bags:
    """Rows of words: entry i is ``data[i]`` times word ``indices[i]``; row r's start at indptr[r].

    >>> bags = Bags(np.array([1.0, 4.0]), np.array([0, 1], "i4"), np.array([0, 2], "i4"), 2)
    >>> bags.shape, bags.sums(bags.data), bags.read("presence").data
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

    def read(self, weighting: str) -> Bags:
        """Every word as it counts."""
        return self if weighting == "amount" else self.holding(np.ones(len(self.data)))

    def holding(self, data: FloatArray) -> Bags:
        """The same words with other numbers."""
        return Bags(data, self.indices, self.indptr, self.n_words)

    def sums(self, values: NDArray[Any]) -> FloatArray:
        """The sum of some values of the entries, row by row."""
        return np.bincount(self.rows, values, len(self.indptr) - 1).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Params:
    """What the scores of words follow from, and how they are read.

    The table of scores has a number for every word and class, most of which never
    met: it is made when a text is scored first, not by training.
    """

    sums: Mapping[str, Any]
    rows: FloatArray
    settings: Settings

    @property
    def n_columns(self) -> int:
        """How many words there are."""
        return int(self.sums["amount"].shape[1])

    @cached_property
    def words(self) -> Linear:
        """The scores of every word for every class."""
        return _scores(summed(self.sums, self.settings), self.rows, self.settings)

    @cached_property
    def smoothed(self) -> Smoothed:
        """The counts as texts are taken away from them."""
        return Smoothed.of(self.sums[key(self.settings)], added(self.settings))


def count(
    X: Bags, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Any]:
    """The sums of every word and class."""
    return {
        name: SparseSum.of(
            kernel.count(
                X.read(weighting).data, X.indices, X.indptr, y, weight, n_classes, X.n_words
            )
        )
        for name, weighting in SUMS.items()
    }


def subtract(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Count by count."""
    return {name: table.less(part[name]) for name, table in whole.items()}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether all counts are equal."""
    return all(table.same(b[name]) for name, table in a.items())


def impossible(
    left: dict[str, Any], whole: dict[str, Any], rows: FloatArray, cells: Cells
) -> NDArray[np.bool_]:
    """Less of a word than nothing or than texts that have it, or in more texts than there are."""
    keys, amount, documents = both(left["amount"], left["documents"])
    n_classes, n_cells = left["amount"].shape
    of = keys % max(n_classes, 1)
    bad = (amount < 0) | (documents < 0) | ((amount > 0) != (documents > 0))
    bad |= documents > (1 + ROUNDING) * rows[of]
    out = np.zeros((n_classes, n_cells), dtype=bool)
    out[of[bad], (keys // max(n_classes, 1))[bad]] = True
    return out


# ---------------------------------------------------------------------- estimating


def key(settings: Settings) -> str:
    """The sum that a weighting is estimated from."""
    return "amount" if settings.weighting == "amount" else "documents"


def summed(sums: Mapping[str, Any], settings: Settings) -> FloatArray:
    """That sum, in full."""
    return full(sums[key(settings)])


def added(settings: Settings) -> float:
    """What is added to every count."""
    extra = float(pseudo_count(settings.method, float(settings.per_column(1)[0])))
    return max(extra, LEAST) if settings.contrast else extra


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Params:
    """The scores of every word for every class, when they are asked for."""
    return Params(sums, rows, settings)


def _scores(amount: FloatArray, rows: FloatArray, settings: Settings) -> Linear:
    extra, t = added(settings), settings.contrast
    if settings.weighting == "absence":
        return _absence(amount, rows, extra)
    scores = _shares(amount, extra) if t < 1 else np.zeros(amount.shape)
    if t > 0:
        scores = (1 - t) * scores - t * _shares(amount.sum(axis=0) - amount, extra)
    return Linear(scores.T)


def _shares(amount: FloatArray, extra: float) -> FloatArray:
    more = np.maximum(amount + extra, 0.0)
    return log_shares(more, more.sum(axis=1, keepdims=True), amount.shape[1])


def _absence(documents: FloatArray, rows: FloatArray, extra: float) -> Linear:
    there = np.maximum(documents + extra, 0.0)
    absent = np.maximum(rows[:, None] - documents + extra, 0.0)
    return Linear(log_shares(there, there + absent, 2).T, log_shares(absent, there + absent, 2).T)


# ---------------------------------------------------------------------- scoring


def add(params: Params, X: Bags, out: FloatArray) -> None:
    """Add what every text says for each class."""
    bags, how = X.read(params.settings.weighting), params.settings
    if how.length == 0 and how.scale == 1:
        bag.add(params.words, bags, out)
        return
    said = np.zeros_like(out)
    bag.add(params.words, bags, said)
    out += said * believed(bags.sums(bags.data), how.scale, how.length)[:, None]


def believed(size: FloatArray, scale: float, length: float) -> FloatArray:
    """How far texts of so many words are believed."""
    return np.minimum(scale * np.maximum(size, 1.0) ** -length, 1.0)


def explain(params: Params, X: Bags) -> FloatArray:
    """The text as a whole is one column: (rows, 1, classes)."""
    out = np.zeros((X.shape[0], len(params.rows)))
    add(params, X, out)
    return out[:, None, :]


def add_each(params: Params, X: Bags, at: NDArray[np.intp], out: FloatArray) -> None:
    """Add what every text says to column ``at[0]`` of out, (rows, columns, classes)."""
    out[:, at[0]] += explain(params, X)[:, 0]


def left_out(
    params: Params,
    sums: dict[str, Any],
    cells: Cells,
    settings: Settings,
    X: Bags,
    y: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """Log-likelihoods, (rows, classes), with each text taken away from its class.

    A word that only this text has is not in the vocabulary any more.
    """
    gone = removal(params, X, y, weight)
    ((_, said),) = contrasted(params, gone, (settings.contrast,))
    return said * believed(gone.size, settings.scale, settings.length)[:, None]


def removal(params: Params, X: Bags, y: NDArray[np.intp], weight: FloatArray) -> Removal:
    """Texts that are taken away, their words as they count."""
    bags = X.read(params.settings.weighting)
    return Removal.of(bags, params.sums["documents"], y, weight, added(params.settings))


def contrasted(
    params: Params, gone: Removal, contrasts: Iterable[float]
) -> Iterator[tuple[float, FloatArray]]:
    """What texts that are taken away say in full, under each contrast."""
    contrasts = tuple(contrasts)
    if params.settings.weighting == "absence":
        documents = summed(params.sums, params.settings)
        yield from ((t, gone.absence(documents, params.rows)) for t in contrasts)
        return
    own, rest = gone.shares(params.smoothed, others=max(contrasts) > 0)
    for t in contrasts:
        yield t, (1 - t) * own - t * rest if 0 < t < 1 else -rest if t else own
