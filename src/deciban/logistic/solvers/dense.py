"""A design matrix of numbers: BLAS does the work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.hessian_blocks import assemble, pair_weights

FloatArray = NDArray[np.float64]

#: A chunk of rows makes temporary arrays of about this many numbers: 8 MB.
CHUNK_NUMBERS = 1 << 20


@dataclass(frozen=True, eq=False)
class Dense:
    """Rows of numbers, with or without a constant one at their end.

    >>> design = Dense(np.array([[1.0, 2.0]]), intercept=True)
    >>> design.product(np.array([[1.0], [1.0], [5.0]]))
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
        """How many coefficients a logit has."""
        return int(self.X.shape[1]) + self.intercept

    def product(self, W: FloatArray) -> FloatArray:
        """``X W``."""
        d = self.X.shape[1]
        out = self.X @ W[:d]
        if self.intercept:
            out += W[d]
        return np.ascontiguousarray(out)

    def transposed_product(self, V: FloatArray) -> FloatArray:
        """``X' V``."""
        out = np.empty((self.width, V.shape[1]))
        np.matmul(self.X.T, V, out=out[: self.X.shape[1]])
        if self.intercept:
            out[-1] = np.ones(len(V)) @ V  # V.sum(axis=0) is slow where rows are short
        return out

    def squared_product(self, U: FloatArray) -> FloatArray:
        """``(X * X) U``."""
        d = self.X.shape[1]
        out = np.concatenate([(self.X[rows] ** 2) @ U[:d] for rows in self._chunks(self.width)])
        return out + U[d] if self.intercept else out

    def squared_transposed_product(self, V: FloatArray) -> FloatArray:
        """``(X * X)' V``."""
        out = np.zeros((self.width, V.shape[1]))
        for rows in self._chunks(self.width):
            out[: self.X.shape[1]] += (self.X[rows] ** 2).T @ V[rows]
        if self.intercept:
            out[-1] = V.sum(axis=0)
        return out

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') (x) x_i x_i'``, a square over W in C order."""
        m, width = proba.shape[1], self.width
        blocks = np.zeros((m * (m + 1) // 2, width, width))
        for rows in self._chunks(width if m == 1 else width * (width // 2)):
            some = None if weight is None else weight[rows]
            blocks += weighted_grams(self._with_ones(rows), pair_weights(proba[rows], some))
        return assemble(blocks, m)

    def take(self, rows: NDArray[np.intp]) -> Dense:
        """Some of the rows."""
        return Dense(self.X[rows], self.intercept)

    def _chunks(self, numbers_per_row: int) -> list[slice]:
        rows = max(1, CHUNK_NUMBERS // max(1, numbers_per_row))
        return [slice(start, start + rows) for start in range(0, self.n_rows, rows)]

    def _with_ones(self, rows: slice) -> FloatArray:
        X = self.X[rows]
        return np.column_stack([X, np.ones(len(X))]) if self.intercept else X


def weighted_grams(X: FloatArray, weights: FloatArray) -> FloatArray:
    """``X' diag(a) X`` for every column a of the weights, (weights, columns, columns).

    One weight is a product of two matrices; of several, each row's products of
    two columns are made once and weighted by all of them in another.

    >>> weighted_grams(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))[0]
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
