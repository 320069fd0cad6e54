"""A dense design matrix with columns of two values: those are marked where the rarer one stands.

``x = common + gap * mark``, so a product with such a column is one with its
marks, few and all one, and a share of a constant. One-hot columns stay what
they are even after someone has scaled them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban.kernels import marks as kernel
from deciban.kernels import products
from deciban.logistic.solvers.dense import Dense, weighted_grams
from deciban.logistic.solvers.hessian_blocks import assemble, pair_weights
from deciban.logistic.solvers.problem import Run, in_turn
from deciban.logistic.solvers.sparse import Positions

FloatArray = NDArray[np.float64]

#: Fewer rows are not worth looking at.
MIN_ROWS = 2_000
#: The numbers and marks of a row must be at most this share of the columns.
MAX_HELD_SHARE = 0.5
#: Products are made in so many parts, a Hessian by chunks of so many rows.
N_PARTS = 8
CHUNK_ROWS = 2_048


def design(X: FloatArray, intercept: bool = True, run: Run = in_turn) -> Dense | TwoValued:
    """The matrix with its two-valued columns marked if that makes it much smaller, else as it is.

    >>> type(design(np.eye(3))).__name__
    'Dense'
    """
    n, d = X.shape
    if n < MIN_ROWS:
        return Dense(X, intercept)
    values, times = np.empty((d, 2)), np.empty((d, 2), dtype=np.intp)
    kernel.find_two_values(X, values, times)
    two = times.sum(axis=1) == n
    n_marks = int(times[two].min(axis=1).sum())
    if np.sum(~two) + n_marks / n > MAX_HELD_SHARE * d or n_marks > np.iinfo(np.int32).max:
        return Dense(X, intercept)
    common = np.where(times[:, 0] >= times[:, 1], values[:, 0], values[:, 1])
    gap = (values.sum(axis=1) - 2 * common)[two]
    marked, rest = np.flatnonzero(two), np.flatnonzero(~two)
    marks = _mark(X, marked, common[two], n_marks)
    numbers = Dense(np.ascontiguousarray(X[:, rest]), False)
    return TwoValued(numbers, marks, rest, marked, common[two], gap, intercept, run)


def _mark(X: FloatArray, columns: NDArray[np.intp], common: FloatArray, n_marks: int) -> csr_array:
    """A CSR matrix of ones where columns differ from their common value."""
    indices = np.empty(n_marks, dtype=np.int32)
    starts = np.empty(len(X) + 1, dtype=np.int32)
    kernel.mark_rare(X, columns, common, indices, starts)
    return csr_array((np.ones(n_marks), indices, starts), shape=(len(X), len(columns)))


@dataclass(frozen=True, eq=False)
class TwoValued:
    """Numbers, marks, and where in the matrix each of their columns stands.

    >>> X = np.array([[0.5, 3.0], [0.25, 3.0], [0.75, 7.0]])
    >>> marks = csr_array([[0.0], [0.0], [1.0]])
    >>> where = (np.array([0]), np.array([1]), np.array([3.0]), np.array([4.0]))
    >>> held = TwoValued(Dense(X[:, :1], False), marks, *where)
    >>> held.product(np.array([[0.0], [1.0], [0.0]])).ravel()
    array([3., 3., 7.])
    """

    numbers: Dense
    marks: csr_array
    at_numbers: NDArray[np.intp]
    at_marks: NDArray[np.intp]
    common: FloatArray
    gap: FloatArray
    intercept: bool = True
    run: Run = in_turn

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.numbers.n_rows

    @property
    def width(self) -> int:
        """How many coefficients a logit has."""
        return len(self.at_numbers) + len(self.at_marks) + self.intercept

    # ------------------------------------------------------------------ products

    def product(self, W: FloatArray) -> FloatArray:
        """``X W``."""
        return self._add_marks(self.numbers.product(W[self.at_numbers]), W, self.common, self.gap)

    def transposed_product(self, V: FloatArray) -> FloatArray:
        """``X' V``."""
        sums = self.numbers.transposed_product(V)
        return self._with_marks(sums, V, self.common, self.gap)

    def squared_product(self, U: FloatArray) -> FloatArray:
        """``(X * X) U``."""
        sums = self.numbers.squared_product(U[self.at_numbers])
        return self._add_marks(sums, U, *self._squared_values())

    def squared_transposed_product(self, V: FloatArray) -> FloatArray:
        """``(X * X)' V``."""
        sums = self.numbers.squared_transposed_product(V)
        return self._with_marks(sums, V, *self._squared_values())

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') (x) x_i x_i'``, a square over W in C order."""

        def work(rows: slice) -> FloatArray:
            return self._held_blocks(rows, proba, weight)

        total = np.asarray(sum(self.run(work, self._row_parts())))
        map_ = self._column_map()
        return assemble(np.asarray(map_.T @ total @ map_), proba.shape[1])

    def take(self, rows: NDArray[np.intp]) -> TwoValued:
        """Some of the rows."""
        where = self.at_numbers, self.at_marks, self.common, self.gap
        numbers, marks = self.numbers.take(rows), self.marks[rows]
        return TwoValued(numbers, marks, *where, self.intercept, self.run)

    # ------------------------------------------------------------------ inside

    def _held_blocks(self, rows: slice, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """Blocks of the Hessian over the numbers, a constant one, and the marks.

        (pairs, e + s, e + s), for e numbers with the one and s marked columns.
        """
        n_pairs = proba.shape[1] * (proba.shape[1] + 1) // 2
        e, s = len(self.at_numbers) + 1, len(self.at_marks)
        out = np.zeros((n_pairs, e + s, e + s))
        mixed, both = np.zeros((s, n_pairs, e)), np.zeros((s, s, n_pairs))
        for start in range(rows.start, rows.stop, CHUNK_ROWS):
            part = slice(start, min(start + CHUNK_ROWS, rows.stop))
            numbers = np.column_stack([self.numbers.X[part], np.ones(part.stop - start)])
            weights = pair_weights(proba[part], None if weight is None else weight[part])
            out[:, :e, :e] += weighted_grams(numbers, weights)
            kernel.add_cross_products(*self._held_marks(part), numbers, weights, mixed, both)
        out[:, e:, :e] = mixed.transpose(1, 0, 2)
        out[:, :e, e:] = mixed.transpose(1, 2, 0)
        upper = both.transpose(2, 0, 1)
        out[:, e:, e:] = upper + np.triu(upper, 1).transpose(0, 2, 1)
        return out

    def _column_map(self) -> FloatArray:
        """How numbers, one and marks make up the columns of X, (held columns, width)."""
        e, s = len(self.at_numbers), len(self.at_marks)
        out = np.zeros((e + 1 + s, self.width))
        out[np.arange(e), self.at_numbers] = 1.0
        out[e, self.at_marks] = self.common
        out[e + 1 + np.arange(s), self.at_marks] = self.gap
        if self.intercept:
            out[e, -1] = 1.0
        return out

    def _add_marks(
        self, out: FloatArray, W: FloatArray, common: FloatArray, gap: FloatArray
    ) -> FloatArray:
        """Add the products of two-valued columns and of the intercept, (n, m), in place."""
        of_marks = W[self.at_marks]
        constant = common @ of_marks + (W[-1] if self.intercept else 0.0)
        with_constant = np.vstack([gap[:, None] * of_marks, constant])

        def work(rows: slice) -> None:
            products.add_product_csr(None, *self._held_marks(rows), with_constant, out[rows])

        list(self.run(work, self._row_parts()))
        return out

    def _with_marks(
        self, numbers: FloatArray, V: FloatArray, common: FloatArray, gap: FloatArray
    ) -> FloatArray:
        """Transposed products of all columns, (width, m), from those of the numbers."""
        V = np.ascontiguousarray(V)

        def work(rows: slice) -> FloatArray:
            sums = np.zeros((len(self.at_marks) + 1, V.shape[1]))
            products.add_transposed_product_csr(None, *self._held_marks(rows), V[rows], sums, False)
            return sums

        marks = np.asarray(sum(self.run(work, self._row_parts())))
        out = np.empty((self.width, V.shape[1]))
        out[self.at_numbers] = numbers
        out[self.at_marks] = gap[:, None] * marks[:-1] + common[:, None] * marks[-1]
        if self.intercept:
            out[-1] = marks[-1]
        return out

    def _row_parts(self) -> list[slice]:
        cuts = np.linspace(0, self.n_rows, N_PARTS + 1).astype(int)
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(cuts)]

    def _held_marks(self, rows: slice) -> tuple[Positions, Positions]:
        return self.marks.indices, self.marks.indptr[rows.start : rows.stop + 1]

    def _squared_values(self) -> tuple[FloatArray, FloatArray]:
        """Common value and gap of the squares."""
        return self.common**2, self.gap * (self.gap + 2 * self.common)
