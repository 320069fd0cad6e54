"""Scores of left-out rows in order, among which the score of a new row has a rank.

If a new row is one of the same kind (exchangeable with those that were scored), its rank
is as likely to be the first as any other: of n scores and its own,

``p = (1 + number of scores that are not greater) / (1 + n)``

is below any level ``a`` with a probability of at most ``a``, whatever the scores are. Ties
count for the new row. A row of weight k is k rows; a row of a sample stands for all
that the sample stands for, but n counts only those that were scored.

Scores add up: those of two models are the scores of both. No more than ``MAX_SCORES`` are
kept: neighbours are then merged to the *least* of them, by which p can only grow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: No more scores than this are kept of a group of rows: levels are then known to 0.001.
MAX_SCORES = 1_000


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores in rising order, the weight of rows that each stands for, and the rows scored.

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
    def of(cls, score: FloatArray, weight: FloatArray, stride: float = 1.0) -> RankedScores:
        """The scores of rows of these weights, each of which stands for ``stride`` rows."""
        there = weight > 0
        return cls(*_merge(score[there], stride * weight[there]), float(weight[there].sum()))

    @cached_property
    def _cumulated(self) -> FloatArray:
        """The share of weight below each score, and 1 at the end."""
        total = np.concatenate([np.zeros(1), np.cumsum(self.weight)])
        return np.asarray(total / total[-1]) if len(self.score) else np.ones(1)

    def p_values(self, score: FloatArray) -> FloatArray:
        """How likely a score as low as each of these is, in a row like those that were scored."""
        share = self._cumulated[np.searchsorted(self.score, score, side="right")]
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
