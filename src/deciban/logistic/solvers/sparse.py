"""A sparse design matrix, by compiled loops that threads share.

Products go row by row where there are few coefficients, which are read or written
at random and stay in the cache; else column by column, so that it is vectors over
the rows that stay there however many columns there are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from deciban.kernels import products as kernel
from deciban.logistic.solvers.conjugate_gradient import Operator
from deciban.logistic.solvers.hessian_blocks import assemble, pair_weights
from deciban.logistic.solvers.problem import Run, in_turn

FloatArray = NDArray[np.float64]
#: A range of rows or columns: the first, and the one after the last.
Range = tuple[int, int]
#: Positions of 32 or 64 bits.
Positions = NDArray[np.integer[Any]]
#: Stored values (None: all are one), their columns or rows, and where each row or column starts.
Held = tuple[FloatArray | None, Positions, Positions]

#: The rows in single precision: values, their columns, and where each row starts.
SingleRows = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]

#: A part of the work holds at least this many stored values.
MIN_PART_VALUES = 1 << 18
#: No product is cut into more parts: each has a result of its own to add.
MAX_PARTS = 8
#: Up to so many coefficients, products go row by row.
MAX_ROWWISE_COEFFICIENTS = 4_096


@dataclass(frozen=True, eq=False)
class Sparse:
    """A CSR matrix, with or without a constant one at the end of its rows.

    >>> design = Sparse(csr_array([[0.0, 2.0]]), intercept=True)
    >>> design.product(np.array([[1.0], [1.0], [5.0]]))
    array([[7.]])
    """

    X: csr_array
    intercept: bool = True
    run: Run = in_turn

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """How many coefficients a logit has."""
        return int(self.X.shape[1]) + self.intercept

    @cached_property
    def all_ones(self) -> bool:
        """Whether all stored values are one, so that they need not be read."""
        return bool(np.all(self.X.data == 1.0))

    @cached_property
    def by_column(self) -> csc_array:
        """The matrix in CSC format."""
        return csc_array(self.X)

    @cached_property
    def single_rows(self) -> SingleRows:
        """The matrix in single precision."""
        X = self.X
        columns = X.indices.astype(np.int32, copy=False)
        return X.data.astype(np.float32), columns, X.indptr.astype(np.int64, copy=False)

    # ------------------------------------------------------------------ products

    def product(self, W: FloatArray) -> FloatArray:
        """``X W``."""
        W = np.ascontiguousarray(W)
        if W.size <= MAX_ROWWISE_COEFFICIENTS:
            return self._product_by_rows(W)

        def work(columns: Range) -> FloatArray:
            out = np.zeros((self.n_rows, W.shape[1]))
            kernel.add_product_csc(*self._held(self.by_column), W, *columns, out)
            return out

        total, *others = self.run(work, self._column_ranges)
        for other in others:
            total += other
        if self.intercept:
            total += W[-1]
        return total

    def transposed_product(self, V: FloatArray) -> FloatArray:
        """``X' V``."""
        return self._transposed_product(V, squares=False)

    def squared_product(self, U: FloatArray) -> FloatArray:
        """``(X * X) U``."""
        d = self.X.shape[1]
        squares = self.X if self.all_ones else self.X.power(2)
        out = np.asarray(squares @ U[:d])
        return out + U[d] if self.intercept else out

    def squared_transposed_product(self, V: FloatArray) -> FloatArray:
        """``(X * X)' V``."""
        return self._transposed_product(V, squares=True)

    def kernel_product(self, unit: FloatArray) -> Operator:
        """``K_k = X diag(unit_k) X'`` of each logit k as a function of V, (n, m): ``K_k v_k``.

        The intercept is left out. A column with a value in one row alone is a
        number on the diagonal.
        """
        lengths = np.diff(self.by_column.indptr)
        shared = lengths > 1
        alone = np.zeros((self.width, unit.shape[1]))
        alone[: len(shared)] = np.where(shared[:, None], 0.0, unit[: len(shared)])
        diagonal = self.squared_product(alone)
        # Sorted by length, so that the processor guesses right where a column ends.
        order = np.argsort(lengths, kind="stable")[int(np.sum(~shared)) :]
        held = self._held(_select_columns(self.by_column, order, lengths))
        some, ranges = np.ascontiguousarray(unit[order]), _even_ranges(held[2])

        def product(V: FloatArray) -> FloatArray:
            def work(columns: Range) -> FloatArray:
                out = np.zeros_like(V)
                kernel.add_gram_product_csc(*held, some, V, *columns, out)
                return out

            return np.asarray(sum(self.run(work, ranges), diagonal * V))

        return product

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') (x) x_i x_i'``, a square over W in C order."""
        weights = pair_weights(proba, weight).T
        return assemble(np.array([self._weighted_gram(a) for a in weights]), proba.shape[1])

    def take(self, rows: NDArray[np.intp]) -> Sparse:
        """Some of the rows."""
        return Sparse(self.X[rows], self.intercept, self.run)

    # ------------------------------------------------------------------ inside

    def _weighted_gram(self, weight: FloatArray) -> FloatArray:
        """``X' diag(weight) X``, (width, width)."""
        weight = np.ascontiguousarray(weight)

        def work(rows: Range) -> FloatArray:
            out = np.zeros((self.X.shape[1] + 1, self.X.shape[1] + 1))
            kernel.add_gram_csr(*self._held(self.X), weight, *rows, out)
            return out

        total = np.asarray(sum(self.run(work, self._row_ranges)))
        total += np.triu(total, 1).T
        return total if self.intercept else np.ascontiguousarray(total[:-1, :-1])

    def _product_by_rows(self, W: FloatArray) -> FloatArray:
        with_constant = W if self.intercept else np.vstack([W, np.zeros(W.shape[1])])
        out = np.zeros((self.n_rows, W.shape[1]))

        def work(rows: Range) -> None:
            kernel.add_product_csr(*self._held_rows(rows), with_constant, out[slice(*rows)])

        list(self.run(work, self._row_ranges))
        return out

    def _transposed_product(self, V: FloatArray, *, squares: bool) -> FloatArray:
        V = np.ascontiguousarray(V)
        if self.width * V.shape[1] <= MAX_ROWWISE_COEFFICIENTS:
            return self._transposed_product_by_rows(V, squares=squares)
        out = np.empty((self.width, V.shape[1]))

        def work(columns: Range) -> None:
            kernel.transposed_product_csc(*self._held(self.by_column), V, *columns, out, squares)

        list(self.run(work, self._column_ranges))
        if self.intercept:
            out[-1] = V.sum(axis=0)
        return out

    def _transposed_product_by_rows(self, V: FloatArray, *, squares: bool) -> FloatArray:
        def work(rows: Range) -> FloatArray:
            out = np.zeros((self.X.shape[1] + 1, V.shape[1]))
            kernel.add_transposed_product_csr(*self._held_rows(rows), V[slice(*rows)], out, squares)
            return out

        total = np.asarray(sum(self.run(work, self._row_ranges)))
        return total if self.intercept else np.ascontiguousarray(total[:-1])

    @cached_property
    def _row_ranges(self) -> list[Range]:
        return _even_ranges(self.X.indptr)

    @cached_property
    def _column_ranges(self) -> list[Range]:
        return _even_ranges(self.by_column.indptr)

    def _held(self, X: csr_array | csc_array) -> Held:
        return None if self.all_ones else X.data, X.indices, X.indptr

    def _held_rows(self, rows: Range) -> Held:
        data, indices, starts = self._held(self.X)
        return data, indices, starts[rows[0] : rows[1] + 1]


def _select_columns(X: csc_array, order: NDArray[np.intp], lengths: Positions) -> csc_array:
    """Columns of a CSC matrix, in that order."""
    starts = np.concatenate([[0], np.cumsum(lengths[order])])
    at = np.arange(starts[-1]) + np.repeat(X.indptr[order] - starts[:-1], lengths[order])
    arrays = X.data[at], X.indices[at], starts.astype(X.indptr.dtype)
    return csc_array(arrays, shape=(X.shape[0], len(order)))


def _even_ranges(starts: Positions) -> list[Range]:
    """Ranges of rows or columns with about the same number of stored values.

    >>> _even_ranges(np.array([0, 3, 6])), len(_even_ranges(np.arange(0, 1 << 24, 256)))
    ([(0, 2)], 8)
    """
    n = max(1, min(MAX_PARTS, int(starts[-1]) // MIN_PART_VALUES))
    inner = np.linspace(0, starts[-1], n + 1)[1:-1].astype(starts.dtype)
    cuts = np.searchsorted(starts, inner).tolist()
    cuts = [0, *cuts, len(starts) - 1]
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b] or [(0, 0)]
