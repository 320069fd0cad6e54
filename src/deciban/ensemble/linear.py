"""Logistic regression in folds, at the penalty under which held-out rows lose least.

The penalty is found on a path from strong to weak, which ends when held-out rows lose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.logits import FloatArray, log_losses, to_logits, to_scores
from deciban.logistic.solvers import Prior, Problem, lbfgs
from deciban.logistic.solvers import two_valued as splitting
from deciban.sources.unit_folds import Split

#: The penalties that are tried, in this order.
PENALTIES = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
#: As many that do not gain end the path, or one that loses more than this, which is no chance: the
#: weaker a penalty, the longer it takes.
PENALTY_PATIENCE, CLEAR_LOSS_NATS = 2, 2.0
#: The penalty is selected in as many folds as hold so many rows out.
SELECTION_ROWS = 400
#: Coefficients to this accuracy; more would not change the probabilities.
SOLVER_TOLERANCE = 1e-3
MAX_SOLVER_STEPS = 200

Fit = TypeVar("Fit")


class Selected(NamedTuple):
    """A penalty and the loss of held-out rows under it."""

    penalty: float
    loss: float


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Coefficients, (terms + 1, classes), the last row being constants, and how they were found.

    ``penalty`` is infinite where all are zero. ``held_out`` are the logits,
    offset included, of rows held out. ``by_fold`` are the coefficients of each fold's scores.
    """

    coef: FloatArray
    penalty: float
    held_out: FloatArray
    by_fold: tuple[FloatArray, ...]


def fit(
    Z: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    splits: Sequence[Split],
    offsets: Sequence[FloatArray],
    begun: LinearFit | None = None,
    nearby: LinearFit | None = None,
) -> LinearFit:
    """The mean coefficients of all folds, at the penalty under which held-out rows lose least.

    ``offsets`` are the logits of all rows that the terms are added to, fold by
    fold. Where rows are many, some folds select the penalty. ``begun`` is the fit of the first
    folds, which have selected it; ``nearby`` is one of the first fold to some of the rows, whose
    penalty is near. No fold begins where another ended: that one has seen the rows that this one
    holds out, and coefficients of some accuracy remember where they began.
    """

    def regression(k: int) -> _FoldRegression:
        return _FoldRegression.of(Z, y, weight, splits[k], offsets[k])

    if begun is None:
        n_selecting = _n_selecting([weight[held].sum() for _, held in splits])
        penalty, coefs = _select([regression(k) for k in range(n_selecting)], nearby)
    else:
        penalty, coefs = begun.penalty, list(begun.by_fold)
    n_fitted, held_out = len(coefs), offsets[0].copy()
    for k in range(len(splits)):
        fold = regression(k)
        if k >= n_fitted:
            coefs.append(fold.solve(penalty, fold.zero) if np.isfinite(penalty) else fold.zero)
        held_out[fold.held] = fold.logits(coefs[k])
    return LinearFit(to_logits(np.mean(coefs, axis=0)), penalty, held_out, tuple(coefs))


def _n_selecting(held_weights: Sequence[float]) -> int:
    """How many folds select the penalty, given the weight that each holds out.

    >>> _n_selecting([30.0] * 5), _n_selecting([150.0] * 5), _n_selecting([3000.0] * 5)
    (5, 3, 1)
    """
    enough = 1 + int(np.searchsorted(np.cumsum(held_weights), SELECTION_ROWS))
    return min(len(held_weights), enough)


def _select(
    folds: Sequence[_FoldRegression], nearby: LinearFit | None
) -> tuple[float, list[FloatArray]]:
    """The penalty under which held-out rows lose least, and the coefficients of each fold.

    With a fit ``nearby``, the path begins at its penalty, and the first fold at its coefficients:
    more rows call for no more of a penalty.
    """

    def refit(penalty: float, coefs: list[FloatArray]) -> list[FloatArray]:
        return [fold.solve(penalty, W) for fold, W in zip(folds, coefs, strict=True)]

    def held_out_loss(coefs: list[FloatArray]) -> float:
        return sum(fold.loss(W) for fold, W in zip(folds, coefs, strict=True))

    start = [fold.zero for fold in folds]
    null_loss = held_out_loss(start)
    penalties: tuple[float, ...] = PENALTIES if len(start[0]) > 1 else ()
    if nearby is not None and np.isfinite(nearby.penalty):
        penalties = tuple(penalty for penalty in penalties if penalty <= nearby.penalty)
        start[0] = nearby.by_fold[0]
    selected, coefs = select_penalty(
        penalties, refit, held_out_loss, start, null_loss, PENALTY_PATIENCE,
        clear_loss=CLEAR_LOSS_NATS,
    )  # fmt: skip
    return selected.penalty, coefs


def select_penalty(
    penalties: Iterable[float],
    refit: Callable[[float, Fit], Fit],
    held_out_loss: Callable[[Fit], float],
    start: Fit,
    null_loss: float = float("inf"),
    patience: int = 1,
    min_gain: float = 0.0,
    clear_loss: float = float("inf"),
) -> tuple[Selected, Fit]:
    """The penalty of least held-out loss, from strong to weak, and the fit under it.

    Each fit starts from the one before, under the next stronger penalty; so the path costs little
    more than its last fits. ``null_loss`` is that of ``start``, which is kept, with an infinite
    penalty, where no penalty does better. The path ends after ``patience`` penalties that do not
    gain, or one that loses more than ``clear_loss`` beside the best; ``min_gain`` or less is no
    gain, so that of two that cannot be told apart the stronger one is taken.

    >>> select_penalty([9, 3, 1, 0], lambda penalty, _: penalty, lambda fit: abs(fit - 2.5), 99)
    (Selected(penalty=3, loss=0.5), 3)
    """
    fit = best_fit = start
    best, failures = Selected(float("inf"), null_loss), 0
    for penalty in penalties:
        fit = refit(penalty, fit)
        loss = held_out_loss(fit)
        failures += 1
        if loss < best.loss - min_gain:
            best, best_fit, failures = Selected(penalty, loss), fit, 0
        if failures == patience or loss > best.loss + clear_loss:
            break
    return best, best_fit


@dataclass(frozen=True, eq=False)
class _FoldRegression:
    """One fold's regression; the rows that are held out, their terms and their offset."""

    problem: Problem
    held: NDArray[np.intp]
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
        split: Split,
        offset: FloatArray,
    ) -> _FoldRegression:
        inside, held = split
        scores = to_scores(offset[inside])
        free = Prior.l2(0.0, Z.shape[1], scores.shape[1])
        design = splitting.design(np.ascontiguousarray(Z[inside]))
        problem = Problem(design, y[inside], free, weight[inside], scores)
        return cls(problem, held, Z[held], y[held], weight[held], offset[held])

    @property
    def zero(self) -> FloatArray:
        """Coefficients that add nothing."""
        return np.zeros((self.Z.shape[1] + 1, self.problem.n_logits))

    def solve(self, penalty: float, start: FloatArray) -> FloatArray:
        """The coefficients under a penalty."""
        prior = Prior.l2(penalty, self.Z.shape[1], self.problem.n_logits)
        problem = replace(self.problem, prior=prior)
        return lbfgs.solve(problem, start, SOLVER_TOLERANCE, MAX_SOLVER_STEPS).point.W

    def logits(self, W: FloatArray) -> FloatArray:
        """The logits of the rows that are held out."""
        coef = to_logits(W)
        return np.asarray(self.offset + (self.Z @ coef[:-1] + coef[-1]))

    def loss(self, W: FloatArray) -> float:
        """The summed log loss of the rows that are held out."""
        return float(self.weight @ log_losses(self.logits(W), self.y))
