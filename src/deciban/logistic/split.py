"""A dense matrix with columns of two values: those are marked where the rarer one stands.

``x = common + gap * mark``, so a product with such a column is one with its
marks, few and all one, and a share of a constant. One-hot columns stay what
they are even after someone has scaled them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban.kernels import marks as kernel
from deciban.kernels import products
from deciban.logistic import pairs
from deciban.logistic.dense import Dense, grams
from deciban.logistic.sparse import in_turn

FloatArray = NDArray[np.float64]

#: Fewer rows are not worth looking at.
LEAST_ROWS = 2_000
#: The numbers and marks of a row must be at most this share of the columns.
SHARE = 0.5
#: The Hessian is made in so many parts, each by chunks of so many rows.
PARTS = 8
CHUNK = 2_048


def design(
    X: FloatArray, intercept: bool = True, run: Callable[..., Iterator[Any]] = in_turn
) -> Dense | Split:
    """The matrix split if that makes it much smaller, else as it is.

    >>> type(design(np.eye(3))).__name__
    'Dense'
    """
    n, d = X.shape
    if n < LEAST_ROWS:
        return Dense(X, intercept)
    values, times = np.empty((d, 2)), np.empty((d, 2), dtype=np.intp)
    kernel.find_two_values(X, values, times)
    two = times.sum(axis=1) == n
    n_marks = int(times[two].min(axis=1).sum())
    if np.sum(~two) + n_marks / n > SHARE * d or n_marks > np.iinfo(np.int32).max:
        return Dense(X, intercept)
    common = np.where(times[:, 0] >= times[:, 1], values[:, 0], values[:, 1])
    gap = values.sum(axis=1) - 2 * common
    at = np.flatnonzero(two)
    indices = np.empty(n_marks, dtype=np.int32)
    starts = np.empty(n + 1, dtype=np.int32)
    kernel.mark_rare(X, at, common[two], indices, starts)
    marks = csr_array((np.ones(len(indices)), indices, starts), shape=(n, len(at)))
    rest = np.flatnonzero(~two)
    numbers = Dense(np.ascontiguousarray(X[:, rest]), False)
    return Split(numbers, marks, rest, at, common[two], gap[two], intercept, run)


@dataclass(frozen=True, eq=False)
class Split:
    """Numbers, marks, and where in the matrix each of their columns stands.

    >>> X = np.array([[0.5, 3.0], [0.25, 3.0], [0.75, 7.0]])
    >>> marks = csr_array([[0.0], [0.0], [1.0]])
    >>> two = (np.array([0]), np.array([1]), np.array([3.0]), np.array([4.0]))
    >>> Split(Dense(X[:, :1], False), marks, *two).scores(np.array([[0.0], [1.0], [0.0]])).ravel()
    array([3., 3., 7.])
    """

    numbers: Dense
    marks: Any
    at_numbers: NDArray[np.intp]
    at_marks: NDArray[np.intp]
    common: FloatArray
    gap: FloatArray
    intercept: bool = True
    run: Callable[..., Iterator[Any]] = in_turn

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.numbers.n_rows

    @property
    def width(self) -> int:
        """How many coefficients a score has."""
        return len(self.at_numbers) + len(self.at_marks) + self.intercept

    def scores(self, W: FloatArray) -> FloatArray:
        """The matrix times W."""
        return self._said(self.numbers.scores(W[self.at_numbers]), W, self.common, self.gap)

    def transposed(self, R: FloatArray) -> FloatArray:
        """The transposed matrix times R."""
        return self._gathered(self.numbers.transposed(R), R, self.common, self.gap)

    def squares(self, V: FloatArray) -> FloatArray:
        """The transposed matrix of squares times V."""
        return self._gathered(self.numbers.squares(V), V, *self._squared())

    def shares(self, unit: FloatArray) -> FloatArray:
        """The matrix of squares times one number a coefficient."""
        out = self.numbers.shares(unit[self.at_numbers])
        return self._said(out[:, None], unit[:, None], *self._squared())[:, 0]

    def rows(self, at: NDArray[np.intp]) -> Split:
        """Some of the rows."""
        where = self.at_numbers, self.at_marks, self.common, self.gap
        return Split(self.numbers.rows(at), self.marks[at], *where, self.intercept, self.run)

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') x x_i x_i'``, a square over (width, m)."""

        def work(part: slice) -> FloatArray:
            return self._blocks(part, proba, weight)

        total = np.asarray(sum(self.run(work, self._parts())))
        return pairs.assembled(self._outward(total), proba.shape[1])

    def _blocks(self, rows: slice, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """Products of numbers, a constant one, and marks: (pairs, inner width, inner width)."""
        n_pairs = proba.shape[1] * (proba.shape[1] + 1) // 2
        e, s = len(self.at_numbers) + 1, len(self.at_marks)
        out = np.zeros((n_pairs, e + s, e + s))
        mixed, both = np.zeros((s, n_pairs, e)), np.zeros((s, s, n_pairs))
        for start in range(rows.start, rows.stop, CHUNK):
            part = slice(start, min(start + CHUNK, rows.stop))
            numbers = np.column_stack([self.numbers.X[part], np.ones(part.stop - start)])
            curved = pairs.weights(proba[part], None if weight is None else weight[part])
            out[:, :e, :e] += grams(numbers, curved)
            kernel.add_cross_products(*self._held(part), numbers, curved, mixed, both)
        out[:, e:, :e] = mixed.transpose(1, 0, 2)
        out[:, :e, e:] = mixed.transpose(1, 2, 0)
        upper = both.transpose(2, 0, 1)
        out[:, e:, e:] = upper + np.triu(upper, 1).transpose(0, 2, 1)
        return out

    def _parts(self) -> list[slice]:
        cuts = np.linspace(0, self.n_rows, PARTS + 1).astype(int)
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(cuts)]

    def _outward(self, blocks: FloatArray) -> FloatArray:
        """From numbers, one and marks to the columns of the matrix."""
        e, s = len(self.at_numbers), len(self.at_marks)
        told = np.zeros((e + 1 + s, self.width))
        told[np.arange(e), self.at_numbers] = 1.0
        told[e, self.at_marks] = self.common
        told[e + 1 + np.arange(s), self.at_marks] = self.gap
        if self.intercept:
            told[e, -1] = 1.0
        return np.asarray(told.T @ blocks @ told)

    def _said(
        self, out: FloatArray, W: FloatArray, common: FloatArray, gap: FloatArray
    ) -> FloatArray:
        """Add what W says of two-valued columns and of the intercept."""
        of_marks = W[self.at_marks]
        constant = common @ of_marks + (W[-1] if self.intercept else 0.0)
        told = np.vstack([gap[:, None] * of_marks, constant])

        def work(part: slice) -> None:
            products.add_product_csr(None, *self._held(part), told, out[part])

        list(self.run(work, self._parts()))
        return out

    def _gathered(
        self, numbers: FloatArray, R: FloatArray, common: FloatArray, gap: FloatArray
    ) -> FloatArray:
        """The sums of numbers, those of two-valued columns times R, and of the intercept."""
        R = np.ascontiguousarray(R)

        def work(part: slice) -> FloatArray:
            sums = np.zeros((len(self.at_marks) + 1, R.shape[1]))
            products.add_transposed_product_csr(None, *self._held(part), R[part], sums, False)
            return sums

        marks = np.asarray(sum(self.run(work, self._parts())))
        out = np.empty((self.width, R.shape[1]))
        out[self.at_numbers] = numbers
        out[self.at_marks] = gap[:, None] * marks[:-1] + common[:, None] * marks[-1]
        if self.intercept:
            out[-1] = marks[-1]
        return out

    def _held(self, rows: slice) -> tuple[Any, Any]:
        return self.marks.indices, self.marks.indptr[rows.start : rows.stop + 1]

    def _squared(self) -> tuple[FloatArray, FloatArray]:
        """Common value and gap of the squares."""
        return self.common**2, self.gap * (self.gap + 2 * self.common)
