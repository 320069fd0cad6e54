"""The evidence of the counts, column by column, and one weight for each.

The evidence of column j for class c is ``e_jc = log P(x_j | c)`` less its mean over the
classes; of rows that are counted, each row is left out of the counts. The
weights ``s_j`` and a constant ``b_c`` for each class minimise the log loss of the
logits ``b_c + sum_j s_j e_jc`` plus ``PENALTY / 2 |s - CENTRE|^2``: a half, because columns
share what they know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.logits import FloatArray, centre, log_losses, prior_logits, softmax
from deciban.families import family
from deciban.families.settings import Settings
from deciban.naive_bayes.model import Model
from deciban.sources.columns import Batch
from deciban.stats.table import Table

#: What the weight of a column is drawn to, and how strongly: as if this many rows said so.
CENTRE, PENALTY = 0.5, 3.0
#: The constants of the classes are all but free.
CONSTANT_PENALTY = 0.01
#: The evidence of one column is never beyond this, in nats.
MAX_EVIDENCE_NATS = 15.0
#: A step that lowers the objective by less than this for each row is the last.
MIN_DECREASE_PER_ROW = 1e-6
MAX_STEPS = 20
#: A step is halved while it is more than this share of Newton's.
MIN_STEP_SHARE = 1e-3
#: Derivatives are summed over about this many numbers at a time.
DERIVATIVE_CHUNK_NUMBERS = 1 << 20


# ---------------------------------------------------------------------- evidence


def evidence_columns(model: Model) -> list[str]:
    """The column of each part of the evidence; "missing or not" is a part of its own."""
    return [n for table in model.blocks.tables.values() for n in table.cells.columns.tolist()]


def evidence(model: Model, batch: Batch) -> FloatArray:
    """The evidence of any rows, (rows, parts, classes)."""
    parts = [np.empty((batch.n_rows, 0, len(model.log_prior)))]
    for block, X in model.matrices(batch).items():
        kind, params = model.params.blocks[block]
        parts.append(family(kind).explain(params, X))
    return _bound(np.concatenate(parts, axis=1))


def leave_one_out(
    model: Model, batch: Batch, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """The evidence of counted rows, (rows, parts, classes), each row left out of the counts."""
    parts = []
    for block, X in model.matrices(batch).items():
        table = model.blocks.tables[block]
        for j, how in enumerate(_by_column(model.settings[block], len(table.cells.columns))):
            x = np.ascontiguousarray(X[:, [j]])
            parts.append(_column_leave_one_out(table.column(j), how, x, y, weight))
    return _bound(np.stack(parts, axis=1))


def _by_column(how: Settings, n_columns: int) -> list[Settings]:
    """The settings of each column by itself."""
    lam, bins = how.per_column(n_columns), how.bins_of(n_columns).astype(int)
    return [Settings(how.method, lam[j : j + 1], bins=bins[j : j + 1]) for j in range(n_columns)]


def _column_leave_one_out(
    table: Table, how: Settings, x: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """``log P(x_j | c)``, (rows, classes); zero for a column that has no value."""
    if not table.cells.size:
        return np.zeros((len(x), len(table.rows)))
    kind, sums = family(table.family), dict(table.sums)
    params = kind.estimate(sums, table.rows, table.cells, how)
    return np.asarray(kind.left_out(params, sums, table.cells, how, x, y, weight))


def _bound(log_likelihood: FloatArray) -> FloatArray:
    """Less its mean over the classes, and within ``MAX_EVIDENCE_NATS``, as is the impossible."""
    finite = np.maximum(log_likelihood, -1e3)
    return np.asarray(np.clip(centre(finite), -MAX_EVIDENCE_NATS, MAX_EVIDENCE_NATS))


# ---------------------------------------------------------------------- weights


def logits(W: FloatArray, evidence: FloatArray) -> FloatArray:
    """The constants of the classes and the weighted evidence, (rows, classes).

    ``W`` are the weights of the parts, then the constants of the classes.
    """
    n_parts = evidence.shape[1]
    return np.asarray(np.tensordot(evidence, W[:n_parts], (1, 0)) + W[n_parts:])


def fit(evidence: FloatArray, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    """The weights of the parts, then the constants of the classes, by Newton's method."""
    objective = WeightObjective(evidence, y, weight)
    return _minimise(objective, MIN_DECREASE_PER_ROW * float(weight.sum())).W


@dataclass(frozen=True, eq=False)
class WeightObjective:
    """The penalised log loss as a function of weights and constants."""

    evidence: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray

    @cached_property
    def centre(self) -> FloatArray:
        """What weights and constants are drawn to."""
        n_parts, n_classes = self.evidence.shape[1:]
        return np.concatenate([np.full(n_parts, CENTRE), np.zeros(n_classes)])

    @cached_property
    def penalty(self) -> FloatArray:
        """How strongly each is drawn."""
        n_parts, n_classes = self.evidence.shape[1:]
        return np.concatenate([np.full(n_parts, PENALTY), np.full(n_classes, CONSTANT_PENALTY)])

    @property
    def start(self) -> FloatArray:
        """The centre, and the class frequencies."""
        n_parts, n_classes = self.evidence.shape[1:]
        prior = prior_logits(self.y, self.weight, n_classes)
        return np.concatenate([self.centre[:n_parts], prior])

    def at(self, W: FloatArray) -> WeightPoint:
        """The value at some weights; derivatives are found when they are asked for."""
        at = logits(W, self.evidence)
        loss = self.weight @ log_losses(at, self.y)
        return WeightPoint(self, W, float(loss + 0.5 * self.penalty @ (W - self.centre) ** 2), at)


@dataclass(frozen=True, eq=False)
class WeightPoint:
    """Some weights, the objective there, and the logits of all rows."""

    objective: WeightObjective
    W: FloatArray
    value: float
    logits: FloatArray

    @property
    def gradient(self) -> FloatArray:
        """The derivatives of the objective."""
        penalty = self.objective.penalty * (self.W - self.objective.centre)
        return self._derivatives[0] + penalty

    @property
    def direction(self) -> FloatArray:
        """Newton's step, ``-H**-1 g``."""
        hessian = self._derivatives[1] + np.diag(self.objective.penalty)
        return np.asarray(-np.linalg.solve(hessian, self.gradient))

    @cached_property
    def _derivatives(self) -> tuple[FloatArray, FloatArray]:
        of = self.objective
        return _derivatives(of.evidence, softmax(self.logits), of.y, of.weight)


def _minimise(objective: WeightObjective, min_decrease: float) -> WeightPoint:
    """Damped Newton steps, until one lowers the objective by less than ``min_decrease``."""
    point = objective.at(objective.start)
    for _ in range(MAX_STEPS):
        size, direction = 1.0, point.direction
        new = objective.at(point.W + direction)
        while new.value > point.value and size > MIN_STEP_SHARE:
            size /= 2
            new = objective.at(point.W + size * direction)
        if new.value > point.value:
            break
        decrease, point = point.value - new.value, new
        if decrease < min_decrease:
            break
    return point


def _derivatives(
    evidence: FloatArray, proba: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The gradient and the Hessian of the summed log loss by weights and constants."""
    n_parts, n_classes = evidence.shape[1:]
    width = n_parts + n_classes
    gradient, hessian = np.zeros(width), np.zeros((width, width))
    for rows in _chunks(len(y), width * n_classes):
        p, w = proba[rows], weight[rows]
        ones = np.broadcast_to(np.eye(n_classes), (len(p), n_classes, n_classes))
        A = np.concatenate([evidence[rows].transpose(0, 2, 1), ones], axis=2)
        residual = p * w[:, None]
        mean = np.einsum("nk,nkj->nj", p, A)
        half = (A * np.sqrt(residual)[:, :, None]).reshape(-1, width)
        hessian += half.T @ half - (mean * w[:, None]).T @ mean
        residual[np.arange(len(p)), y[rows]] -= w
        gradient += np.tensordot(residual, A, ((0, 1), (0, 1)))
    return gradient, hessian


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    size = max(1, DERIVATIVE_CHUNK_NUMBERS // width)
    return (slice(start, start + size) for start in range(0, n_rows, size))
