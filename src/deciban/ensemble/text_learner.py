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
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.ensemble import linear, stacking
from deciban.ensemble.logits import FloatArray, centre, mean_log_loss, to_logits, to_scores
from deciban.ensemble.phrase_counts import complements, log_count_ratios
from deciban.ensemble.phrase_rows import MAX_COUNTED_WORDS, PhraseRows, tabulate
from deciban.ensemble.phrases import PhraseModel
from deciban.ensemble.training_table import RowIndices, TrainingTable
from deciban.kernels.sparse import count
from deciban.logistic.solvers import Prior, Problem
from deciban.logistic.solvers.dual_ascent import Ascent, SingleArray
from deciban.logistic.solvers.sparse import Sparse
from deciban.sources.unit_folds import Split
from deciban.text import Tokenizer

#: A log-count ratio nearer to zero is taken to be this.
MIN_RATIO_NATS = 0.01
#: The penalties that are tried, from strong to weak, and the folds that select one.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
SELECTION_FOLDS = 2
#: The constants of the classes are all but free.
CONSTANT_PENALTY = 0.01
#: How far duals may be from the optimum where a penalty is selected, and in the end, as a share of
#: their size; less would not change the probabilities. Of fewer rows each matters more, and
#: passes are cheap: they may be nearer in proportion.
PATH_TOLERANCE, FINAL_TOLERANCE, TOLERANCE_ROWS = 0.03, 0.01, 2_000
MAX_PASSES = 100
#: A mean log loss that is lower by no more than this may be so by the tolerance alone.
MIN_GAIN_NATS = 1e-4


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
    texts, counts = _select_idf([TextRows.of(rows, table) for rows in candidates], splits)
    penalty, selecting = _select_penalty(texts, counts, splits[:SELECTION_FOLDS])
    advance()
    regression, W = _refit(texts, splits, penalty, selecting)
    advance()
    added = np.stack([regression, counts])
    weights = stacking.nonnegative_weights(added, offset, table.y, table.held_weight)
    W = weights[0] * W + weights[1] * texts.complements(np.arange(len(table.y)))
    coef = np.ascontiguousarray(W[:-1])
    return TextLearner(
        PhraseModel(name, tokenizer, phrases, coef, texts.source.idf),
        table.prior_logits + W[-1],
        penalty,
        tuple(weights.tolist()),
        offset + np.tensordot(weights, added, 1),
    )


def _select_idf(
    candidates: Sequence[TextRows], splits: Sequence[Split]
) -> tuple[TextRows, FloatArray]:
    """The weighting of phrases under which held-out rows lose least by the counts alone.

    And what the counts, so weighted, add to the logits of held-out rows, (rows, classes).
    """
    held = [rows for _, rows in splits]
    judged = np.sort(np.concatenate(held))

    def work(part: tuple[TextRows, Split]) -> FloatArray:
        texts, (inside, held) = part
        W = texts.complements(inside)
        return np.asarray(texts.source.X[held] @ W[:-1])

    def held_out_loss(tried: tuple[TextRows, FloatArray]) -> float:
        texts, added = tried
        return texts.stacked_loss(added[None, judged], judged)

    parts = [(texts, split) for texts in candidates for split in splits]
    results, n_rows = iter(threads.run(work, parts)), len(candidates[0].y)
    added = [_scatter(n_rows, held, [next(results) for _ in splits]) for _ in candidates]
    return min(zip(candidates, added, strict=True), key=held_out_loss)


def _select_penalty(
    texts: TextRows, counts: FloatArray, splits: Sequence[Split]
) -> tuple[float, list[Ascent]]:
    """The penalty under which held-out rows lose least, regression and counts together.

    And the regression of each split under it.
    """
    held = [rows for _, rows in splits]
    rows = np.concatenate(held)

    def refit(penalty: float, fits: list[Fit]) -> list[Fit]:
        def work(fit: Fit) -> Fit:
            ascent = fit.ascent.penalised(penalty / fit.penalty)
            ascent.climb(texts.tolerance(PATH_TOLERANCE), MAX_PASSES)
            return Fit(penalty, ascent)

        return list(threads.run(work, fits))

    def held_out_loss(fits: list[Fit]) -> float:
        parts = zip(fits, held, strict=True)
        regression = np.concatenate([to_logits(fit.ascent.added(rows)) for fit, rows in parts])
        return texts.stacked_loss(np.stack([regression, counts[rows]]), rows)

    zero = [Fit(1.0, ascent) for ascent in threads.run(texts.ascent, [rows for rows, _ in splits])]
    selected, fits = linear.select_penalty(
        PENALTIES, refit, held_out_loss, zero, min_gain=MIN_GAIN_NATS
    )
    return selected.penalty, [fit.ascent for fit in fits]


def _refit(
    texts: TextRows, splits: Sequence[Split], penalty: float, selecting: Sequence[Ascent]
) -> tuple[FloatArray, FloatArray]:
    """What the regression adds to the logits of held-out rows, and the coefficients of all rows.

    The folds that selected the penalty go on from there, and all rows together begin
    with the duals that they have in those.
    """
    everything, held = np.arange(len(texts.y)), [rows for _, rows in splits]
    duals = selecting[0].duals.copy()  # before they go on
    duals[held[0]] = selecting[-1].duals[held[0]]

    def finish(ascent: Ascent) -> Ascent:
        ascent.climb(texts.tolerance(FINAL_TOLERANCE), MAX_PASSES)
        return ascent

    def work(k: int) -> FloatArray:
        if k == len(splits):
            return centre(to_logits(finish(texts.ascent(everything, penalty, duals)).W))
        of_fold = k < len(selecting)
        ascent = selecting[k] if of_fold else texts.ascent(splits[k][0], penalty)
        return to_logits(finish(ascent).added(held[k]))

    # All rows first: they take longest.
    W, *parts = threads.run(work, [len(splits), *range(len(splits))])
    return centre(_scatter(len(texts.y), held, parts)), W


def _scatter(n_rows: int, places: Sequence[RowIndices], parts: Sequence[FloatArray]) -> FloatArray:
    """Rows of several parts in their places, (rows, columns); zero where there is none."""
    out = np.zeros((n_rows, parts[0].shape[1]))
    for place, part in zip(places, parts, strict=True):
        out[place] = part
    return out


# ---------------------------------------------------------------------- coefficients


class Fit(NamedTuple):
    """A regression under a penalty."""

    penalty: float
    ascent: Ascent


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

    def stacked_loss(self, added: FloatArray, rows: RowIndices) -> float:
        """The mean log loss of some rows, given what models add, under their best weights."""
        offset = np.tile(self.prior_logits, (len(rows), 1))
        y, weight = self.y[rows], self.weight[rows]
        weights = stacking.nonnegative_weights(added, offset, y, weight)
        return mean_log_loss(offset + np.tensordot(weights, added, 1), y, weight)

    def tolerance(self, of_many: float) -> float:
        """How far duals may be from the optimum, given how far those of many rows may be."""
        return of_many * min(1.0, len(self.y) / TOLERANCE_ROWS)

    def ascent(
        self, rows: RowIndices, penalty: float = 1.0, duals: SingleArray | None = None
    ) -> Ascent:
        """The regression on some rows under a penalty, at zero or at the duals of all rows."""
        return Ascent.of(self.problem(rows, penalty), duals)

    def problem(self, rows: RowIndices, penalty: float = 1.0) -> Problem:
        """The regression on some rows: all others are of no weight."""
        r = log_count_ratios(self._counts(rows))
        precision = np.full((len(r) + 1, r.shape[1]), CONSTANT_PENALTY)
        precision[:-1] = penalty / np.maximum(r**2, MIN_RATIO_NATS**2)
        prior = Prior(np.broadcast_to(0.0, precision.shape), precision)
        return Problem(self._design, self.y, prior, self._weight_of(rows), self._offset)

    def complements(self, rows: RowIndices) -> FloatArray:
        """The coefficients of the counts, (phrases + 1, classes)."""
        counted = np.flatnonzero(self.source.n_words <= MAX_COUNTED_WORDS)
        coef = np.zeros((len(self.source.n_words) + 1, len(self.prior_logits)))
        # Class after class in memory, where sums over few classes are fast.
        coef[counted] = complements(np.take(self._counts(rows).T, counted, axis=1).T)
        return coef

    @cached_property
    def _design(self) -> Sparse:
        return Sparse(self.source.X)

    @cached_property
    def _offset(self) -> FloatArray:
        return to_scores(np.tile(self.prior_logits, (len(self.y), 1)))

    def _counts(self, rows: RowIndices) -> FloatArray:
        """How much of the texts of each class each phrase is, (phrases, classes).

        In units of what a phrase is of a text on average.
        """
        X = self.source.X
        weight, n_classes = self._weight_of(rows), len(self.prior_logits)
        counts = count(X.data, X.indices, X.indptr, self.y, weight, n_classes, X.shape[1])
        return np.asarray(counts.T / X.data.mean())

    def _weight_of(self, rows: RowIndices) -> FloatArray:
        """The weights of some rows; all others have none."""
        weight = np.zeros(len(self.y))
        weight[rows] = self.weight[rows]
        return weight
