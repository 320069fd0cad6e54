"""Texts: bags of words, in one of several models.

Two sums are kept of every word and class: ``amount``, how often it occurs, and
``documents``, how many texts have it. How they are used is a setting:

===============  ==========================================================
``amount``       ``sum_w n_w log P(w | c)``, the multinomial model of text
``presence``     the multinomial model with every word of a text once
``absence``      ``sum_w log P(w there, or not, | c)`` over the whole vocabulary
===============  ==========================================================

``P(w | c) = (n_{c,w} + lam) / (n_c + V lam)`` with the vocabulary V of all that
was counted. A word outside of it says nothing, whatever the class. With a
``contrast`` t, a class is scored by ``(1 - t) log P(w | c) - t log P(w | not c)``:
t = 1 is the complement model of Rennie et al. (2003), in between is a class
against the rest. What a word says may be multiplied by a power of its idf. The log likelihood of
a text of n words is multiplied by ``scale * n ** -length``: by more than one only where a text of
usual length is, as the complement of many classes, of which a class changes little, may need.

Classes of many texts are smoothed less than those of few, which is in their favour. With a
``uniformity`` u, a text with words adds ``-u log P(c)`` by the frequency of the class: u = 1 is
the uniform prior of the complement model, whatever the prior of the whole table.

``X`` is :class:`~deciban.stats.words.Bags`: rows of amounts over the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from deciban.families.linear_bag import LinearParameters
from deciban.families.multinomial import MULTINOMIAL
from deciban.families.piece import Piece
from deciban.families.protocol import Candidate, CountedColumns, Parameters, Selected
from deciban.families.remaining import Remaining
from deciban.families.removal import Removal, SmoothedCounts, rarity
from deciban.families.settings import Method, Settings, amount, one_of
from deciban.families.soft import SoftBlock, dot, identity
from deciban.families.unit_removal import UnitRemoval
from deciban.kernels.discrete import log_shares
from deciban.stats.amounts import AMOUNTS
from deciban.stats.cells import Cells
from deciban.stats.sparse import SparseSum
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import DenseSum, Sum, Table
from deciban.stats.words import NO_WORDS, WORDS, Bags, Weighting, sum_of

#: The words of a text of usual length.
TYPICAL_WORDS = 100.0
#: A word that a class or its complement never has weighs no more than this share.
MIN_CONTRAST_PSEUDO_COUNT = 1e-10


@dataclass(frozen=True, eq=False)
class WordSettings(Settings):
    """Settings of a text column.

    weighting
        what a word of a text counts for: ``"amount"``, each time it occurs; ``"presence"``, once
        a text; ``"absence"``, once, and a word that is not there counts as well
    contrast
        how far a class is scored by the words of the *other* classes, from 0, the multinomial
        model, to 1, the complement
    length, scale
        the log likelihood of a text of ``n`` words is multiplied by ``scale * n ** -length``
    idf
        what a word says is multiplied by this power of its inverse document frequency
    uniformity
        how far a text takes back what a class gains by being frequent: from 0, not at all, to 1
    """

    weighting: Weighting = field(
        default="amount",
        metadata=one_of(get_args(Weighting), '"amount" is the multinomial model of text'),
    )
    contrast: float = field(
        default=0.0, metadata=amount("0 is the multinomial model, 1 the complement")
    )
    length: float = field(default=0.0, metadata=amount("0 believes every word, 1 the mean of them"))
    scale: float = field(default=1.0, metadata=amount("1 believes a text in full"))
    idf: float = field(default=0.0, metadata=amount("0 believes all words alike, 1 rare ones more"))
    uniformity: float = field(default=0.0, metadata=amount("0 leaves the prior, 1 takes it back"))

    @property
    def pseudo_count(self) -> float:
        """What is added to every count."""
        extra = float(self.pseudo_counts(1)[0])
        return max(extra, MIN_CONTRAST_PSEUDO_COUNT) if self.contrast else extra

    def discount(self, size: FloatArray) -> FloatArray:
        """What the log likelihood of texts of so many words is multiplied by."""
        return length_discount(size, self.scale, self.length)

    def offsets(self, rows: FloatArray) -> FloatArray:
        """What a text adds for each class of so many rows, (..., classes)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log_shares = np.log(rows / rows.sum(axis=-1, keepdims=True))
        return -self.uniformity * np.where(rows > 0, log_shares, 0.0)

    def rarity(self, table: Table) -> FloatArray:
        """What the evidence of every word is multiplied by."""
        return rarity(sum_of(table, "presence").by_cell, float(table.rows.sum()), self.idf)


def length_discount(size: FloatArray, scale: float, length: float) -> FloatArray:
    """``scale * n ** -length`` for texts of n words: at most one, or that of ``TYPICAL_WORDS``."""
    most = max(1.0, scale * TYPICAL_WORDS**-length)
    return np.asarray(np.minimum(scale * np.maximum(size, 1.0) ** -length, most))


@dataclass(frozen=True, eq=False)
class WordParameters:
    """What the scores of words follow from, and how they are used.

    The table of scores has a number for every word and class, most of which never
    met: it is made when a text is scored first, not by training.
    """

    table: Table
    settings: WordSettings

    @property
    def n_columns(self) -> int:
        """How many words there are."""
        return self.table.cells.size

    @cached_property
    def words(self) -> LinearParameters:
        """The scores of every word for every class."""
        return _scores(self.table, self.settings)

    @cached_property
    def offsets(self) -> FloatArray:
        """What a text with words adds for each class, whatever the words."""
        return self.settings.offsets(self.table.rows)

    @cached_property
    def smoothed(self) -> SmoothedCounts:
        """The counts as texts are taken away from them."""
        how = self.settings
        return SmoothedCounts.of(sum_of(self.table, how.weighting), how.pseudo_count)

    def add(self, X: Bags, out: FloatArray) -> None:
        """Add the log likelihood of every text under each class."""
        how = self.settings
        bags = X.weighted(how.weighting)
        if how.length == 0 and how.scale == 1 and not how.uniformity:
            self.words.add(bags, out)
            return
        full, size = np.zeros(out.shape), bags.sum_rows(bags.data)
        self.words.add(bags, full)
        out += full * how.discount(size)[:, None]
        if how.uniformity:
            out[size > 0] += self.offsets

    def contributions(self, X: Bags) -> FloatArray:
        """The log likelihood of every text, which is one column: (rows, 1, classes)."""
        out = np.zeros((X.shape[0], len(self.table.rows)))
        self.add(X, out)
        return out[:, None, :]

    def add_contributions(self, X: Bags, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add the log likelihood of every text to column ``at[0]`` of out."""
        out[:, at[0]] += self.contributions(X)[:, 0]

    def leave_one_out(self, X: Bags, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods, (rows, classes), with each text taken away from its class.

        A word that only this text has is not in the vocabulary any more.
        """
        return self._left_out(self.remove(X, y, weight))

    def leave_one_out_by_column(self, X: Bags, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods of the one column, (rows, 1, classes), each text taken away."""
        return self.leave_one_out(X, y, weight)[:, None, :]

    def leave_out(self, X: Bags, remaining: Remaining) -> Iterator[FloatArray]:
        """Log likelihoods of texts by the words that are left for each."""
        yield self._left_out(self.remove_units(X, remaining))

    def _left_out(self, removal: Removal | UnitRemoval) -> FloatArray:
        how = self.settings
        ((_, full),) = self.contrasts(removal, (how.contrast,))
        out = full * how.discount(removal.size)[:, None]
        if how.uniformity:
            some = removal.size > 0
            out[some] += how.offsets(removal.left_rows(self.table.rows))[some]
        return out

    def remove_units(self, X: Bags, remaining: Remaining) -> UnitRemoval:
        """Texts from which all of their unit are taken away, their words as they count."""
        how = self.settings
        documents = sum_of(self.table, "presence")
        return UnitRemoval.of(
            X.weighted(how.weighting),
            documents,
            remaining,
            how.pseudo_count,
            self.table.rows,
            how.idf,
        )

    def remove(self, X: Bags, y: Codes, weight: FloatArray) -> Removal:
        """Texts that are taken away, their words as they count."""
        how = self.settings
        documents = sum_of(self.table, "presence")
        n_texts = float(self.table.rows.sum())
        return Removal.of(
            X.weighted(how.weighting), documents, y, weight, how.pseudo_count, n_texts, how.idf
        )

    def contrasts(
        self, removal: Removal | UnitRemoval, contrasts: Iterable[float]
    ) -> Iterator[tuple[float, FloatArray]]:
        """The log likelihoods of texts that are taken away under each contrast, undiscounted."""
        contrasts = tuple(contrasts)
        if self.settings.weighting == "absence":
            documents = sum_of(self.table, "absence").dense()
            yield from ((t, removal.log_absence(documents, self.table.rows)) for t in contrasts)
            return
        own, rest = removal.log_shares(self.smoothed, others=max(contrasts) > 0)
        for t in contrasts:
            yield t, (1 - t) * own - t * rest if 0 < t < 1 else -rest if t else own

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """Words have no scale of values."""
        raise TypeError("a text has no curve")


def _scores(table: Table, how: WordSettings) -> LinearParameters:
    extra, t, amount = how.pseudo_count, how.contrast, sum_of(table, how.weighting).dense()
    if how.weighting == "absence":
        return _absence(amount, table.rows, extra)
    scores = _smooth_shares(amount, extra) if t < 1 else np.zeros(amount.shape)
    if t > 0:
        scores = (1 - t) * scores - t * _smooth_shares(amount.sum(axis=0) - amount, extra)
    if how.idf:
        scores = scores * how.rarity(table)
    return LinearParameters(scores.T)


def _smooth_shares(amount: FloatArray, pseudo_count: float) -> FloatArray:
    more = np.maximum(amount + pseudo_count, 0.0)
    return log_shares(more, more.sum(axis=1, keepdims=True), amount.shape[1])


def _absence(documents: FloatArray, rows: FloatArray, pseudo_count: float) -> LinearParameters:
    there = np.maximum(documents + pseudo_count, 0.0)
    absent = np.maximum(rows[:, None] - documents + pseudo_count, 0.0)
    both = there + absent
    return LinearParameters(log_shares(there, both, 2).T, log_shares(absent, both, 2).T)


class WordFamily:
    """The family of texts; each text column is estimated by itself."""

    name = "words"
    shape = "words"
    statistic = WORDS

    options = ()

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """None: counts alone do not tell, as words of a text are not independent."""
        return [[] for _ in columns.names]

    def settings(self, method: Method, selected: Sequence[Selected]) -> WordSettings:
        """The plain multinomial model."""
        return WordSettings(method, selected[0].smoothing)

    def estimate(self, table: Table, settings: Settings) -> WordParameters:
        """The scores of every word for every class, when they are asked for."""
        how = settings if isinstance(settings, WordSettings) else _plain(settings)
        return WordParameters(table, how)

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """A text of n words is worth as many as its discount says; labelled ones, the average."""
        how = settings if isinstance(settings, WordSettings) else _plain(settings)
        return _soften_absence(table, how) if how.weighting == "absence" else _soften(table, how)

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return "words"


WORD_FAMILY = WordFamily()


def _plain(settings: Settings) -> WordSettings:
    return WordSettings(settings.method, settings.smoothing)


# ---------------------------------------------------------------------- soft counts


def count_softly(X: Bags, weight: FloatArray) -> dict[str, Sum]:
    """Occurrences and texts of every word, of rows that belong to every class by so much."""
    return {
        "amount": SparseSum.of(_sum_rows(X, weight)),
        "documents": SparseSum.of(_sum_rows(X.weighted("presence"), weight)),
    }


def _sum_rows(bags: Bags, weight: FloatArray) -> FloatArray:
    """The weighted sum of the rows for every class, (classes, words)."""
    from scipy.sparse import csr_array

    rows = csr_array((bags.data, bags.indices, bags.indptr), shape=bags.shape)
    return np.ascontiguousarray((rows.T @ weight).T)


def _soften(table: Table, how: WordSettings) -> SoftBlock:
    """Words that count, as a multinomial bag of discounted words."""
    amount, worth_of_word = sum_of(table, how.weighting).dense(), how.rarity(table)
    size = amount.sum() / max(table.rows.sum(), np.finfo(float).tiny)
    amount = amount * worth_of_word
    worth = float(how.discount(np.array([size]))[0])
    # The share of words that labelled texts have: smoothing is spread over all, no stronger.
    known = float(np.mean(amount.any(axis=0))) if amount.any() else 1.0
    words = table.cells.values[0] if table.cells.values else NO_WORDS
    bag = Table(AMOUNTS, Cells(words), table.rows, {"amount": DenseSum(worth * amount)})
    smooth = worth * max(how.pseudo_count, 0.0) * known

    def objective(parameters: Parameters) -> float:
        return dot(worth * amount + smooth, cast("LinearParameters", parameters).present.T)

    def count(X: Bags, weight: FloatArray) -> dict[str, Sum]:
        return {"amount": DenseSum(_sum_rows(X, weight))}

    def encode(X: Bags) -> Bags:
        bags = X.weighted(how.weighting)
        discount = how.discount(bags.sum_rows(bags.data))[bags.rows]
        return bags.with_data(bags.data * worth_of_word[bags.indices] * discount)

    return SoftBlock(MULTINOMIAL, bag, Settings("bayes", smooth), objective, count, encode)


def _soften_absence(table: Table, how: WordSettings) -> SoftBlock:
    """Texts whose absent words count as well."""
    documents, extra = sum_of(table, "absence").dense(), max(how.pseudo_count, 0.0)

    def objective(parameters: Parameters) -> float:
        words = cast("WordParameters", parameters).words
        absent = table.rows[:, None] - documents + extra
        return dot(documents + extra, words.present.T) + dot(
            absent, cast("FloatArray", words.absent).T
        )

    smooth = WordSettings("bayes", extra, weighting="absence")
    return SoftBlock(WORD_FAMILY, table, smooth, objective, count_softly, identity)
