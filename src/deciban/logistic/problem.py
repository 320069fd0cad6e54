"""The objective: value, gradient and second derivatives.

::

    f(W) = sum_i weight_i * loss(y_i, x_i W + offset_i) + prior.value(W)

where the loss is minus the log-probability of the truth: the softmax of the
scores, or for one score its logistic function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import logistic as kernel
from deciban.logistic.dense import Dense
from deciban.logistic.prior import Prior
from deciban.logistic.sparse import Sparse, in_turn
from deciban.logistic.split import Split

FloatArray = NDArray[np.float64]

#: A chunk of scores holds about this many numbers.
CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class Point:
    """Where a solver is: W, the objective, its gradient, and the probabilities of the rows."""

    W: FloatArray
    value: float
    gradient: FloatArray
    proba: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be minimised.

    >>> design = Dense(np.array([[-1.0], [1.0]]))
    >>> problem = Problem(design, np.array([0, 1]), Prior.l2(1.0, 1, 1))
    >>> float(problem.at(np.zeros((2, 1))).value / np.log(2))
    2.0
    """

    design: Dense | Sparse | Split
    y: NDArray[np.intp]
    prior: Prior
    weight: FloatArray | None = None
    offset: FloatArray | None = None
    run: Callable[..., Iterator[Any]] = field(default=in_turn)

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return int(self.prior.centre.shape[1])

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @cached_property
    def squares(self) -> FloatArray:
        """The weighted squares of each column, summed, (width, 1)."""
        weight = np.ones((len(self.y), 1)) if self.weight is None else self.weight[:, None]
        return self.design.squares(weight)

    @cached_property
    def scale(self) -> FloatArray:
        """How large a gradient counts as one, (width, 1): never less than a row's weight."""
        square = self.squares / max(self.total, np.finfo(float).tiny)
        return np.asarray(max(self.total, 1.0) * np.maximum(1.0, np.sqrt(square)))

    def at(self, W: FloatArray) -> Point:
        """The objective and its gradient at W."""
        scores = self.design.scores(W)
        if self.offset is not None:
            scores += self.offset
        out = np.empty_like(scores)

        def work(part: slice) -> float:
            weight = None if self.weight is None else self.weight[part]
            return kernel.residuals(scores[part], self.y[part], weight, out[part])

        loss = sum(self.run(work, self._chunks()))
        gradient = self.design.transposed(out) + self.prior.gradient(W)
        return Point(W, float(loss + self.prior.value(W)), gradient, scores)

    def product(self, point: Point, V: FloatArray) -> FloatArray:
        """The Hessian times V."""
        change = self.design.scores(V)

        def work(part: slice) -> None:
            weight = None if self.weight is None else self.weight[part]
            kernel.hessian_product(point.proba[part], weight, change[part])

        list(self.run(work, self._chunks()))
        return self.design.transposed(change) + self.prior.times(V)

    def hessian(self, point: Point) -> FloatArray:
        """The matrix of second derivatives over W's coefficients in C order."""
        out = self.design.hessian(point.proba, self.weight)
        if self.prior.full:
            return np.asarray(out + self.prior.precision)
        np.einsum("ii->i", out)[:] += self.prior.precision.ravel()
        return out

    def diagonal(self, point: Point) -> FloatArray:
        """The second derivative by each coefficient alone."""
        curvature = point.proba * (1 - point.proba)
        if self.weight is not None:
            curvature *= self.weight[:, None]
        return self.design.squares(curvature) + self.prior.diagonal()

    def steepness(self, point: Point) -> float:
        """The largest derivative, in units of :attr:`scale`."""
        return float(np.max(np.abs(point.gradient) / self.scale, initial=0.0))

    def rows(self, at: NDArray[np.intp], weight: FloatArray) -> Problem:
        """The problem of some rows with other weights."""
        offset = None if self.offset is None else np.ascontiguousarray(self.offset[at])
        some = self.design.rows(at)
        return Problem(some, self.y[at], self.prior, weight, offset, self.run)

    def separated(self, point: Point) -> bool:
        """Whether every row that counts is on its own side: the truth the likeliest by far."""
        p = point.proba
        truth = (
            p[np.arange(len(p)), self.y]
            if self.n_scores > 1
            else np.where(self.y == 1, p[:, 0], 1 - p[:, 0])
        )
        counts = slice(None) if self.weight is None else self.weight > 0
        return bool(np.all(truth[counts] > 0.5))

    def _chunks(self) -> list[slice]:
        rows = max(1, CHUNK // self.n_scores)
        return [slice(at, at + rows) for at in range(0, len(self.y), rows)]
