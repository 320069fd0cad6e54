"""How the rows of each drop-in classifier become what its family counts and scores.

Encoders check values, and need no scikit-learn: a model from a file encodes the rows of a table
with them, an estimator those of a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import encoding
from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.families.bag_removal import Entries
from deciban.families.piece import Piece
from deciban.formulas.build import infinite
from deciban.formulas.nodes import (
    All,
    Case,
    Compare,
    Condition,
    Expression,
    Function,
    Input,
    Missing,
    Number,
    Shared,
)
from deciban.sources.matrix import CSRRows, FloatArray, MatrixRows, dense_floats
from deciban.stats.cells import Cells

#: Numbers beyond this would not fit a code; all of them are the same unseen category.
BEYOND_CODES = 1 << 62


@dataclass(frozen=True)
class NumberEncoder:
    """Rows of numbers; NaN is a missing value, infinity is a mistake."""

    absent_value = None

    def encode(self, X: MatrixRows, cells: Cells) -> FloatArray:
        """A chunk of rows as a dense matrix."""
        dense = dense_floats(X)
        refuse_infinity(dense)
        return dense

    def input(self, name: str, cells: Cells) -> tuple[Expression, tuple[Condition, ...]]:
        """A number; infinity is refused."""
        x = Input(name, "number")
        return x, infinite([x])

    def values(self, column: int, piece: Piece) -> Piece:
        """A curve of numbers is as it is; how many rows are behind a point is not kept."""
        return replace(piece, rows=None)

    def size(self, rows: FloatArray) -> FloatArray:
        """How many numbers each row has."""
        return np.asarray((~np.isnan(rows)).sum(axis=1), dtype=np.float64)


def refuse_infinity(values: FloatArray) -> None:
    """NaN is a missing value, infinity is a mistake."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # fast, and nearly always all there is to do
            return
    wrong = values[np.isinf(values)]
    if wrong.size:
        raise MissingValueError(
            f"Input X contains infinity: {wrong[0]}.",
            hint="replace it by a large finite number, or by NaN for missing",
        )


@dataclass(frozen=True)
class AmountEncoder:
    """Rows of amounts >= 0, dense or sparse; ``model`` is the name that errors give."""

    model: str

    absent_value = 0.0

    def encode(self, X: MatrixRows, cells: Cells) -> MatrixRows:
        """A chunk of rows, checked."""
        X = _as_floats(X)
        values = X.data if isinstance(X, CSRRows) else X
        least = values.min(initial=0.0)
        if isinstance(X, CSRRows) and least < 0:
            X = X.canonical()  # the parts of a sum may be negative where the sum is not
            values = X.data
            least = values.min(initial=0.0)
        refuse_infinite(values, self.model)
        if least < 0:
            raise InputError(
                f"Negative values in data passed to {self.model} (input X): {least:g}.",
                hint="amounts are numbers >= 0",
            )
        return X

    def input(self, name: str, cells: Cells) -> tuple[Expression, tuple[Condition, ...]]:
        """An amount; what is missing, infinite or negative is refused."""
        x = Input(name, "number")
        return x, (*_refused(x), Compare(x, "<", Number(0.0)))

    def values(self, column: int, piece: Piece) -> Piece:
        """Nothing and one unit."""
        return piece

    def size(self, rows: MatrixRows) -> FloatArray:
        """The amount of each row."""
        if not isinstance(rows, CSRRows):
            return np.asarray(rows.sum(axis=1), dtype=np.float64)
        entries = Entries.of(rows)
        return entries.sum_rows(entries.amount)


@dataclass(frozen=True)
class PresenceEncoder:
    """Rows of presences: a value is there where it is above ``threshold``; None takes 0 and 1."""

    model: str
    threshold: float | None

    absent_value = 0.0

    def encode(self, X: MatrixRows, cells: Cells) -> MatrixRows:
        """A chunk of rows as zeros and ones, checked."""
        X = _as_floats(X)
        X = X.canonical() if isinstance(X, CSRRows) else X
        values = X.data if isinstance(X, CSRRows) else X
        refuse_infinite(values, self.model)
        if self.threshold is None:
            _refuse_amounts(values)
            return X
        if self.threshold < 0 and isinstance(X, CSRRows):
            raise ParameterError(
                f"Cannot binarize a sparse matrix with threshold < 0, got {self.threshold!r}.",
                hint="a row of zeros would be all ones",
            )
        present = (values > self.threshold).astype(np.float64)
        return X.with_data(present) if isinstance(X, CSRRows) else present

    def input(self, name: str, cells: Cells) -> tuple[Expression, tuple[Condition, ...]]:
        """0 or 1; what is missing or infinite is refused, and other numbers if none are cut."""
        x = Input(name, "number")
        if self.threshold is not None:
            above = Compare(x, ">", Number(self.threshold))
            return Shared(Case(((above, Number(1.0)),), Number(0.0))), _refused(x)
        zero, one = Number(0.0), Number(1.0)
        between = All((Compare(x, ">", zero), Compare(x, "<", one)))
        outside = Compare(x, "<", zero), Compare(x, ">", one)
        return x, (*_refused(x), between, *outside)

    def values(self, column: int, piece: Piece) -> Piece:
        """A value that counts as absent, and one that counts as present."""
        least = 0.0 if self.threshold is None else self.threshold
        return replace(piece, values=(least, least + 1.0))

    def size(self, rows: MatrixRows) -> FloatArray:
        """How many columns each row has or lacks: all of them."""
        return np.full(rows.shape[0], float(rows.shape[1]))


def _refused(x: Expression) -> tuple[Condition, ...]:
    """Amounts are finite."""
    return (Missing(x), *infinite([x]))


def _as_floats(X: MatrixRows) -> MatrixRows:
    if isinstance(X, CSRRows):
        return X
    return np.ascontiguousarray(X, dtype=np.float64)


def refuse_infinite(values: FloatArray, model: str) -> None:
    """Amounts are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # fast, and nearly always all there is to do
            return
    wrong = values[~np.isfinite(values)]
    if wrong.size:
        raise MissingValueError(
            f"Input X contains NaN or infinity: {wrong[0]} in data passed to {model}.",
            hint="use 0 for nothing",
        )


def _refuse_amounts(values: FloatArray) -> None:
    """Presences are zeros and ones."""
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise InputError(
            f"binarize=None takes zeros and ones, got {wrong[0]:g}.",
            hint="binarize=0 takes every value above 0 as present",
        )


@dataclass(frozen=True)
class CategoryEncoder:
    """Rows of categories as codes; ``model`` is the name that errors give."""

    model: str

    absent_value = None

    def encode(self, X: MatrixRows, cells: Cells) -> NDArray[np.int64]:
        """Numbers are codes already where the cells are; otherwise values are looked up."""
        dense = X.dense() if isinstance(X, CSRRows) else X
        if dense.dtype.kind == "O" and cells.coded and all_numbers(dense):
            dense = dense.astype(np.float64)
        if cells.coded and dense.dtype.kind in "biuf":
            return self.integers(dense)
        return encoding.category_codes(dense, cells.values or ())

    def size(self, rows: NDArray[np.int64]) -> FloatArray:
        """How many categories each row has."""
        return np.asarray((rows >= 0).sum(axis=1), dtype=np.float64)

    def integers(self, X: MatrixRows) -> NDArray[np.int64]:
        """Numbers as codes: whole parts, -1 for NaN."""
        dense = X.dense() if isinstance(X, CSRRows) else X
        if dense.dtype.kind == "f":
            return self._whole_parts(dense)
        dense = np.minimum(dense, BEYOND_CODES) if dense.dtype == np.uint64 else dense
        return self._not_negative(np.ascontiguousarray(dense, dtype=np.int64))

    def input(self, name: str, cells: Cells) -> tuple[Expression, tuple[Condition, ...]]:
        """Whole parts of numbers that are codes, of which negative ones are refused; or names."""
        if not cells.coded:
            values = [label for some in cells.values or () for label in some.tolist()]
            text = all(isinstance(label, str) for label in values)
            return Input(name, "text" if text else "number"), ()
        x = Input(name, "number")
        negative = Compare(x, "<=", Number(-1.0))
        below = Compare(x, "<", Number(0.0))
        whole = Case(((below, Number(0.0)),), Function("floor", x))
        return Shared(whole), (*infinite([x]), negative)

    def values(self, column: int, piece: Piece) -> Piece:
        """Categories are as they are."""
        return piece

    def _whole_parts(self, X: FloatArray) -> NDArray[np.int64]:
        wrong = X[np.isinf(X)]
        if wrong.size:
            raise MissingValueError(
                f"Input X contains infinity: {wrong[0]}.",
                hint="categories are codes 0, 1, ... or names",
            )
        missing = np.isnan(X)
        codes = np.where(missing, 0, np.minimum(X, BEYOND_CODES)).astype(np.int64, order="C")
        self._not_negative(codes)[missing] = -1
        return codes

    def _not_negative(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        if codes.min(initial=0) >= 0:
            return codes
        raise InputError(
            f"Negative values in data passed to {self.model} (input X): {codes.min()}.",
            hint="codes count from 0; None or NaN is a missing value",
        )


def all_numbers(X: NDArray[np.generic]) -> bool:
    """Whether every object is a number or a missing value, and none is a truth value."""
    kinds = {kind for row in X for kind in map(type, row)}
    return all(
        issubclass(kind, int | float | np.number | type(None)) and not issubclass(kind, bool)
        for kind in kinds
    )
