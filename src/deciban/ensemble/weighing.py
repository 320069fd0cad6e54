"""Phrases weighed: by a logistic regression that the counts hold back, and by the counts.

The counts say how far a phrase w speaks for a class, the log-count ratio
``r_c(w) = log P(w | c) - log P(w | not c)``, and that is how far the regression
may believe it: the coefficient is ``r_c(w) v_c(w)`` with a ridge on v, which is a
Gaussian prior of variance ``r_c(w)**2 / penalty`` (Wang and Manning, 2012). The
counts are those of texts of length one: a long text counts no more than a short one.

The counts speak for themselves as well: ``-log P(w | not c)``, added up over the
phrases. Rows that neither has seen say how far each is believed, and, judged by the
counts, whether phrases are to be as loud as they are rare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels, threads
from deciban.ensemble import pool
from deciban.ensemble.folds import Rows
from deciban.ensemble.margins import FloatArray, all_scores, centred, loss, one_score
from deciban.ensemble.words import Words, unit
from deciban.labels import Labels
from deciban.logistic.solvers import Prior, Problem, rowwise, truncated
from deciban.logistic.solvers.sparse import Sparse
from deciban.naive_bayes.texts import strings
from deciban.sources.batch import Batch
from deciban.text import Tokenizer, Vocabulary
from deciban.text.parts import encode

#: Phrases of fewer texts are left out.
LEAST = 2
#: No more coefficients are learned: of many classes, the longest phrases are left out, then
#: the rarest.
MOST = 6_000_000
#: Longer phrases are no news to the counts, which would hear their words once more.
HEARD = 2
#: What is added to the texts of a class that have a phrase.
SMOOTHING = 1.0
#: A ratio nearer to zero is taken to be this.
FLAT = 0.01
#: The penalties that are tried, from strong to weak until held-out rows lose, on so many folds.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
TRIED = 2
#: The constants of the classes are all but free.
LOOSE = 0.01
#: The coefficients are found to this accuracy; more would not change the answer.
TOLERANCE = 1e-5
MOST_STEPS = 20


@dataclass(frozen=True, eq=False)
class Read:
    """What was learned of a column: phrases, constants of the classes, and how they were found.

    ``penalty`` is infinite where no phrase says anything; ``believed`` is how far
    the regression and the counts are. ``judged`` are the margins of rows held out.
    """

    words: Words
    constants: FloatArray
    penalty: float
    believed: tuple[float, ...]
    judged: FloatArray

    @property
    def note(self) -> str:
        """How the phrases were weighed, in words."""
        if not self.believed:
            return "no phrase is in two texts"
        learned, counted = self.believed
        return (
            f"{len(self.words.phrases):,} phrases, penalty {self.penalty:g}, "
            f"{learned:.2f} of the regression and {counted:.2f} of the counts"
        )


def learn(
    name: str,
    tokenizer: Tokenizer,
    batch: Batch,
    y: NDArray[np.intp],
    weight: FloatArray,
    start: FloatArray,
    splits: Sequence[tuple[Rows, Rows]],
    tell: Callable[[], None],
) -> Read:
    """The phrases of a column weighed: the penalty by some folds, the margins held out by all."""
    phrases, ways = _counted(tokenizer, batch, name, len(start))
    alone = np.tile(start, (len(y), 1))
    if not len(phrases) or not splits:
        return Read(Words.nothing(name, tokenizer, len(start)), start, np.inf, (), alone)
    heard = lengths(tokenizer, phrases.tolist()) <= HEARD
    tried = [(Texts(X, heard, y, weight, start), rarity) for X, rarity in ways]
    texts, rarity = min(tried, key=lambda way: _lost_by_counts(way[0], splits))
    penalty = _penalty(texts, splits[:TRIED])
    tell()
    parts = [*(inside for inside, _ in splits), np.arange(len(y))]
    found = list(threads.run(lambda rows: texts.views(rows, penalty), parts))
    tell()
    said = np.stack([texts.held(splits, Ws) for Ws in zip(*found[:-1], strict=True)])
    believed = pool.strengths(said, alone, y, weight)
    W = np.tensordot(believed, np.stack(found[-1]), 1)
    judged = alone + np.tensordot(believed, said, 1)
    words = Words(name, tokenizer, phrases, np.ascontiguousarray(W[:-1]), rarity)
    return Read(words, start + W[-1], penalty, tuple(believed.tolist()), judged)


def _lost_by_counts(texts: Texts, splits: Sequence[tuple[Rows, Rows]]) -> float:
    """The loss of rows held out, where the counts alone speak."""
    said = texts.held(splits, [texts.complements(inside) for inside, _ in splits])
    return texts.lost(said[None], np.arange(len(said)))


def _penalty(texts: Texts, splits: Sequence[tuple[Rows, Rows]]) -> float:
    """The penalty under which rows held out lose least, the counts being heard as well."""
    problems = [texts.problem(inside) for inside, _ in splits]
    W = [np.zeros_like(problem.prior.centre) for problem in problems]
    rows = np.concatenate([held for _, held in splits])
    counted = texts.held(splits, [texts.complements(inside) for inside, _ in splits])[rows]
    best, least = PENALTIES[0], np.inf
    for penalty in PENALTIES:
        weaker = partial(_continued, penalty)
        W = list(threads.run(weaker, zip(problems, W, strict=True)))
        learned = texts.held(splits, [all_scores(w) for w in W])[rows]
        now = texts.lost(np.stack([learned, counted]), rows)
        if now >= least:
            break
        best, least = penalty, now
    return best


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts as unit rows of phrases, their classes and weights, and margins to start from.

    ``heard`` are the phrases that the counts speak of.
    """

    X: Any
    heard: NDArray[np.bool_]
    y: NDArray[np.intp]
    weight: FloatArray
    start: FloatArray

    def views(self, rows: Rows, penalty: float) -> tuple[FloatArray, FloatArray]:
        """The coefficients of the regression and of the counts, (phrases + 1, classes)."""
        problem = self.problem(rows)
        W = _solved(problem, np.zeros_like(problem.prior.centre), penalty)
        return centred(all_scores(W)), self.complements(rows)

    def held(
        self, splits: Sequence[tuple[Rows, Rows]], coefficients: Sequence[FloatArray]
    ) -> FloatArray:
        """What coefficients say of the rows that each split holds out, (rows, classes)."""
        said = np.zeros((len(self.y), len(self.start)))
        for (_, rows), W in zip(splits, coefficients, strict=True):
            said[rows] = self.X[rows] @ W[:-1] + W[-1]
        return said

    def lost(self, said: FloatArray, rows: Rows) -> float:
        """The loss of some rows of which voices say this, each believed as far as is best."""
        alone = np.tile(self.start, (len(rows), 1))
        y, weight = self.y[rows], self.weight[rows]
        strengths = pool.strengths(said, alone, y, weight)
        return loss(alone + np.tensordot(strengths, said, 1), y, weight)

    def problem(self, rows: Rows) -> Problem:
        """The regression, with a penalty of one."""
        r = ratios(self._counts(rows))
        precision = np.vstack([1.0 / np.maximum(r**2, FLAT**2), np.full((1, r.shape[1]), LOOSE)])
        offset = one_score(np.tile(self.start, (len(rows), 1)))
        prior = Prior(np.zeros_like(precision), precision)
        return Problem(Sparse(self.X[rows]), self.y[rows], prior, self.weight[rows], offset)

    def complements(self, rows: Rows) -> FloatArray:
        """The coefficients of the counts, (phrases + 1, classes)."""
        said = np.zeros((len(self.heard) + 1, len(self.start)))
        said[:-1][self.heard] = complements(self._counts(rows)[self.heard])
        return said

    def _counts(self, rows: Rows) -> FloatArray:
        """How much of the texts of each class each phrase is, (phrases, classes).

        In units of what a phrase is of a text on average.
        """
        shape = len(rows), len(self.start)
        mark = csr_array((self.weight[rows], self.y[rows], np.arange(len(rows) + 1)), shape)
        return np.asarray((self.X[rows].T @ mark).toarray() / self.X.data.mean())


def _solved(problem: Problem, W: FloatArray, penalty: float) -> FloatArray:
    precision = problem.prior.precision.copy()
    precision[:-1] *= penalty
    stated = replace(problem, prior=Prior(problem.prior.centre, precision))
    solver = rowwise.solve if rowwise.pays(stated) else truncated.solve
    return solver(stated, W, TOLERANCE, MOST_STEPS).point.W


def _continued(penalty: float, given: tuple[Problem, FloatArray]) -> FloatArray:
    """The coefficients under a penalty, from those under another."""
    return _solved(*given, penalty)


def ratios(counts: FloatArray) -> FloatArray:
    """Log-count ratios, (phrases, scores): of two classes, the second against the first.

    >>> np.exp(ratios(np.array([[1.0, 0.0], [0.0, 2.0]]))).round(3).ravel()    # 1/4 / 2/3, ...
    array([0.375, 2.25 ])
    """
    mine = counts + SMOOTHING
    rest = counts.sum(axis=1, keepdims=True) - counts + SMOOTHING
    found = np.log(mine / mine.sum(axis=0)) - np.log(rest / rest.sum(axis=0))
    return np.ascontiguousarray(found[:, 1:] if counts.shape[1] == 2 else found)


def complements(counts: FloatArray) -> FloatArray:
    """``-log P(w | not c)``, centred, (phrases, classes), each class as loud as the others.

    Of two classes it is the naive Bayes model. Of more it is better than that
    (Rennie et al., 2003): the texts of all other classes are many, and of even number.

    >>> complements(np.array([[1.0, 0.0], [0.0, 1.0]])).round(3)         # log(2/3 / 1/3) / 2
    array([[ 0.347, -0.347],
           [-0.347,  0.347]])
    """
    rest = counts.sum(axis=1, keepdims=True) - counts + SMOOTHING
    said = -centred(np.log(rest / rest.sum(axis=0)))
    size = np.abs(said).sum(axis=0)
    return np.asarray(said * (size.mean() / np.maximum(size, np.finfo(float).tiny)))


def lengths(tokenizer: Tokenizer, phrases: Sequence[str]) -> NDArray[np.intp]:
    """How many words phrases have; a piece of a word counts as one.

    >>> lengths(Tokenizer(ngrams=(1, 2)), ["so", "so good"]).tolist()
    [1, 2]
    """
    if tokenizer.characters is not None or tokenizer.ngrams[1] == 1:
        return np.ones(len(phrases), dtype=np.intp)
    return np.array([phrase.count(" ") + 1 for phrase in phrases], dtype=np.intp)


def _fewer(
    kept: NDArray[np.intp], texts: NDArray[np.intp], long: NDArray[np.intp], n_classes: int
) -> NDArray[np.intp]:
    """As many phrases as there is room for: without the longest, then without the rarest."""
    room, least = max(1, MOST // n_classes), LEAST
    if len(kept) > room:
        kept = kept[long <= HEARD]
    while np.count_nonzero(texts[kept] >= least) > room:
        least += 1
    return kept[texts[kept] >= least]


def _counted(
    tokenizer: Tokenizer, batch: Batch, name: str, n_classes: int
) -> tuple[Labels, list[tuple[Any, FloatArray]]]:
    """The phrases that are not too rare, in order, and the texts as unit rows of them.

    Twice: phrases as loud as they are rare, and all alike; with how loud each is.
    """
    vocabulary = Vocabulary()
    found = encode(tokenizer, strings(batch, name), vocabulary, binary=True)
    texts = np.bincount(found.codes, minlength=len(vocabulary))
    order = vocabulary.order()
    kept, tokens = order[texts[order] >= LEAST], vocabulary.tokens()
    kept = _fewer(kept, texts, lengths(tokenizer, [tokens[code] for code in kept]), n_classes)
    place = np.full(len(vocabulary), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    codes = place[found.codes]
    known = np.concatenate([[0], np.cumsum(codes >= 0)])
    phrases = labels.objects([tokens[code] for code in kept])
    rarity = np.log(len(found.pointers) / (1.0 + texts[kept])) + 1.0
    pointers, codes = known[found.pointers], codes[codes >= 0]
    return phrases, [(unit(pointers, codes, loud), loud) for loud in (rarity, np.ones(len(kept)))]
