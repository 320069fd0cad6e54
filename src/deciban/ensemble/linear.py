"""Logistic regression in folds: penalties from strong to weak, until held-out rows lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.folds import Rows
from deciban.ensemble.margins import FloatArray, all_scores, losses, one_score
from deciban.logistic.solvers import Prior, Problem, lbfgs
from deciban.logistic.solvers import two_valued as splitting

#: The penalties that are tried, in this order.
PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
#: As many that do not gain end the search.
PATIENCE = 2
#: It is made in as many folds as hold so many rows out, but in two at least.
TRIED = 1_000
#: The coefficients are found to this accuracy; more would not change the answer.
TOLERANCE = 1e-3
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Linear:
    """Coefficients, (terms + 1, classes), the last row being constants, and how they were found.

    ``penalty`` is infinite where the terms say nothing. ``judged`` are the
    margins, offset included, of rows held out.
    """

    coefficients: FloatArray
    penalty: float
    judged: FloatArray


def margins(coefficients: FloatArray, Z: FloatArray) -> FloatArray:
    """What the terms add to the margins, (rows, classes)."""
    return np.asarray(Z @ coefficients[:-1] + coefficients[-1])


def learn(
    Z: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    splits: Sequence[tuple[Rows, Rows]],
    offsets: Sequence[FloatArray],
) -> Linear:
    """The mean coefficients of all folds, at the penalty under which held-out rows lose least.

    ``offsets`` are the margins of all rows that the terms are added to, fold by
    fold. Where rows are many, some folds choose the penalty; the others begin
    where these ended.
    """

    def task(k: int) -> _Fold:
        return _Fold.of(Z, y, weight, splits[k], offsets[k])

    out = np.cumsum([weight[held].sum() for _, held in splits])
    n_tried = min(len(splits), max(2, 1 + int(np.searchsorted(out, TRIED))))
    tried = [task(k) for k in range(n_tried)]
    penalty, found = _chosen(tried)
    start, judged = np.mean(found, axis=0), np.empty_like(offsets[0])
    for k in range(len(splits)):
        one = tried[k] if k < n_tried else task(k)
        if k >= n_tried:
            found.append(one.solved(penalty, start) if np.isfinite(penalty) else start)
        judged[one.held] = one.margins(found[k])
    return Linear(all_scores(np.mean(found, axis=0)), penalty, judged)


def _chosen(tasks: Sequence[_Fold]) -> tuple[float, list[FloatArray]]:
    """The penalty under which held-out rows lose least, and the coefficients of each fold."""
    W = [task.nothing for task in tasks]
    penalty, best, least, failed = np.inf, W, _loss(tasks, W), 0
    for tried in PENALTIES if len(W[0]) > 1 else ():
        W = [task.solved(tried, start) for task, start in zip(tasks, W, strict=True)]
        now = _loss(tasks, W)
        failed += 1
        if now < least:
            penalty, best, least, failed = tried, W, now, 0
        if failed == PATIENCE:
            break
    return penalty, best


def _loss(tasks: Sequence[_Fold], W: Sequence[FloatArray]) -> float:
    """The summed loss of the rows that folds hold out."""
    return sum(float(t.weight @ losses(t.margins(w), t.y)) for t, w in zip(tasks, W, strict=True))


@dataclass(frozen=True, eq=False)
class _Fold:
    """One fold's regression; the rows that are held out, what they hold, and their offset."""

    problem: Problem
    held: Rows
    Z: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    offset: FloatArray

    @classmethod
    def of(
        cls,
        Z: FloatArray,
        y: NDArray[np.intp],
        weight: FloatArray,
        split: tuple[Rows, Rows],
        offset: FloatArray,
    ) -> _Fold:
        inside, held = split
        scores = one_score(offset[inside])
        free = Prior.l2(0.0, Z.shape[1], scores.shape[1])
        design = splitting.design(np.ascontiguousarray(Z[inside]))
        problem = Problem(design, y[inside], free, weight[inside], scores)
        return cls(problem, held, Z[held], y[held], weight[held], offset[held])

    @property
    def nothing(self) -> FloatArray:
        """Coefficients that say nothing."""
        return np.zeros((self.Z.shape[1] + 1, self.problem.n_logits))

    def solved(self, penalty: float, start: FloatArray) -> FloatArray:
        """The coefficients under a penalty."""
        prior = Prior.l2(penalty, self.Z.shape[1], self.problem.n_logits)
        problem = replace(self.problem, prior=prior)
        return lbfgs.solve(problem, start, TOLERANCE, MOST_STEPS).point.W

    def margins(self, W: FloatArray) -> FloatArray:
        """The margins of the rows that are held out."""
        return self.offset + margins(all_scores(W), self.Z)
