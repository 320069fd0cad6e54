"""Amounts: rows of numbers >= 0 over many columns, such as word counts; and presences, 0 or 1.

Rows come as a dense float64 matrix or in compressed form (CSR); the work follows the non-zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np

from deciban import labels
from deciban.errors import InputError, MissingValueError
from deciban.kernels import dense, sparse
from deciban.labels import Array, Labels
from deciban.stats.categories import exceeds
from deciban.stats.cells import Cells
from deciban.stats.statistic import Additive, Codes, FloatArray, Sums, number_matrix
from deciban.stats.table import DenseSum, Mask, Stored, Sum, Table


class SparseRows(Protocol):
    """Rows in compressed form: row r has ``data[i]`` in column ``indices[i]``, i from indptr[r]."""

    @property
    def data(self) -> FloatArray:
        """The values that are stored."""

    @property
    def indices(self) -> Array:
        """The column of each."""

    @property
    def indptr(self) -> Array:
        """Where each row starts, and the end of the last."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""


AmountRows = FloatArray | SparseRows


def stored_values(X: AmountRows) -> FloatArray:
    """The values of rows: all, or those that are not zero."""
    return X if isinstance(X, np.ndarray) else X.data


class Amounts(Additive):
    """``n_{c,j}``: the weighted amount of column j in the rows of class c."""

    name = "amounts"
    cells: type[Cells] = Cells
    by_value = False

    def encode(self, names: Sequence[object], columns: Sequence[Any]) -> tuple[Cells, FloatArray]:
        """One cell a column, and the amounts."""
        return Cells(labels.label_array(list(names))), number_matrix(columns)

    def check(self, X: AmountRows, columns: Labels) -> None:
        """Amounts are finite numbers >= 0."""
        values = stored_values(X)
        hint = "0 is nothing"
        _refuse(X, columns, np.isfinite(values), MissingValueError, "a finite number", hint)
        _refuse(X, columns, values >= 0, InputError, "an amount >= 0", hint)

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """Columns in which nothing is counted."""
        return Cells(columns), {"amount": DenseSum(np.zeros((n_classes, len(columns))))}

    def count(
        self, X: AmountRows, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
    ) -> dict[str, Sum]:
        """The weighted amount of each column in each class."""
        if isinstance(X, np.ndarray):
            table = dense.count(X, y, weight, n_classes)
        else:
            table = sparse.count(X.data, X.indices, X.indptr, y, weight, n_classes, X.shape[1])
        return {"amount": DenseSum(table)}

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """An amount below zero, or of no row."""
        amount = cast("DenseSum", left["amount"]).values
        return np.asarray((amount < 0) | ((amount > 0) & (rows[:, None] <= 0)))

    def from_arrays(self, arrays: Stored, shape: tuple[int, int]) -> dict[str, Sum]:
        """The amounts of a file."""
        return {"amount": DenseSum(arrays.amounts("sum.amount", shape))}


class Presences(Amounts):
    """``n_{c,j}``: the rows of class c that have column j."""

    name = "presences"

    def check(self, X: AmountRows, columns: Labels) -> None:
        """Amounts are 0 or 1."""
        super().check(X, columns)
        values = stored_values(X)
        good = (values == 0) | (values == 1)
        _refuse(X, columns, good, InputError, "0 or 1", "use x > 0 for presence")

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """Fewer than no row, or more than all of them, with a column."""
        amount = cast("DenseSum", left["amount"]).values
        return np.asarray((amount < 0) | exceeds(amount, rows))


AMOUNTS, PRESENCES = Amounts(), Presences()


def amount_of(table: Table) -> FloatArray:
    """The amounts of a table, (classes, columns)."""
    return cast("DenseSum", table.sums["amount"]).values


def _refuse(
    X: AmountRows, columns: Labels, good: Mask, error: type[InputError], right: str, hint: str
) -> None:
    """Raise the error about the first value that is not good."""
    if good.all():
        return
    at = int(np.argmin(good))
    if isinstance(X, np.ndarray):
        value, column = X.flat[at], columns[at % X.shape[1]]
    else:
        value, column = X.data[at], columns[X.indices[at]]
    raise error(f"column {column!s} must hold {right} in every row, got {value}.", hint=hint)
