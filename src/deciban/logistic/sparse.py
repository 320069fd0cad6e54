"""A sparse matrix and its products, by compiled loops that threads share.

Products go row by row where there are few coefficients, which are read or written
at random and stay in the cache; else column by column, so that it is vectors over
the rows that stay there however many columns there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from deciban.kernels import products as kernel
from deciban.logistic import pairs

FloatArray = NDArray[np.float64]

#: A part of the work holds at least this many stored values.
PART = 1 << 18
#: No product is cut into more parts: each has scores of its own.
MOST_PARTS = 8
#: So many coefficients are few.
NARROW = 4_096


def in_turn(work: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
    """One part after the other: how parts run unless a caller has threads."""
    return map(work, parts)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A CSR matrix, with or without a constant one at the end of its rows.

    >>> from scipy.sparse import csr_array
    >>> design = Sparse(csr_array([[0.0, 2.0]]), intercept=True)
    >>> design.scores(np.array([[1.0], [1.0], [5.0]]))
    array([[7.]])
    """

    X: Any
    intercept: bool = True
    run: Callable[..., Iterator[Any]] = field(default=in_turn)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """How many coefficients a score has."""
        return int(self.X.shape[1]) + self.intercept

    @cached_property
    def plain(self) -> bool:
        """Whether all stored values are one, so that they need not be read."""
        return bool(np.all(self.X.data == 1.0))

    @cached_property
    def columns(self) -> Any:
        """The same matrix held by columns."""
        return csc_array(self.X)

    def scores(self, W: FloatArray) -> FloatArray:
        """The matrix times W."""
        W = np.ascontiguousarray(W)
        if W.size <= NARROW:
            return self._by_rows(W)

        def work(part: tuple[int, int]) -> FloatArray:
            out = np.zeros((self.n_rows, W.shape[1]))
            kernel.add_product_csc(*self._held(self.columns), W, *part, out)
            return out

        total, *others = self.run(work, self._column_parts)
        for other in others:
            total += other
        if self.intercept:
            total += W[-1]
        return np.asarray(total)

    def transposed(self, R: FloatArray) -> FloatArray:
        """The transposed matrix times R."""
        return self._gathered(R, squares=False)

    def squares(self, V: FloatArray) -> FloatArray:
        """The transposed matrix of squares times V."""
        return self._gathered(V, squares=True)

    def shares(self, unit: FloatArray) -> FloatArray:
        """The matrix of squares times one number a coefficient."""
        d = self.X.shape[1]
        squares = self.X if self.plain else self.X.power(2)
        out = np.asarray(squares @ unit[:d])
        return out + unit[d] if self.intercept else out

    def likeness(self, unit: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """``X diag(unit) X'``, a square over the rows, as a function; the intercept apart.

        A column with a value in one row alone is a number on the diagonal.
        """
        lengths = np.diff(self.columns.indptr)
        shared = lengths > 1
        alone = np.zeros((self.width, unit.shape[1]))
        alone[: len(shared)] = np.where(shared[:, None], 0.0, unit[: len(shared)])
        diagonal = self.shares(alone)
        # Sorted by length, so that the processor guesses right where a column ends.
        order = np.argsort(lengths, kind="stable")[int(np.sum(~shared)) :]
        held = self._held(_selected(self.columns, order, lengths))
        some, parts = np.ascontiguousarray(unit[order]), _parts(held[2])

        def times(R: FloatArray) -> FloatArray:
            def work(part: tuple[int, int]) -> FloatArray:
                out = np.zeros_like(R)
                kernel.add_gram_product_csc(*held, some, R, *part, out)
                return out

            return np.asarray(sum(self.run(work, parts), diagonal * R))

        return times

    def rows(self, at: NDArray[np.intp]) -> Sparse:
        """Some of the rows."""
        return Sparse(self.X[at], self.intercept, self.run)

    def hessian(self, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
        """``sum_i w_i (diag(p_i) - p_i p_i') x x_i x_i'``, a square over (width, m)."""
        curved = pairs.weights(proba, weight).T
        return pairs.assembled(np.array([self._gram(a) for a in curved]), proba.shape[1])

    def _gram(self, weight: FloatArray) -> FloatArray:
        weight = np.ascontiguousarray(weight)

        def work(part: tuple[int, int]) -> FloatArray:
            out = np.zeros((self.X.shape[1] + 1, self.X.shape[1] + 1))
            kernel.add_gram_csr(*self._held(self.X), weight, *part, out)
            return out

        total = np.asarray(sum(self.run(work, self._row_parts)))
        total += np.triu(total, 1).T
        return total if self.intercept else np.ascontiguousarray(total[:-1, :-1])

    def _by_rows(self, W: FloatArray) -> FloatArray:
        ended = W if self.intercept else np.vstack([W, np.zeros(W.shape[1])])
        out = np.zeros((self.n_rows, W.shape[1]))

        def work(part: tuple[int, int]) -> None:
            kernel.add_product_csr(*self._row_part(part), ended, out[slice(*part)])

        list(self.run(work, self._row_parts))
        return out

    def _gathered_by_rows(self, R: FloatArray, *, squares: bool) -> FloatArray:
        def work(part: tuple[int, int]) -> FloatArray:
            out = np.zeros((self.X.shape[1] + 1, R.shape[1]))
            kernel.add_transposed_product_csr(*self._row_part(part), R[slice(*part)], out, squares)
            return out

        total = np.asarray(sum(self.run(work, self._row_parts)))
        return total if self.intercept else np.ascontiguousarray(total[:-1])

    def _row_part(self, part: tuple[int, int]) -> tuple[Any, Any, Any]:
        data, indices, starts = self._held(self.X)
        return data, indices, starts[part[0] : part[1] + 1]

    def _gathered(self, R: FloatArray, *, squares: bool) -> FloatArray:
        R = np.ascontiguousarray(R)
        if self.width * R.shape[1] <= NARROW:
            return self._gathered_by_rows(R, squares=squares)
        out = np.empty((self.width, R.shape[1]))

        def work(part: tuple[int, int]) -> None:
            kernel.transposed_product_csc(*self._held(self.columns), R, *part, out, squares)

        list(self.run(work, self._column_parts))
        if self.intercept:
            out[-1] = R.sum(axis=0)
        return out

    @cached_property
    def _row_parts(self) -> list[tuple[int, int]]:
        return _parts(self.X.indptr)

    @cached_property
    def _column_parts(self) -> list[tuple[int, int]]:
        return _parts(self.columns.indptr)

    def _held(self, X: Any) -> tuple[Any, Any, Any]:
        return None if self.plain else X.data, X.indices, X.indptr


def _selected(X: Any, order: NDArray[np.intp], lengths: NDArray[Any]) -> Any:
    """Columns of a matrix that is held by columns, in that order."""
    starts = np.concatenate([[0], np.cumsum(lengths[order])])
    at = np.arange(starts[-1]) + np.repeat(X.indptr[order] - starts[:-1], lengths[order])
    parts = X.data[at], X.indices[at], starts.astype(X.indptr.dtype)
    return csc_array(parts, shape=(X.shape[0], len(order)))


def _parts(starts: NDArray[Any]) -> list[tuple[int, int]]:
    """Ranges of rows or columns with about the same number of stored values.

    >>> _parts(np.array([0, 3, 6])), len(_parts(np.arange(0, 1 << 24, 256)))
    ([(0, 2)], 8)
    """
    n = max(1, min(MOST_PARTS, int(starts[-1]) // PART))
    inner = np.linspace(0, starts[-1], n + 1)[1:-1].astype(starts.dtype)
    cuts = np.searchsorted(starts, inner).tolist()
    cuts = [0, *cuts, len(starts) - 1]
    return [(a, b) for a, b in itertools.pairwise(cuts) if a < b] or [(0, 0)]
