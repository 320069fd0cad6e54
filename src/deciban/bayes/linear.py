"""Logistic regression in folds: penalties from strong to weak, until held-out rows lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.bayes.folds import Rows
from deciban.bayes.margins import FloatArray, all_scores, loss, one_score
from deciban.logistic import Prior, Problem, lbfgs
from deciban.logistic.dense import Dense

#: The penalties that are tried, in this order.
PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
#: As many that do not gain end the search.
PATIENCE = 2
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

    ``offsets`` are the margins of all rows that the terms are added to, fold by fold.
    """
    n_classes = offsets[0].shape[1]
    n_scores = 1 if n_classes == 2 else n_classes
    designs = [Dense(np.ascontiguousarray(Z[inside])) for inside, _ in splits]
    W = [np.zeros((Z.shape[1] + 1, n_scores)) for _ in splits]
    judged = np.zeros((len(y), n_classes))
    for (_, held), offset in zip(splits, offsets, strict=True):
        judged[held] = offset[held]
    best = Linear(np.zeros((Z.shape[1] + 1, n_classes)), np.inf, judged)
    least, failed = loss(judged, y, weight), 0
    for penalty in PENALTIES if Z.shape[1] else ():
        judged, prior = np.empty_like(judged), Prior.l2(penalty, Z.shape[1], n_scores)
        for k, ((inside, held), offset) in enumerate(zip(splits, offsets, strict=True)):
            problem = Problem(
                designs[k], y[inside], prior, weight[inside], one_score(offset[inside])
            )
            W[k] = lbfgs.solve(problem, W[k], TOLERANCE, MOST_STEPS).point.W
            judged[held] = offset[held] + margins(all_scores(W[k]), Z[held])
        now = loss(judged, y, weight)
        if now < least:
            least, failed = now, 0
            best = Linear(all_scores(np.mean(W, axis=0)), penalty, judged)
        else:
            failed += 1
        if failed == PATIENCE:
            break
    return best
