"""Sets of classes with a guarantee: conformal prediction from left-out rows.

The *conformity* of a row with a class is ``log P(c | x)``, which is that of the score known
as least ambiguous (LAC: ``1 - P(c | x)``, Sadinle, Lei and Wasserman 2019): no score
gives smaller sets in the mean. Training rows, each left out, have the conformity with their
true class; a class is in the set of a new row unless its conformity is among the
lowest ``1 - coverage`` of these. The likeliest class is always in it, so that no set is empty.

If a new row is one of the same kind (exchangeable with those that were scored), the rank of its
score is as likely to be the first as any other: of n scores and its own,

``p = (1 + number of scores that are not greater) / (1 + n)``

is below any level ``a`` with a probability of at most ``a``, whatever the scores are. Ties,
also those that rounding alone tells apart, count for the new row. A row of weight k is k rows; a
row of a sample stands for all that the sample stands for, but n counts only those that were scored.

Where the log posteriors of left-out rows come from is a matter of the model: exact
leave-one-out, folds, or rows that were held out. See docs/trust.md for what is guaranteed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import checks, labels
from deciban.errors import InputError, ParameterError
from deciban.labels import Labels
from deciban.models.protocol import HasLeftOutScores, Model

FloatArray = NDArray[np.float64]

#: Scores that differ by no more than this, of the size of the score, are equal but for rounding.
SCORE_ROUNDING = 1e-12
#: No more scores than this are kept of a group of rows: levels are then known to 0.001.
MAX_SCORES = 1_000


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores in rising order, the weight of rows that each stands for, and the rows scored.

    They add up: those of two models are the scores of both. No more than ``MAX_SCORES`` are kept:
    neighbours are then merged to the *least* of them, by which p can only grow.

    >>> ranked = RankedScores.of(np.array([-3.0, -1.0, -1.0, -2.0]), np.ones(4))
    >>> ranked.p_values(np.array([-4.0, -2.0, 0.0]))
    array([0.2, 0.6, 1. ])
    """

    score: FloatArray
    weight: FloatArray
    rows: float

    @classmethod
    def empty(cls) -> RankedScores:
        """Of no rows: no row is out of the common."""
        return cls(np.empty(0), np.empty(0), 0.0)

    @classmethod
    def of(
        cls, score: FloatArray, weight: FloatArray, stride: FloatArray | float = 1.0
    ) -> RankedScores:
        """The scores of rows of these weights, each of which stands for ``stride`` rows."""
        there = weight > 0
        return cls(*_merge(score[there], (stride * weight)[there]), float(weight[there].sum()))

    @cached_property
    def _cumulated(self) -> FloatArray:
        """The share of weight below each score, and 1 at the end."""
        total = np.concatenate([np.zeros(1), np.cumsum(self.weight)])
        return np.asarray(total / total[-1]) if len(self.score) else np.ones(1)

    def p_values(self, score: FloatArray) -> FloatArray:
        """How likely a score as low as each of these is, in a row like those that were scored."""
        equal = score + SCORE_ROUNDING * np.maximum(np.abs(score), 1.0)
        share = self._cumulated[np.searchsorted(self.score, equal, side="right")]
        return np.asarray((1.0 + self.rows * share) / (1.0 + self.rows))

    def __add__(self, other: RankedScores) -> RankedScores:
        if not len(other.score):
            return self
        score = np.concatenate([self.score, other.score])
        weight = np.concatenate([self.weight, other.weight])
        return RankedScores(*_merge(score, weight), self.rows + other.rows)

    def __mul__(self, factor: float) -> RankedScores:
        if factor <= 0:
            return RankedScores.empty()
        return RankedScores(self.score, self.weight * factor, self.rows * factor)


def pool(groups: tuple[RankedScores, ...]) -> RankedScores:
    """The scores of all groups together, none of them merged."""
    score = np.concatenate([np.empty(0), *(group.score for group in groups)])
    weight = np.concatenate([np.empty(0), *(group.weight for group in groups)])
    order = np.argsort(score, kind="stable")
    return RankedScores(score[order], weight[order], sum(group.rows for group in groups))


def _merge(score: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Different scores in rising order and their weights; of too many, neighbours together."""
    order = np.lexsort((weight, score))  # sums of equal scores do not depend on the order of rows
    score, weight = score[order], weight[order]
    new = np.flatnonzero(score[1:] != score[:-1]) + 1
    starts = np.concatenate([np.zeros(1, dtype=np.intp), new])[: len(score)]
    values, sums = score[starts], np.add.reduceat(weight, starts) if len(score) else weight
    if len(values) <= MAX_SCORES:
        return values, sums
    # Groups of about the same weight: each score falls into that of the weight below it.
    below = np.cumsum(sums) - sums
    group = np.minimum(below * (MAX_SCORES / sums.sum()), MAX_SCORES - 1).astype(np.intp)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    return values[first], np.add.reduceat(sums, first)


Sets = NDArray[np.bool_]

#: Log posteriors below this are taken to be it: the least that a float can hold.
MIN_LOG_POSTERIOR = -744.0
#: A p-value that exceeds the level by no more than this is equal to it: 1 - 0.9 is less than 0.1.
LEVEL_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ConformityScores:
    """The conformity of left-out rows with their true class, by class.

    >>> log_posterior = np.log([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    >>> y = np.array([0, 0, 1, 1])
    >>> scores = ConformityScores.of(np.array(["a", "b"]), log_posterior, y, np.ones(4))
    >>> scores.sets(np.log([[0.75, 0.25], [0.5, 0.5]]), coverage=0.7)
    array([[ True, False],
           [ True,  True]])
    """

    classes: Labels
    by_class: tuple[RankedScores, ...]

    @classmethod
    def of(
        cls,
        classes: Labels,
        log_posterior: FloatArray,
        y: NDArray[np.intp],
        weight: FloatArray,
        stride: FloatArray | float = 1.0,
    ) -> ConformityScores:
        """The scores of rows that were left out, from their log posteriors, (rows, classes)."""
        own = conformity(log_posterior[np.arange(len(y)), y])
        arrays = own, weight, np.broadcast_to(stride, len(y))
        groups = _rows_of_classes(y, len(classes))
        return cls(classes, tuple(RankedScores.of(*(a[rows] for a in arrays)) for rows in groups))

    @cached_property
    def _pooled(self) -> RankedScores:
        return pool(self.by_class)

    @property
    def rows(self) -> float:
        """How many rows were scored."""
        return sum(group.rows for group in self.by_class)

    def p_values(self, log_posterior: FloatArray, per_class: bool = False) -> FloatArray:
        """How likely each class conforms as little as here if it is the true one."""
        scores = conformity(log_posterior)
        if not per_class:
            return self._pooled.p_values(scores)
        columns = zip(self.by_class, scores.T, strict=True)
        return np.column_stack([group.p_values(column) for group, column in columns])

    def sets(self, log_posterior: FloatArray, coverage: float, per_class: bool = False) -> Sets:
        """Which classes cannot be excluded, (rows, classes)."""
        level = 1.0 - check_coverage(coverage)
        out = self.p_values(log_posterior, per_class) > level + LEVEL_ROUNDING
        out[np.arange(len(out)), log_posterior.argmax(axis=1)] = True
        return np.asarray(out)

    def for_classes(self, classes: Labels) -> ConformityScores:
        """The scores in the order of other classes; those of a class that is gone go with it."""
        if labels.same(self.classes, classes):
            return self
        own = dict(zip(self.classes.tolist(), self.by_class, strict=True))
        groups = (own.get(label, RankedScores.empty()) for label in classes.tolist())
        return ConformityScores(classes, tuple(groups))

    def __add__(self, other: ConformityScores) -> ConformityScores:
        classes = labels.union(self.classes, other.classes)
        pairs = zip(
            self.for_classes(classes).by_class, other.for_classes(classes).by_class, strict=True
        )
        return ConformityScores(classes, tuple(a + b for a, b in pairs))

    def __mul__(self, factor: float) -> ConformityScores:
        return ConformityScores(self.classes, tuple(group * factor for group in self.by_class))


def conformity_of(model: Model) -> ConformityScores:
    """The conformity of rows that were left out of a model, which must have some."""
    if not isinstance(model, HasLeftOutScores):
        raise InputError(
            f"a {model.kind} keeps no scores of left-out rows, which sets are made from.",
            hint="the models of this package do",
        )
    if model.left_out is None or not model.left_out.conformity.rows:
        raise InputError(
            f"this {model.kind} has no scores of left-out rows, which sets are made from.",
            hint="fit it again with calibrate=True, where it has that, or with fewer columns, or "
            "give it rows that it was not fitted to: calibrate_sets(X, y)",
        )
    return model.left_out.conformity


def conformity(log_posterior: FloatArray) -> FloatArray:
    """Log posteriors as they are compared: none is less than the least that a float can hold."""
    return np.maximum(log_posterior, MIN_LOG_POSTERIOR)


def check_coverage(coverage: float) -> float:
    """The share of rows whose set is to hold their class, checked."""
    if checks.is_number(coverage) and 0 < coverage < 1:
        return float(coverage)
    raise ParameterError(
        f"coverage must be a number between 0 and 1, got {coverage!r}.",
        hint="0.9 is usual: nine sets of ten hold the true class",
    )


def _rows_of_classes(y: NDArray[np.intp], n_classes: int) -> list[NDArray[np.intp]]:
    order = np.argsort(y, kind="stable")
    ends = np.cumsum(np.bincount(y, minlength=n_classes))
    return np.split(order, ends[:-1])
