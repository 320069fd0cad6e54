"""The objective of a penalised logistic regression: value, gradient and second derivatives.

::

    f(W) = sum_i weight_i * loss(y_i, x_i W + offset_i) + prior.value(W)

where the loss is minus the log-probability of the true class. Of the rows it asks for products
with the design matrix alone, X with its column of ones if there is an intercept; the penalty is
what it is, the precision of a Gaussian prior. Shapes and symbols are those of
:mod:`deciban.logistic.solvers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import InputError
from deciban.kernels import logistic as kernel

FloatArray = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")


def too_large() -> InputError:
    """The error about values of which the Hessian is no number."""
    return InputError(
        "the squares of the values do not fit a float.",
        hint="scale the columns, for example with StandardScaler",
    )


class Run(Protocol):
    """A way to do work on parts, such as :func:`deciban.threads.run`: results in order."""

    def __call__(self, work: Callable[[T], R], parts: Iterable[T], /) -> Iterator[R]:
        """The result of each part."""


def in_turn(work: Callable[[T], R], parts: Iterable[T]) -> Iterator[R]:
    """One part after the other: how parts run unless a caller has threads."""
    return map(work, parts)


class Design(Protocol):
    """n rows of numbers, however they are held."""

    @property
    def intercept(self) -> bool:
        """Whether a column of ones stands behind the others."""

    @property
    def n_rows(self) -> int:
        """N."""

    @property
    def width(self) -> int:
        """The columns, that of ones included: the coefficients of one logit."""

    def product(self, W: FloatArray) -> FloatArray:
        """``X W``, (n, m)."""

    def transposed_product(self, V: FloatArray) -> FloatArray:
        """``X' V``, (width, m), for V (n, m)."""

    def squared_product(self, U: FloatArray) -> FloatArray:
        """``(X * X) U``, (n, m), for U (width, m)."""

    def squared_transposed_product(self, V: FloatArray) -> FloatArray:
        """``(X * X)' V``, (width, m), for V (n, m)."""

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') (x) x_i x_i'``, a square over W in C order."""

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some of the rows."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Centre C, (width, m), and precision L: of the same shape, or a matrix of its size.

    ``lam / 2 |w|**2`` is minus the logarithm of a normal density of variance ``1 / lam`` around
    zero. In general the centre is any W and the precision one number a coefficient, or a full
    matrix: what a posterior leaves behind.

    >>> Prior.l2(2.0, n_columns=1, n_logits=1).value(np.array([[3.0], [5.0]]))
    9.0
    """

    centre: FloatArray
    precision: FloatArray

    @classmethod
    def l2(
        cls,
        penalty: ArrayLike,
        n_columns: int,
        n_logits: int,
        *,
        centre: ArrayLike = 0.0,
        intercept: bool = True,
    ) -> Prior:
        """One penalty for all columns, or one for each; the intercept is free.

        >>> Prior.l2([1.0, 4.0], 2, 1, centre=[[0.5], [0.0]]).precision.ravel()
        array([1., 4., 0.])
        """
        width = n_columns + intercept
        precision, centres = np.zeros((width, n_logits)), np.zeros((width, n_logits))
        lam = np.asarray(penalty, dtype=np.float64)
        precision[:n_columns] = lam[:, None] if lam.ndim == 1 else lam
        centres[:n_columns] = centre
        return cls(centres, precision)

    @property
    def full(self) -> bool:
        """Whether the precision is a matrix."""
        return self.precision.shape != self.centre.shape

    def product(self, V: FloatArray) -> FloatArray:
        """``L V``, of the shape of V."""
        if self.full:
            return np.asarray((self.precision @ V.ravel()).reshape(V.shape))
        return self.precision * V

    def value(self, W: FloatArray) -> float:
        """``1/2 <W - C, L (W - C)>``: half the squared distance from the centre."""
        deviation = W - self.centre
        return float(0.5 * np.vdot(deviation, self.product(deviation)))

    def gradient(self, W: FloatArray) -> FloatArray:
        """``L (W - C)``, of the shape of W."""
        return self.product(W - self.centre)

    def diagonal(self) -> FloatArray:
        """The precision of every coefficient by itself."""
        if self.full:
            return np.diagonal(self.precision).reshape(self.centre.shape)
        return self.precision

    def matrix(self) -> FloatArray:
        """The precision as a matrix."""
        return self.precision if self.full else np.diag(self.precision.ravel())


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
