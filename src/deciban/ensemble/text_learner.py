"""The base learner of a column of text: phrases weighted by a regression and by counts.

The log-count ratio of a phrase w, ``r_c(w) = log P(w | c) - log P(w | not c)``, bounds
its coefficient in the regression: that is ``r_c(w) v_c(w)`` with a ridge on v, which is a
Gaussian prior of variance ``r_c(w)**2 / penalty`` (Wang and Manning, 2012). The
counts are those of texts of length one: a long text counts no more than a short one.

The counts are a model of their own as well, complement naive Bayes:
``-log P(w | not c)``, added up over the phrases. Held-out rows select how much each of
the two counts, and, by the counts alone, whether phrases are weighted by their idf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels, threads
from deciban.encoding.matrices import text_column
from deciban.ensemble import penalty_path, stacking
from deciban.ensemble.logits import FloatArray, centre, mean_log_loss, to_logits, to_scores
from deciban.ensemble.phrases import PhraseModel, unit_rows
from deciban.ensemble.training_table import RowIndices, TrainingTable
from deciban.ensemble.unit_folds import Split
from deciban.labels import Labels
from deciban.logistic.solvers import Prior, Problem, dual_newton, newton_cg
from deciban.logistic.solvers.sparse import Sparse
from deciban.sources.batch import Batch
from deciban.text import Tokenizer, Vocabulary
from deciban.text.parallel import encode

#: Phrases of fewer texts are left out.
MIN_TEXTS = 2
#: No more coefficients are fitted: of many classes, the longest phrases are left out, then
#: the rarest.
MAX_COEFFICIENTS = 6_000_000
#: Longer phrases are no news to the counts, which would count their words once more.
MAX_COUNTED_WORDS = 2
#: What is added to the texts of a class that have a phrase.
COUNT_SMOOTHING = 1.0
#: A log-count ratio nearer to zero is taken to be this.
MIN_RATIO_NATS = 0.01
#: The penalties that are tried, from strong to weak, and the folds that select one.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
SELECTION_FOLDS = 2
#: The constants of the classes are all but free.
CONSTANT_PENALTY = 0.01
#: Coefficients to this accuracy; more would not change the probabilities.
SOLVER_TOLERANCE = 1e-5
MAX_SOLVER_STEPS = 20


@dataclass(frozen=True, eq=False)
class TextLearner:
    """The phrases of a column and constants of the classes, and how they were found.

    ``penalty`` is infinite where there is no phrase; ``weights`` are those of the
    regression and of the counts. ``held_out`` are the logits of held-out rows.
    """

    phrases: PhraseModel
    constants: FloatArray
    penalty: float
    weights: tuple[float, ...]
    held_out: FloatArray

    @property
    def note(self) -> str:
        """How the phrases are weighted, in words."""
        if not self.weights:
            return "no phrase is in two texts"
        regression, counts = self.weights
        return (
            f"{len(self.phrases.phrases):,} phrases, penalty {self.penalty:g}, "
            f"{regression:.2f} of the regression and {counts:.2f} of the counts"
        )


def fit(
    name: str, tokenizer: Tokenizer, table: TrainingTable, advance: Callable[[], None]
) -> TextLearner:
    """The penalty is selected by some folds, weights by all; coefficients are of all rows."""
    candidates = tabulate(tokenizer, table.part.batch, name, table.n_classes)
    phrases, offset, splits = candidates[0].phrases, table.offset, table.splits
    if not len(phrases) or not splits:
        empty = PhraseModel.empty(name, tokenizer, table.n_classes)
        return TextLearner(empty, table.prior_logits, np.inf, (), offset)
    texts = _select_idf([TextRows.of(phrase_rows, table) for phrase_rows in candidates], splits)
    penalty = _select_penalty(texts, splits[:SELECTION_FOLDS])
    advance()
    subsets = [*(inside for inside, _ in splits), np.arange(len(table.y))]
    *folds, whole = threads.run(lambda rows: texts.coefficients(rows, penalty), subsets)
    advance()
    added = np.stack([texts.held_out(splits, coefs) for coefs in zip(*folds, strict=True)])
    weights = stacking.nonnegative_weights(added, offset, table.y, table.held_weight)
    W = np.tensordot(weights, np.stack(whole), 1)
    coef = np.ascontiguousarray(W[:-1])
    return TextLearner(
        PhraseModel(name, tokenizer, phrases, coef, texts.source.idf),
        table.prior_logits + W[-1],
        penalty,
        tuple(weights.tolist()),
        offset + np.tensordot(weights, added, 1),
    )


def _select_idf(candidates: Sequence[TextRows], splits: Sequence[Split]) -> TextRows:
    """The weighting of phrases under which held-out rows lose least by the counts alone."""

    def held_out_loss(texts: TextRows) -> float:
        added = texts.held_out(splits, [texts.complements(inside) for inside, _ in splits])
        rows = np.sort(np.concatenate([held for _, held in splits]))
        return texts.stacked_loss(added[None, rows], rows)

    return min(candidates, key=held_out_loss)


def _select_penalty(texts: TextRows, splits: Sequence[Split]) -> float:
    """The penalty under which held-out rows lose least, regression and counts together."""
    problems = [texts.problem(inside) for inside, _ in splits]
    rows = np.concatenate([held for _, held in splits])
    counts = texts.held_out(splits, [texts.complements(inside) for inside, _ in splits])[rows]

    def refit(penalty: float, coefs: list[FloatArray]) -> list[FloatArray]:
        def work(fold: tuple[Problem, FloatArray]) -> FloatArray:
            return _solve(*fold, penalty)

        return list(threads.run(work, zip(problems, coefs, strict=True)))

    def held_out_loss(coefs: list[FloatArray]) -> float:
        regression = texts.held_out(splits, [to_logits(W) for W in coefs])[rows]
        return texts.stacked_loss(np.stack([regression, counts]), rows)

    zero = [np.zeros_like(problem.prior.centre) for problem in problems]
    return penalty_path.select(PENALTIES, refit, held_out_loss, zero)[0].penalty


# ---------------------------------------------------------------------- coefficients


@dataclass(frozen=True, eq=False)
class TextRows:
    """Texts as unit rows of phrases, their classes and weights, and the logits to start from."""

    source: PhraseRows
    y: NDArray[np.intp]
    weight: FloatArray
    prior_logits: FloatArray

    @classmethod
    def of(cls, source: PhraseRows, table: TrainingTable) -> TextRows:
        """The texts of a training table."""
        return cls(source, table.y, table.weight, table.prior_logits)

    def coefficients(self, rows: RowIndices, penalty: float) -> tuple[FloatArray, FloatArray]:
        """The coefficients of the regression and of the counts, (phrases + 1, classes)."""
        problem = self.problem(rows)
        W = _solve(problem, np.zeros_like(problem.prior.centre), penalty)
        return centre(to_logits(W)), self.complements(rows)

    def held_out(self, splits: Sequence[Split], coefs: Sequence[FloatArray]) -> FloatArray:
        """What coefficients add to the logits of the rows that each split holds out."""
        added = np.zeros((len(self.y), len(self.prior_logits)))
        for (_, rows), W in zip(splits, coefs, strict=True):
            added[rows] = self.source.X[rows] @ W[:-1] + W[-1]
        return added

    def stacked_loss(self, added: FloatArray, rows: RowIndices) -> float:
        """The mean log loss of some rows, given what models add, under their best weights."""
        offset = np.tile(self.prior_logits, (len(rows), 1))
        y, weight = self.y[rows], self.weight[rows]
        weights = stacking.nonnegative_weights(added, offset, y, weight)
        return mean_log_loss(offset + np.tensordot(weights, added, 1), y, weight)

    def problem(self, rows: RowIndices) -> Problem:
        """The regression, with a penalty of one."""
        r = log_count_ratios(self._counts(rows))
        variance = np.maximum(r**2, MIN_RATIO_NATS**2)
        precision = np.vstack([1.0 / variance, np.full((1, r.shape[1]), CONSTANT_PENALTY)])
        offset = to_scores(np.tile(self.prior_logits, (len(rows), 1)))
        prior = Prior(np.zeros_like(precision), precision)
        return Problem(Sparse(self.source.X[rows]), self.y[rows], prior, self.weight[rows], offset)

    def complements(self, rows: RowIndices) -> FloatArray:
        """The coefficients of the counts, (phrases + 1, classes)."""
        counted = self.source.n_words <= MAX_COUNTED_WORDS
        coef = np.zeros((len(counted) + 1, len(self.prior_logits)))
        coef[:-1][counted] = complements(self._counts(rows)[counted])
        return coef

    def _counts(self, rows: RowIndices) -> FloatArray:
        """How much of the texts of each class each phrase is, (phrases, classes).

        In units of what a phrase is of a text on average.
        """
        X, shape = self.source.X, (len(rows), len(self.prior_logits))
        of_class = csr_array((self.weight[rows], self.y[rows], np.arange(len(rows) + 1)), shape)
        return np.asarray((X[rows].T @ of_class).toarray() / X.data.mean())


def _solve(problem: Problem, start: FloatArray, penalty: float) -> FloatArray:
    """The coefficients of the regression under a penalty."""
    precision = problem.prior.precision.copy()
    precision[:-1] *= penalty
    penalised = replace(problem, prior=Prior(problem.prior.centre, precision))
    solver = dual_newton.solve if dual_newton.applies(penalised) else newton_cg.solve
    return solver(penalised, start, SOLVER_TOLERANCE, MAX_SOLVER_STEPS).point.W


def log_count_ratios(counts: FloatArray) -> FloatArray:
    """``log P(w | c) - log P(w | not c)``, (phrases, scores): of two classes, one score.

    >>> counts = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> np.exp(log_count_ratios(counts)).round(3).ravel()                    # 1/4 / 2/3, ...
    array([0.375, 2.25 ])
    """
    own = counts + COUNT_SMOOTHING
    rest = counts.sum(axis=1, keepdims=True) - counts + COUNT_SMOOTHING
    ratios = np.log(own / own.sum(axis=0)) - np.log(rest / rest.sum(axis=0))
    return np.ascontiguousarray(ratios[:, 1:] if counts.shape[1] == 2 else ratios)


def complements(counts: FloatArray) -> FloatArray:
    """``-log P(w | not c)``, centred, (phrases, classes), of one mean size for all classes.

    Of two classes it is the naive Bayes model. Of more it is better than that
    (Rennie et al., 2003): the texts of all other classes are many, and of even number.

    >>> complements(np.array([[1.0, 0.0], [0.0, 1.0]])).round(3)         # log(2/3 / 1/3) / 2
    array([[ 0.347, -0.347],
           [-0.347,  0.347]])
    """
    rest = counts.sum(axis=1, keepdims=True) - counts + COUNT_SMOOTHING
    weights = -centre(np.log(rest / rest.sum(axis=0)))
    size = np.abs(weights).sum(axis=0)
    return np.asarray(weights * (size.mean() / np.maximum(size, np.finfo(float).tiny)))


# ---------------------------------------------------------------------- texts to rows of phrases


@dataclass(frozen=True, eq=False)
class PhraseRows:
    """Texts as unit rows ``X``, (texts, phrases); each phrase, its words and its idf."""

    phrases: Labels
    n_words: NDArray[np.intp]
    idf: FloatArray
    X: csr_array


def tabulate(
    tokenizer: Tokenizer, batch: Batch, name: str, n_classes: int
) -> tuple[PhraseRows, PhraseRows]:
    """The texts of a column as rows of its phrases, with their idf and without."""
    vocabulary = Vocabulary()
    encoded = encode(tokenizer, text_column(batch, name), vocabulary, binary=True)
    n_texts = np.bincount(encoded.codes, minlength=len(vocabulary))
    order, tokens = vocabulary.order(), vocabulary.tokens()
    order = order[n_texts[order] >= MIN_TEXTS]
    n_words = word_counts(tokenizer, [tokens[code] for code in order])
    some = _affordable(n_texts[order], n_words, n_classes)
    order, n_words = order[some], n_words[some]
    column = np.full(len(vocabulary), -1, dtype=np.int64)
    column[order] = np.arange(len(order))
    codes = column[encoded.codes]
    pointers = np.concatenate([[0], np.cumsum(codes >= 0)])[encoded.pointers]
    phrases, codes = labels.object_array([tokens[code] for code in order]), codes[codes >= 0]
    idf = np.log(len(encoded.pointers) / (1.0 + n_texts[order])) + 1.0
    with_idf, without = (
        PhraseRows(phrases, n_words, each, unit_rows(pointers, codes, each))
        for each in (idf, np.ones(len(order)))
    )
    return with_idf, without


def word_counts(tokenizer: Tokenizer, phrases: Sequence[str]) -> NDArray[np.intp]:
    """How many words phrases have; a piece of a word counts as one.

    >>> word_counts(Tokenizer(ngrams=(1, 2)), ["so", "so good"]).tolist()
    [1, 2]
    """
    if tokenizer.characters is not None or tokenizer.ngrams[1] == 1:
        return np.ones(len(phrases), dtype=np.intp)
    return np.array([phrase.count(" ") + 1 for phrase in phrases], dtype=np.intp)


def _affordable(
    n_texts: NDArray[np.intp], n_words: NDArray[np.intp], n_classes: int
) -> NDArray[np.bool_]:
    """As many phrases as there is room for: without the longest, then without the rarest."""
    room, some = max(1, MAX_COEFFICIENTS // n_classes), np.ones(len(n_texts), dtype=bool)
    if len(n_texts) > room:
        some = n_words <= MAX_COUNTED_WORDS
    least = MIN_TEXTS
    while np.count_nonzero(some) > room:
        least += 1
        some &= n_texts >= least
    return some
