"""A matrix of numbers and its products: BLAS does the work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers import pairs

FloatArray = NDArray[np.float64]

#: A chunk of the Hessian's factor holds about this many numbers: 8 MB.
CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Dense:
    """Rows of numbers, with or without a constant one at their end.

    >>> design = Dense(np.array([[1.0, 2.0]]), intercept=True)
    >>> design.scores(np.array([[1.0], [1.0], [5.0]]))
    array([[8.]])
    """

    X: FloatArray
    intercept: bool = True

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """How many coefficients a score has."""
        return int(self.X.shape[1]) + self.intercept

    def scores(self, W: FloatArray) -> FloatArray:
        """The matrix times W."""
        d = self.X.shape[1]
        out = self.X @ W[:d]
        if self.intercept:
            out += W[d]
        return np.ascontiguousarray(out)

    def transposed(self, R: FloatArray) -> FloatArray:
        """The transposed matrix times R."""
        out = np.empty((self.width, R.shape[1]))
        np.matmul(self.X.T, R, out=out[: self.X.shape[1]])
        if self.intercept:
            out[-1] = R.sum(axis=0)
        return out

    def squares(self, V: FloatArray) -> FloatArray:
        """The transposed matrix of squares times V."""
        out = np.zeros((self.width, V.shape[1]))
        for part in self._chunks(1):
            some = self.X[part]
            out[: self.X.shape[1]] += (some * some).T @ V[part]
        if self.intercept:
            out[-1] = V.sum(axis=0)
        return out

    def shares(self, unit: FloatArray) -> FloatArray:
        """The matrix of squares times one number a coefficient."""
        d = self.X.shape[1]
        out = np.concatenate([(self.X[p] ** 2) @ unit[:d] for p in self._chunks(1)])
        return out + unit[d] if self.intercept else out

    def rows(self, at: NDArray[np.intp]) -> Dense:
        """Some of the rows."""
        return Dense(self.X[at], self.intercept)

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') x x_i x_i'``, a square over (width, m)."""
        m, size = proba.shape[1], self.width
        chunks = self._chunks(1 if m == 1 else size // 2)
        blocks = np.zeros((m * (m + 1) // 2, size, size))
        for part in chunks:
            some = None if weight is None else weight[part]
            blocks += grams(self._with_ones(part), pairs.weights(proba[part], some))
        return pairs.assembled(blocks, m)

    def _chunks(self, m: int) -> list[slice]:
        rows = max(1, CHUNK // max(1, self.width * m))
        return [slice(start, start + rows) for start in range(0, self.n_rows, rows)]

    def _with_ones(self, part: slice) -> FloatArray:
        rows = self.X[part]
        return np.column_stack([rows, np.ones(len(rows))]) if self.intercept else rows


def grams(X: FloatArray, weights: FloatArray) -> FloatArray:
    """``X' diag(a) X`` for every column a of the weights, (weights, columns, columns).

    One weight is a product of two matrices; of several, each row's products of
    two columns are made once and weighted by all of them in another.

    >>> grams(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))[0]
    array([[ 3.,  6.],
           [ 6., 12.]])
    """
    size, n = X.shape[1], weights.shape[1]
    if n == 1:
        return np.asarray(((X * weights).T @ X)[None])
    i, j = np.triu_indices(size)
    out = np.empty((n, size, size))
    out[:, i, j] = weights.T @ (X.take(i, axis=1) * X.take(j, axis=1))
    out[:, j, i] = out[:, i, j]
    return out
