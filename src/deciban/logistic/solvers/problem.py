"""The objective of a penalised logistic regression: value, gradient and second derivatives.

::

    f(W) = sum_i weight_i * loss(y_i, x_i W + offset_i) + prior.value(W)

where the loss is minus the log-probability of the true class. Shapes and symbols are those of
:mod:`deciban.logistic.solvers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import logistic as kernel
from deciban.logistic.solvers.design import Design, Run, in_turn
from deciban.logistic.solvers.prior import Prior

FloatArray = NDArray[np.float64]

#: A chunk of logits holds about this many numbers.
CHUNK_LOGITS = 1 << 17


@dataclass(frozen=True, eq=False)
class LogisticPoint:
    """Coefficients, the objective there, its gradient, and the probabilities of the rows."""

    W: FloatArray
    value: float
    gradient: FloatArray
    proba: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their classes, weights and offsets, and the prior of the coefficients.

    >>> from deciban.logistic.solvers.dense import Dense
    >>> design = Dense(np.array([[-1.0], [1.0]]))
    >>> problem = Problem(design, np.array([0, 1]), Prior.l2(1.0, 1, 1))
    >>> float(problem.at(np.zeros((2, 1))).value / np.log(2))
    2.0
    """

    design: Design
    y: NDArray[np.intp]
    prior: Prior
    weight: FloatArray | None = None
    offset: FloatArray | None = None
    run: Run = in_turn

    @property
    def n_logits(self) -> int:
        """How many logits a row has."""
        return int(self.prior.centre.shape[1])

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @cached_property
    def squares(self) -> FloatArray:
        """The weighted squares of each column, summed, (width, 1)."""
        weight = np.ones((len(self.y), 1)) if self.weight is None else self.weight[:, None]
        return self.design.squared_transposed_product(weight)

    @cached_property
    def scale(self) -> FloatArray:
        """How large a derivative counts as one, (width, 1): never less than a row's weight."""
        square = self.squares / max(self.total, np.finfo(float).tiny)
        return np.asarray(max(self.total, 1.0) * np.maximum(1.0, np.sqrt(square)))

    def at(self, W: FloatArray) -> LogisticPoint:
        """The objective and its gradient at W."""
        logits = self.design.product(W)
        if self.offset is not None:
            logits += self.offset
        residual = np.empty_like(logits)

        def work(rows: slice) -> float:
            weight = None if self.weight is None else self.weight[rows]
            return kernel.residuals(logits[rows], self.y[rows], weight, residual[rows])

        loss = sum(self.run(work, self._chunks()))
        gradient = self.design.transposed_product(residual) + self.prior.gradient(W)
        proba = logits  # the kernel has turned them into probabilities
        return LogisticPoint(W, float(loss + self.prior.value(W)), gradient, proba)

    def hessian_product(self, point: LogisticPoint, V: FloatArray) -> FloatArray:
        """The Hessian times V, of the shape of W."""
        change = self.design.product(V)

        def work(rows: slice) -> None:
            weight = None if self.weight is None else self.weight[rows]
            kernel.hessian_product(point.proba[rows], weight, change[rows])

        list(self.run(work, self._chunks()))
        return self.design.transposed_product(change) + self.prior.product(V)

    def hessian(self, point: LogisticPoint) -> FloatArray:
        """The matrix of second derivatives over W's coefficients in C order."""
        out = self.design.hessian(point.proba, self.weight)
        if self.prior.full:
            return np.asarray(out + self.prior.precision)
        np.einsum("ii->i", out)[:] += self.prior.precision.ravel()
        return out

    def hessian_diagonal(self, point: LogisticPoint) -> FloatArray:
        """The second derivative by each coefficient alone, of the shape of W."""
        curvature = point.proba * (1 - point.proba)
        if self.weight is not None:
            curvature *= self.weight[:, None]
        return self.design.squared_transposed_product(curvature) + self.prior.diagonal()

    def steepness(self, point: LogisticPoint) -> float:
        """The largest derivative, in units of :attr:`scale`."""
        return float(np.max(np.abs(point.gradient) / self.scale, initial=0.0))

    def take(self, rows: NDArray[np.intp], weight: FloatArray) -> Problem:
        """The problem of some rows with other weights."""
        offset = None if self.offset is None else np.ascontiguousarray(self.offset[rows])
        design = self.design.take(rows)
        return Problem(design, self.y[rows], self.prior, weight, offset, self.run)

    def separates(self, point: LogisticPoint) -> bool:
        """Whether every row of some weight has its true class at more than a half."""
        p = point.proba
        truth = (
            p[np.arange(len(p)), self.y]
            if self.n_logits > 1
            else np.where(self.y == 1, p[:, 0], 1 - p[:, 0])
        )
        counted = slice(None) if self.weight is None else self.weight > 0
        return bool(np.all(truth[counted] > 0.5))

    def _chunks(self) -> list[slice]:
        rows = max(1, CHUNK_LOGITS // self.n_logits)
        return [slice(start, start + rows) for start in range(0, len(self.y), rows)]
