"""The range in which the columns of training lay, beyond which a regression does not go on.

A slope is known where there were rows. Of a few rows, which may all lie close together, a row of
later may be hundreds of deviations away, and a straight line through them would be sure of
anything there. So where the rows choose the penalty, a number beyond all that were seen says what
the outermost one says: logits are ``w clip(x) + b``. Zero, the amount of what a row does not
name, is in every range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
Matrix = TypeVar("Matrix", "FloatArray", "csr_array")


def seen_range(X: FloatArray | csr_array, weight: FloatArray | None) -> FloatArray:
    """The least and the greatest number of each column, and zero, (2, columns).

    A row of no weight was not seen.

    >>> seen_range(np.array([[1.0, -2.0], [3.0, 9.0], [4.0, 5.0]]), np.array([1.0, 0.0, 2.0]))
    array([[ 0., -2.],
           [ 4.,  5.]])
    """
    rows = X if weight is None or (weight > 0).all() else X[np.flatnonzero(weight > 0)]
    out = np.zeros((2, X.shape[1]))
    if isinstance(rows, np.ndarray):
        np.minimum(out[0], rows.min(axis=0, initial=0.0), out=out[0])
        np.maximum(out[1], rows.max(axis=0, initial=0.0), out=out[1])
        return out
    np.minimum.at(out[0], rows.indices, rows.data)
    np.maximum.at(out[1], rows.indices, rows.data)
    return out


def union(mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """The range of the rows of both."""
    return np.stack([np.minimum(mine[0], theirs[0]), np.maximum(mine[1], theirs[1])])


def clip(X: Matrix, bounds: FloatArray) -> Matrix:
    """The numbers, those beyond the range at its end.

    >>> clip(np.array([[-5.0, 1.0], [2.0, 7.0]]), np.array([[0.0, 0.0], [9.0, 3.0]]))
    array([[0., 1.],
           [2., 3.]])
    """
    if isinstance(X, np.ndarray):
        return np.clip(X, *bounds)
    out = X.copy()
    out.data = np.clip(X.data, bounds[0, X.indices], bounds[1, X.indices])
    return out
