"""What the bag families share: amounts per column, scored by linear tables.

A bag is a row of amounts (word counts, weights, presences) over many columns.
Its log-likelihood is ``sum_j x_j * present[j, c]``, and where absence counts
too, ``absent[j, c]`` for every column with ``x_j = 0`` (amounts are then 0 or 1).
Rows come as a dense float64 matrix or as CSR; the work follows the non-zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, MissingValueError
from deciban.families.discrete import FloatArray, same, subtract
from deciban.kernels import dense, panels, sparse
from deciban.labels import Labels
from deciban.stats.cells import Cells

__all__ = ["Linear", "add", "check", "count", "explain", "impossible", "same", "subtract"]


@dataclass(frozen=True, eq=False)
class Linear:
    """Log-probabilities of a bag family, (columns, classes); minus infinity is allowed.

    What is summed is kept finite: an impossible column is instead counted as
    a veto, and one veto makes the class impossible. So 0 times minus infinity
    and minus infinity plus infinity never arise.
    """

    present: FloatArray
    absent: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.present)

    @cached_property
    def base(self) -> FloatArray:
        """What a row without any column scores."""
        if self.absent is None:
            return np.zeros(self.present.shape[1])
        return np.asarray(_finite(self.absent).sum(axis=0))

    @cached_property
    def weight(self) -> FloatArray:
        """What a unit of a column adds to that."""
        if self.absent is None:
            return _finite(self.present)
        return _finite(self.present) - _finite(self.absent)

    @cached_property
    def panels(self) -> FloatArray:
        """The weights as sparse rows are scored with them."""
        return panels.cut(self.weight)

    @cached_property
    def veto(self) -> Linear | None:
        """The number of vetoes, in the same linear form; None where nothing is impossible."""
        never = np.isneginf(self.present).astype(np.float64)
        always = None if self.absent is None else np.isneginf(self.absent).astype(np.float64)
        if not never.any() and (always is None or not always.any()):
            return None
        return Linear(never, always)


def _finite(table: FloatArray) -> FloatArray:
    return table if np.all(np.isfinite(table)) else np.where(np.isfinite(table), table, 0.0)


def check(X: Any, columns: Labels) -> None:
    """Amounts are finite numbers >= 0."""
    values = X.data if hasattr(X, "indptr") else X
    refuse(X, columns, np.isfinite(values), MissingValueError, "a finite number", "0 is nothing")
    refuse(X, columns, values >= 0, InputError, "an amount >= 0", "0 is nothing")


def refuse(
    X: Any, columns: Labels, good: NDArray[np.bool_], error: type[InputError], right: str, hint: str
) -> None:
    """Raise the error about the first value that is not good."""
    if good.all():
        return
    at = int(np.argmin(good))
    sparse_rows = hasattr(X, "indptr")
    value = X.data[at] if sparse_rows else X.flat[at]
    column = columns[X.indices[at] if sparse_rows else at % X.shape[1]]
    raise error(f"column {column!s} must hold {right} in every row, got {value}.", hint=hint)


def count(
    X: Any, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Any]:
    """``n_{c,j}``: the weighted amount of column j in class c."""
    if hasattr(X, "indptr"):
        table = sparse.count(X.data, X.indices, X.indptr, y, weight, n_classes, X.shape[1])
    else:
        table = dense.count(X, y, weight, n_classes)
    return {"amount": table}


def impossible(
    left: dict[str, Any], whole: dict[str, Any], rows: FloatArray, cells: Cells
) -> NDArray[np.bool_]:
    """An amount below zero, or of no row."""
    amount = left["amount"]
    return np.asarray((amount < 0) | ((amount > 0) & (rows[:, None] <= 0)))


def add(params: Linear, X: Any, out: FloatArray) -> None:
    """Add every row's log-likelihood under each class."""
    _add_linear(params, X, out)
    if params.veto is not None:
        vetoes = np.zeros_like(out)
        _add_linear(params.veto, X, vetoes)
        out[vetoes > 0] = -np.inf


def _add_linear(params: Linear, X: Any, out: FloatArray) -> None:
    out += params.base
    if hasattr(X, "indptr"):
        panels.add_bags(X.data, X.indices, X.indptr, params.panels, out)
    else:
        out += X @ params.weight


def explain(params: Linear, X: FloatArray) -> FloatArray:
    """Each column's part of the log-likelihood of dense rows."""
    out = _explain_linear(params, X)
    if params.veto is not None:
        out[_explain_linear(params.veto, X) > 0] = -np.inf
    return out


def _explain_linear(params: Linear, X: FloatArray) -> FloatArray:
    base = 0.0 if params.absent is None else _finite(params.absent)
    return np.asarray(base + X[:, :, None] * params.weight)
