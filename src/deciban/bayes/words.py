"""Texts: short phrases and pieces of words, present or not, weighed by a logistic regression.

A column is read twice: by phrases of up to three words, and, unless the texts are
very long, by the pieces of its words, which see that "helped" is akin to "helpful".
Both are read alike, and what follows says "phrase" of either.

A phrase w that a text has counts once. The counts say how far it speaks for a
class, the log-count ratio ``r_c(w) = log P(w | c) - log P(w | not c)``, and that
is how far the regression may believe it: the coefficient is ``r_c(w) v_c(w)``
with a ridge on v, which is a Gaussian prior of variance ``r_c(w)**2 / penalty``
(Wang and Manning, 2012). A phrase is as loud as it is rare, by its inverse
document frequency, and a text of known phrases is scaled to length one, so that
long texts do not shout. It is a sum over phrases all the same.

The counts speak for themselves as well: ``-log P(w | not c)``, added up over the
phrases. Rows that neither has seen say how far each is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels
from deciban.bayes import pool
from deciban.bayes.folds import Rows
from deciban.bayes.margins import FloatArray, all_scores, centred, loss, one_score
from deciban.engines import threads
from deciban.labels import Labels
from deciban.logistic import Prior, Problem, solve
from deciban.logistic.sparse import Sparse
from deciban.mixed.texts import strings
from deciban.source.columns import Batch
from deciban.text import Tokenizer, Vocabulary, packed
from deciban.text.parts import encode
from deciban.text.spans import Span

#: A phrase is of no more words than this; signs such as "!" are words.
LONGEST = 3
#: A piece of a word is of so many characters.
PIECES = (3, 5)
#: Pieces are read of texts that have no more bytes than this together.
MOST_BYTES = 4_000_000
#: Phrases of fewer texts are left out.
LEAST = 2
#: No more coefficients are learned: of many classes, the rarest phrases are left out.
MOST = 4_000_000
#: What is added to the texts of a class that have a phrase.
SMOOTHING = 1.0
#: A ratio nearer to zero is taken to be this.
FLAT = 0.01
#: The penalties that are tried, from strong to weak until held-out rows lose, on so many folds.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
TRIED = 2
#: The constants of the classes are all but free.
LOOSE = 0.01
#: The coefficients are found to this accuracy; more would not change the answer.
TOLERANCE = 1e-4
MOST_STEPS = 10

PHRASES = Tokenizer(ngrams=(1, LONGEST), one_letter=True, signs=True)
IN_PIECES = Tokenizer(characters=PIECES, within=True)


def readings(
    batch: Batch, names: Sequence[str], stated: Tokenizer | None
) -> list[tuple[str, Tokenizer]]:
    """How columns are read: as it is stated, else by phrases and by pieces of words."""
    if stated is not None:
        return [(name, stated) for name in names]
    out = []
    for name in names:
        out.append((name, PHRASES))
        offsets = strings(batch, name).offsets
        if offsets[-1] - offsets[0] <= MOST_BYTES:
            out.append((name, IN_PIECES))
    return out


@dataclass(frozen=True, eq=False)
class Words:
    """The known phrases of a column, and what each says for every class, (phrases, classes)."""

    name: str
    tokenizer: Tokenizer
    phrases: Labels
    weights: FloatArray
    rarity: FloatArray

    @classmethod
    def nothing(cls, name: str, tokenizer: Tokenizer, n_classes: int = 1) -> Words:
        """No phrase at all."""
        return cls(name, tokenizer, labels.objects(()), np.zeros((0, n_classes)), np.empty(0))

    @property
    def title(self) -> str:
        """The column, and that its words are read in pieces if they are."""
        return self.name if self.tokenizer.characters is None else f"{self.name}, in pieces"

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The codes of the phrases."""
        return Vocabulary(self.phrases.tolist())

    def scaled(self, factor: float) -> Words:
        """The same phrases, saying more or less."""
        return Words(self.name, self.tokenizer, self.phrases, self.weights * factor, self.rarity)

    def margins(self, batch: Batch) -> FloatArray:
        """What the texts say, (rows, classes); unknown words say nothing."""
        texts = strings(batch, self.name)
        found = self.tokenizer.encode(texts, self.vocabulary, grow=False, binary=True)
        X = _unit(found.pointers, found.codes, self.rarity)
        return np.asarray(X @ self.weights)

    def spoken(self, text: str) -> list[tuple[str, int, int, FloatArray]]:
        """The words of a text, where they are, and what each says for every class.

        What a phrase says is shared among the places where it stands, and there
        among its words. Words that say nothing are left out.
        """
        rule = self.tokenizer
        words = (rule if rule.characters is None else PHRASES).spans(text)
        known = rule.encode(packed([text]), self.vocabulary, grow=False, binary=True)
        codes = {self.phrases[code]: code for code in known.codes}
        places: dict[str, list[Sequence[int]]] = {phrase: [] for phrase in codes}
        for phrase, place in phrases(words, rule, text):
            if phrase in places and place:
                places[phrase].append(place)
        length = np.sqrt(np.sum(self.rarity[known.codes] ** 2))
        said: dict[int, FloatArray] = {}
        for phrase, found in places.items():
            code = codes[phrase]
            loud = self.weights[code] * (self.rarity[code] / (length * max(1, len(found))))
            for place in found:
                for at in place:
                    said[at] = said.get(at, 0.0) + loud / len(place)
        return [(text[slice(*words[at][:2])], *words[at][:2], said[at]) for at in sorted(said)]


def phrases(
    words: Sequence[Span], rule: Tokenizer, text: str
) -> Iterator[tuple[str, Sequence[int]]]:
    """What a rule finds in a text, with the words that it is made of or lies in.

    >>> text = "oh no"
    >>> words = Tokenizer().spans(text)
    >>> list(phrases(words, Tokenizer(ngrams=(2, 2)), text))
    [('oh no', range(0, 2))]
    >>> list(phrases(words, Tokenizer(characters=(4, 4), within=True), text))
    [(' oh ', [0]), (' no ', [1])]
    """
    if rule.characters is not None:
        for start, stop, piece in rule.spans(text):
            yield piece, [at for at, (a, b, _) in enumerate(words) if a < stop and start < b]
        return
    fewest, most = rule.ngrams
    for size in range(fewest, most + 1):
        for at in range(len(words) - size + 1):
            yield " ".join(token for _, _, token in words[at : at + size]), range(at, at + size)


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
    phrases, rarity, X = _counted(tokenizer, batch, name, len(start))
    alone = np.tile(start, (len(y), 1))
    if not X.shape[1] or not splits:
        return Read(Words.nothing(name, tokenizer, len(start)), start, np.inf, (), alone)
    texts = Texts(X, y, weight, start)
    penalty = _penalty(texts, splits[:TRIED])
    tell()
    parts = [*(inside for inside, _ in splits), np.arange(len(y))]
    found = list(threads.run(lambda rows: texts.views(rows, penalty), parts))
    tell()
    said = np.zeros((2, len(y), len(start)))
    for (_, held), views in zip(splits, found, strict=False):
        said[:, held] = [texts.said(held, W) for W in views]
    believed = pool.strengths(said, alone, y, weight)
    W = np.tensordot(believed, np.stack(found[-1]), 1)
    judged = alone + np.tensordot(believed, said, 1)
    words = Words(name, tokenizer, phrases, np.ascontiguousarray(W[:-1]), rarity)
    return Read(words, start + W[-1], penalty, tuple(believed.tolist()), judged)


def _penalty(texts: Texts, splits: Sequence[tuple[Rows, Rows]]) -> float:
    """The penalty under which rows held out lose least."""
    problems = [texts.problem(inside) for inside, _ in splits]
    W = [np.zeros_like(problem.prior.centre) for problem in problems]
    best, least = PENALTIES[0], np.inf
    for penalty in PENALTIES:
        weaker = partial(_continued, penalty)
        W = list(threads.run(weaker, zip(problems, W, strict=True)))
        now = sum(texts.lost(held, w) for (_, held), w in zip(splits, W, strict=True))
        if now >= least:
            break
        best, least = penalty, now
    return best


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts as unit rows of phrases, their classes and weights, and margins to start from."""

    X: Any
    y: NDArray[np.intp]
    weight: FloatArray
    start: FloatArray

    def views(self, rows: Rows, penalty: float) -> tuple[FloatArray, FloatArray]:
        """The coefficients of the regression and of the counts, (phrases + 1, classes)."""
        problem = self.problem(rows)
        W = _solved(problem, np.zeros_like(problem.prior.centre), penalty)
        said = complements(self._counts(rows))
        return centred(all_scores(W)), np.vstack([said, np.zeros((1, said.shape[1]))])

    def said(self, rows: Rows, W: FloatArray) -> FloatArray:
        """What coefficients say of some rows, (rows, classes)."""
        return np.asarray(self.X[rows] @ W[:-1] + W[-1])

    def lost(self, rows: Rows, W: FloatArray) -> float:
        """The loss of some rows under the coefficients of a regression."""
        margins = self.start + self.said(rows, all_scores(W))
        return loss(margins, self.y[rows], self.weight[rows])

    def problem(self, rows: Rows) -> Problem:
        """The regression, with a penalty of one."""
        r = ratios(self._counts(rows))
        precision = np.vstack([1.0 / np.maximum(r**2, FLAT**2), np.full((1, r.shape[1]), LOOSE)])
        offset = one_score(np.tile(self.start, (len(rows), 1)))
        prior = Prior(np.zeros_like(precision), precision)
        return Problem(Sparse(self.X[rows]), self.y[rows], prior, self.weight[rows], offset)

    def _counts(self, rows: Rows) -> FloatArray:
        """The weight of the texts of each class that have each phrase, (phrases, classes)."""
        X, shape = self.X[rows], (len(rows), len(self.start))
        mark = csr_array((self.weight[rows], self.y[rows], np.arange(len(rows) + 1)), shape)
        present = csr_array((np.ones(len(X.data)), X.indices, X.indptr), X.shape)
        return np.asarray((present.T @ mark).toarray())


def _solved(problem: Problem, W: FloatArray, penalty: float) -> FloatArray:
    precision = problem.prior.precision.copy()
    precision[:-1] *= penalty
    stated = replace(problem, prior=Prior(problem.prior.centre, precision))
    return solve(stated, W, "newton-cg", TOLERANCE, MOST_STEPS).point.W


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


def _counted(
    tokenizer: Tokenizer, batch: Batch, name: str, n_classes: int
) -> tuple[Labels, FloatArray, Any]:
    """The phrases that are not too rare, in order, and the texts as unit rows of them."""
    vocabulary = Vocabulary()
    found = encode(tokenizer, strings(batch, name), vocabulary, binary=True)
    texts = np.bincount(found.codes, minlength=len(vocabulary))
    least, room = LEAST, max(1, MOST // n_classes)
    while np.count_nonzero(texts >= least) > room:
        least += 1
    order = vocabulary.order()
    kept = order[texts[order] >= least]
    place = np.full(len(vocabulary), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    codes = place[found.codes]
    known = np.concatenate([[0], np.cumsum(codes >= 0)])
    tokens = vocabulary.tokens()
    phrases = labels.objects([tokens[code] for code in kept])
    rarity = np.log(len(found.pointers) / (1.0 + texts[kept])) + 1.0
    return phrases, rarity, _unit(known[found.pointers], codes[codes >= 0], rarity)


def _unit(pointers: NDArray[Any], codes: NDArray[Any], rarity: FloatArray) -> Any:
    """Rows of how rare their phrases are, of length one."""
    sizes, data, width = np.diff(pointers), rarity[codes], len(rarity)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    data = data / np.sqrt(np.bincount(rows, data**2, len(sizes)))[rows]
    return csr_array((data, codes.astype(np.int32), pointers.astype(np.int32)), (len(sizes), width))
