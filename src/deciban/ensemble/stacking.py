"""Stacking: how much each of several models counts in the sum of their logits.

Weights minimise the log loss of the combined logits on rows that the models
were not fitted to, plus a penalty that keeps them near what is usual where rows are few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.bounded_newton import Derivatives, newton_above_zero
from deciban.ensemble.logits import FloatArray, centre, log_losses

#: The penalty on weights that add up to one, in nats: as if so many rows spoke for the usual ones.
USUAL_WEIGHTS_PENALTY = 15.0
#: Weights are near enough to the best if a step to them lowers the mean log loss by no more.
DECREASE_PER_ROW_NATS = 1e-9
#: A model is of use if without it the log loss is higher by more than this share of it.
MAX_MISSED_SHARE = 0.002


def simplex_weights(
    held_out: Sequence[FloatArray],
    y: NDArray[np.intp],
    weight: FloatArray,
    usual: FloatArray | None = None,
) -> FloatArray:
    """Positive weights that add up to one: a weighted geometric mean of probabilities.

    ``held_out`` are the logits of each model, (rows, classes); ``usual`` are the weights that
    they have without any row, equal ones if None. The penalty is ``USUAL_WEIGHTS_PENALTY`` times
    minus the mean logarithm of the weights, weighted by the usual ones.

    >>> y = np.arange(400) % 2
    >>> good, useless = np.eye(2)[y] * 3, np.zeros((400, 2))
    >>> simplex_weights([good, useless], y, np.ones(400)).round(1)
    array([0.9, 0.1])
    >>> simplex_weights([good, useless], y, np.zeros(400), np.array([0.3, 0.7])).round(2)
    array([0.3, 0.7])
    """
    from scipy.optimize import minimize

    logits = _rows_last(np.stack([centre(each) for each in held_out]))
    prior = np.full(len(logits), 1 / len(logits)) if usual is None else usual

    def objective(t: FloatArray) -> tuple[float, FloatArray]:
        w = _softmax(t)
        loss, gradient = _loss(w, logits, np.zeros(1), y, weight)
        value = loss - USUAL_WEIGHTS_PENALTY * prior @ np.log(w)
        penalty_gradient = USUAL_WEIGHTS_PENALTY * (w - prior)
        return float(value), w * (gradient - w @ gradient) + penalty_gradient

    solution = minimize(objective, np.log(prior), jac=True, method="L-BFGS-B")
    return _softmax(solution.x)


def useful(
    held_out: Mapping[str, FloatArray], y: NDArray[np.intp], weight: FloatArray
) -> list[str]:
    """The models without those that the weighted sum of all can do without.

    One after the other is left out, the least missed first, as long as the log loss of
    the others together is higher than that of all by no more than ``MAX_MISSED_SHARE`` of it.

    >>> y = np.arange(4000) % 2
    >>> good, useless = np.eye(2)[(y + (np.arange(4000) % 10 == 0)) % 2] * 2, np.zeros((4000, 2))
    >>> useful({"good": good, "useless": useless}, y, np.ones(4000))
    ['good']
    """
    kept = dict(held_out)
    limit = (1 + MAX_MISSED_SHARE) * _least_loss(kept, y, weight)
    while len(kept) > 1:
        others = {name: {n: kept[n] for n in kept if n != name} for name in kept}
        losses = {name: _least_loss(rest, y, weight) for name, rest in others.items()}
        least_missed = min(losses, key=lambda name: losses[name])
        if losses[least_missed] > limit:
            break
        kept = others[least_missed]
    return list(kept)


def _least_loss(
    held_out: Mapping[str, FloatArray], y: NDArray[np.intp], weight: FloatArray
) -> float:
    """The summed log loss of the weighted sum."""
    logits = list(held_out.values())
    weights = simplex_weights(logits, y, weight)
    return float(weight @ log_losses(np.tensordot(weights, np.stack(logits), 1), y))


def nonnegative_weights(
    added: FloatArray, offset: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """Weights of what models add to an offset, never below zero.

    ``added`` is (models, rows, classes). The weights need not add up to one:
    what two columns tell of a row is added. The penalty is a ridge around equal weights.

    >>> y = np.arange(400) % 2
    >>> added = np.stack([np.eye(2)[(y + (np.arange(400) % 10 == 0)) % 2], np.zeros((400, 2))])
    >>> nonnegative_weights(added, np.zeros((400, 2)), y, np.ones(400)).round(1)
    array([2.2, 0.5])
    """
    equal, added, offset = 1 / len(added), _rows_last(added), _rows_last(offset)
    # The first class is the one that the others are told from: a class fewer to add up.
    scores, start = added[:, 1:] - added[:, :1], offset[1:] - offset[:1]

    def derivatives(w: FloatArray) -> Derivatives:
        of = _score_derivatives(w, scores, start, y, weight)
        return Derivatives(
            of.value + 0.5 * float(np.sum((w - equal) ** 2)),
            of.gradient + w - equal,
            of.hessian + np.eye(len(w)),
        )

    w = np.full(len(added), equal)
    return newton_above_zero(derivatives, w, DECREASE_PER_ROW_NATS * (1 + float(weight.sum())))


def _rows_last(logits: FloatArray) -> FloatArray:
    """(..., rows, classes) as (..., classes, rows): classes are few, and rows are added up fast."""
    return np.ascontiguousarray(np.swapaxes(logits, -1, -2))


def _loss(
    w: FloatArray, logits: FloatArray, offset: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> tuple[float, FloatArray]:
    """The summed log loss of ``offset + sum_k w_k logits_k``, and its gradient by w.

    ``logits`` is (models, classes, rows), ``offset`` (classes, rows).
    """
    combined, truth = offset + np.tensordot(w, logits, 1), (y, np.arange(len(y)))
    combined -= combined.max(axis=0)
    residual = np.exp(combined)
    total = residual.sum(axis=0)
    loss = weight @ (np.log(total) - combined[truth])
    residual *= weight / total
    residual[truth] -= weight
    return float(loss), np.asarray(logits.reshape(len(logits), -1) @ residual.ravel())


def _score_derivatives(
    w: FloatArray, scores: FloatArray, offset: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> Derivatives:
    """The summed log loss of ``offset + sum_k w_k scores_k``, its gradient and Hessian by w.

    Scores are logits less that of the first class, which is left out: ``scores`` is
    (models, classes - 1, rows), ``offset`` (classes - 1, rows).
    """
    n_models = len(scores)
    combined = offset + np.tensordot(w, scores, 1)
    top = np.maximum(combined.max(axis=0), 0.0)
    proba = np.exp(combined - top)
    total = proba.sum(axis=0) + np.exp(-top)
    other = np.flatnonzero(y)
    truth = (y[other] - 1, other)
    loss = weight @ (np.log(total) + top) - weight[other] @ combined[truth]
    proba *= weight / total
    expected = proba * scores
    mean = expected.sum(axis=1)
    flat = scores.reshape(n_models, -1)
    hessian = expected.reshape(n_models, -1) @ flat.T
    hessian -= mean @ (mean / np.maximum(weight, np.finfo(float).tiny)).T
    gradient = mean.sum(axis=1) - scores[:, truth[0], truth[1]] @ weight[other]
    return Derivatives(float(loss), gradient, hessian)


def _softmax(t: FloatArray) -> FloatArray:
    out = np.exp(t - t.max())
    return np.asarray(out / out.sum())
