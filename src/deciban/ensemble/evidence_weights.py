"""The evidence of the counts, column by column, and one weight for each.

The evidence of column j for class c is ``e_jc = log P(x_j | c)`` less its mean over the
classes; of rows that are counted, each row is left out of the counts. The
weights ``s_j`` and a constant ``b_c`` for each class minimise the log loss of the
logits ``b_c + sum_j s_j e_jc`` plus ``PENALTY / 2 |(s - centre) CENTRE / centre|^2`` and
``CONSTANT_PENALTY / 2 |b - prior|^2``. The centre is a half, because columns share what they
know, and less where rows are so few that all evidence is usually worth less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.logits import FloatArray, centre, log_losses, prior_logits, softmax
from deciban.families.remaining import Remaining
from deciban.logistic.solvers.descent import minimise
from deciban.models.calibration import usual_discount
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.batch import Batch

#: What the weight of a column is drawn to where rows are many, and how strongly: as if this many
#: rows said so.
CENTRE, PENALTY = 0.5, 3.0
#: The constants of the classes are drawn to the class frequencies: as if this many rows said so.
CONSTANT_PENALTY = 1.0
#: The evidence of one column is never beyond this, in nats.
MAX_EVIDENCE_NATS = 15.0
#: What is less likely than this, or impossible, is taken for as likely as this.
MIN_LOG_LIKELIHOOD = -1e3
#: A step that lowers the objective by less than this for each row is the last.
MIN_DECREASE_PER_ROW = 1e-4
MAX_STEPS = 20
#: About so many rows find where to start.
STARTING_ROWS = 2_000
#: Where rows times parts are more than this, a fold starts from the weights of the one before.
MAX_FRESH_NUMBERS = 1_000_000
#: Of more than two classes, about so many rows tell the second derivatives, or one of so many: the
#: direction of a step need not be exact.
CURVATURE_ROWS, MAX_CURVATURE_STEP = 1_000, 4
#: Derivatives are summed over about this many numbers at a time, which stay in the cache.
DERIVATIVE_CHUNK_NUMBERS = 1 << 15


# ---------------------------------------------------------------------- evidence


def evidence_columns(model: NaiveBayesModel) -> list[str]:
    """The column of each part of the evidence; "missing or not" is a part of its own."""
    return [name for block in model.blocks for name in block.columns]


def evidence(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """The evidence of any rows, (rows, parts, classes)."""
    return evidence_of_columns(model, *model.columns(batch))


def evidence_of_columns(
    model: NaiveBayesModel, numbers: FloatArray, codes: NDArray[np.int64]
) -> FloatArray:
    """The evidence of the numbers and categories of some rows, (rows, parts, classes)."""
    matrices = model.encode_columns(numbers, codes)
    none = np.empty((len(numbers), 0, len(model.log_prior)))
    parts = [block.parameters.contributions(matrices[block.name]) for block in model.blocks]
    return _bound(np.concatenate([none, *parts], axis=1))


def leave_one_out(
    model: NaiveBayesModel,
    batch: Batch,
    y: NDArray[np.intp],
    weight: FloatArray,
    remaining: Remaining | None = None,
) -> FloatArray:
    """The evidence of counted rows, (rows, parts, classes), each row left out of the counts.

    With ``remaining``, it is that of the counts left for each row.
    """
    matrices = model.encode(batch)
    if remaining is not None:
        columns = [
            column
            for block in model.blocks
            for column in block.parameters.leave_out(matrices[block.name], remaining)
        ]
        return _bound(np.stack(columns, axis=1))
    parts = [
        block.parameters.leave_one_out_by_column(matrices[block.name], y, weight)
        for block in model.blocks
    ]
    return _bound(np.concatenate(parts, axis=1))


def _bound(log_likelihood: FloatArray) -> FloatArray:
    """Less its mean over the classes, and within ``MAX_EVIDENCE_NATS``, as is the impossible."""
    out = centre(np.maximum(log_likelihood, MIN_LOG_LIKELIHOOD))
    return np.clip(out, -MAX_EVIDENCE_NATS, MAX_EVIDENCE_NATS, out=out)


# ---------------------------------------------------------------------- weights


def logits(W: FloatArray, evidence: FloatArray) -> FloatArray:
    """The constants of the classes and the weighted evidence, (rows, classes).

    ``W`` are the weights of the parts, then the constants of the classes.
    """
    n_parts = evidence.shape[1]
    return np.asarray(np.matmul(W[:n_parts], evidence) + W[n_parts:])


def fit(
    evidence: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    start: FloatArray | None = None,
) -> FloatArray:
    """The weights of the parts, then the constants of the classes, by Newton's method.

    Where rows are many, it starts from the weights of some of them, unless a start is given.
    """
    objective, step = WeightObjective(evidence, y, weight), len(y) // STARTING_ROWS
    if start is None:
        some = slice(None, None, step)
        start = fit(evidence[some], y[some], weight[some]) if step > 1 else objective.centre
    enough = MIN_DECREASE_PER_ROW * float(weight.sum())
    return minimise(objective, start, 0.0, MAX_STEPS, lambda point: point.direction, enough).point.W


@dataclass(frozen=True, eq=False)
class WeightObjective:
    """The penalised log loss as a function of weights and constants."""

    evidence: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray

    @cached_property
    def by_part(self) -> FloatArray:
        """The evidence with a row for each part, (parts, rows times classes)."""
        n_rows, n_parts, n_classes = self.evidence.shape
        return self.evidence.swapaxes(0, 1).reshape(n_parts, n_rows * n_classes)

    @cached_property
    def usual_weight(self) -> float:
        """The weight that columns of tables of this size usually have."""
        return min(CENTRE, usual_discount(float(self.weight.sum()), *self.evidence.shape[1:]))

    @cached_property
    def centre(self) -> FloatArray:
        """What weights and constants are drawn to."""
        n_parts, n_classes = self.evidence.shape[1:]
        prior = prior_logits(self.y, self.weight, n_classes)
        return np.concatenate([np.full(n_parts, self.usual_weight), prior])

    @cached_property
    def penalty(self) -> FloatArray:
        """How strongly each is drawn: weights stray from the usual one in proportion to it."""
        n_parts, n_classes = self.evidence.shape[1:]
        of_weights = PENALTY * (CENTRE / self.usual_weight) ** 2
        return np.concatenate([np.full(n_parts, of_weights), np.full(n_classes, CONSTANT_PENALTY)])

    def at(self, W: FloatArray) -> WeightPoint:
        """The value at some weights; derivatives are found when they are asked for."""
        n_rows, n_parts, n_classes = self.evidence.shape
        at = (W[:n_parts] @ self.by_part).reshape(n_rows, n_classes) + W[n_parts:]
        loss = self.weight @ log_losses(at, self.y)
        return WeightPoint(self, W, float(loss + 0.5 * self.penalty @ (W - self.centre) ** 2), at)

    def steepness(self, point: WeightPoint) -> float:
        """The largest derivative."""
        return float(np.max(np.abs(point.gradient), initial=0.0))


@dataclass(frozen=True, eq=False)
class WeightPoint:
    """Some weights, the objective there, and the logits of all rows."""

    objective: WeightObjective
    W: FloatArray
    value: float
    logits: FloatArray

    @cached_property
    def proba(self) -> FloatArray:
        """The probabilities of all rows, (rows, classes)."""
        return softmax(self.logits)

    @cached_property
    def gradient(self) -> FloatArray:
        """The derivatives of the objective."""
        of = self.objective
        residual = self.proba * of.weight[:, None]
        residual[np.arange(len(of.y)), of.y] -= of.weight
        of_weights = of.by_part @ residual.ravel()
        penalty = of.penalty * (self.W - of.centre)
        return np.concatenate([of_weights, residual.sum(axis=0)]) + penalty

    @property
    def direction(self) -> FloatArray:
        """Newton's step, ``-H**-1 g``.

        The Hessian is ``B'B + P`` with the penalties P on its diagonal. Where B has fewer rows than
        columns, Woodbury's identity asks for a system of as many equations as it has rows.
        """
        of, g = self.objective, self.gradient
        if len(of.y) * _root_rows(self.proba) >= len(g):
            return np.asarray(-np.linalg.solve(self._curvature() + np.diag(of.penalty), g))
        B, x = hessian_root(of.evidence, self.proba, of.weight), g / of.penalty
        small = np.eye(len(B)) + (B / of.penalty) @ B.T
        return np.asarray(B.T @ np.linalg.solve(small, B @ x) / of.penalty - x)

    def _curvature(self) -> FloatArray:
        """The Hessian of the log loss, or what some rows make of it."""
        of, n_rows, n_classes = self.objective, *self.proba.shape
        step = 1 if n_classes == 2 else min(MAX_CURVATURE_STEP, n_rows // CURVATURE_ROWS)
        some = slice(None, None, max(1, step))
        share = of.weight[some].sum() / of.weight.sum()
        return hessian(of.evidence[some], self.proba[some], of.weight[some] / share)


def _root_rows(proba: FloatArray) -> int:
    """How many rows of the root of the Hessian each row of the table has."""
    return 1 if proba.shape[1] == 2 else proba.shape[1]


def hessian_root(evidence: FloatArray, proba: FloatArray, weight: FloatArray) -> FloatArray:
    """The matrix B whose ``B'B`` is the Hessian of the summed log loss by weights and constants.

    Its rows are ``sqrt(w p_k) (x_k - sum_l p_l x_l)``, where ``x_k`` are the derivatives of the
    logit of class k; of two classes, ``sqrt(w p_0 p_1) (x_1 - x_0)``.
    """
    n_rows, n_parts, n_classes = evidence.shape
    if n_classes == 2:
        B = np.empty((n_rows, n_parts + 2))
        np.subtract(evidence[:, :, 1], evidence[:, :, 0], out=B[:, :n_parts])
        B[:, n_parts:] = -1.0, 1.0
        B *= np.sqrt(weight * proba[:, 0] * proba[:, 1])[:, None]
        return B
    out = np.empty((n_rows, n_classes, n_parts + n_classes))
    mean = np.einsum("njk,nk->nj", evidence, proba)
    out[:, :, :n_parts] = evidence.swapaxes(1, 2) - mean[:, None, :]
    out[:, :, n_parts:] = np.eye(n_classes) - proba[:, None, :]
    out *= np.sqrt(weight[:, None] * proba)[:, :, None]
    return out.reshape(n_rows * n_classes, n_parts + n_classes)


def hessian(evidence: FloatArray, proba: FloatArray, weight: FloatArray) -> FloatArray:
    """``B'B`` of `hessian_root`, summed over chunks of rows.

    Of many classes most of B is the constants' identity. Block by block, ``B'B`` of the constants
    is ``sum w (diag(p) - p p')``, that of part j and class k ``sum w p_k (e_jk - sum_l p_l e_jl)``.
    """
    n_rows, n_parts, n_classes = evidence.shape
    if n_classes == 2:
        chunks = _chunks(n_rows, n_parts + 2)
        roots = (hessian_root(evidence[rows], proba[rows], weight[rows]) for rows in chunks)
        return np.asarray(sum(B.T @ B for B in roots))
    share = weight[:, None] * proba
    by_part = evidence.swapaxes(0, 1)
    mean = np.matmul(evidence, proba[:, :, None])[:, :, 0]
    parts, crossed = -(mean.T * weight) @ mean, -mean.T @ share
    for rows in _chunks(n_rows, n_parts * n_classes):
        root = (by_part[:, rows] * np.sqrt(share[rows])).reshape(n_parts, -1)
        parts += root @ root.T
        crossed += np.einsum("jnk,nk->jk", by_part[:, rows], share[rows])
    constants = np.diag(share.sum(axis=0)) - share.T @ proba
    return np.block([[parts, crossed], [crossed.T, constants]])


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    size = max(1, DERIVATIVE_CHUNK_NUMBERS // width)
    return (slice(start, start + size) for start in range(0, n_rows, size))
