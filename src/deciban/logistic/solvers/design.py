"""The design matrix of a regression, by its products: all that objectives ask of the rows.

X stands for the matrix with its column of ones, if there is an intercept; shapes and symbols
are those of :mod:`deciban.logistic.solvers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")


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
