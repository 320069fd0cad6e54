"""Rows of a matrix, dense or CSR: the layout that compiled loops rely on."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ShapeError

__all__ = ["CSRRows", "canonical", "is_sparse", "numbers_per_row", "slice_rows"]

FloatArray = NDArray[np.float64]


class CSRRows:
    """Some rows of a CSR matrix, as views of its arrays where they have the right type.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0, 2], [0, 0], [3, 4]])
    >>> some = CSRRows(X, slice(1, 3))
    >>> some.shape, some.data, some.indices
    ((2, 2), array([3., 4.]), array([0, 1], dtype=int32))
    """

    def __init__(self, X: Any, rows: slice) -> None:
        first, last = X.indptr[rows.start], X.indptr[rows.stop]
        index = np.result_type(X.indices.dtype, X.indptr.dtype)
        self.data: FloatArray = np.ascontiguousarray(X.data[first:last], dtype=np.float64)
        self.indices = np.ascontiguousarray(X.indices[first:last], dtype=index)
        self.indptr = (X.indptr[rows.start : rows.stop + 1] - first).astype(index, copy=False)
        self.shape = (rows.stop - rows.start, X.shape[1])
        check_indices(self.indices, self.shape[1])

    def with_data(self, data: FloatArray) -> CSRRows:
        """Other values at the same places."""
        rows = copy(self)
        rows.data = data
        return rows

    def canonical(self) -> CSRRows:
        """These rows with one number a place: CSR may hold a sum in several parts."""
        X = self._array()
        return self if X.has_canonical_format else CSRRows(canonical(X), slice(0, self.shape[0]))

    def dense(self) -> FloatArray:
        """These rows as a matrix."""
        return np.asarray(self._array().toarray())

    def _array(self) -> Any:
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


def check_indices(indices: NDArray[Any], n_columns: int) -> None:
    """Compiled loops trust the indices; a matrix made by hand may not deserve it."""
    if not indices.size:
        return
    for index in (int(indices.min()), int(indices.max())):
        if not 0 <= index < n_columns:
            raise ShapeError(
                f"the sparse matrix has a value in column {index} of {n_columns}.",
                hint="columns count from 0",
            )


def canonical(X: Any) -> Any:
    """A CSR matrix with sorted indices and one number a place; a copy if it was not.

    >>> from scipy.sparse import csr_array
    >>> canonical(csr_array(([1, 2], [0, 0], [0, 2]), shape=(1, 1))).data
    array([3])
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def is_sparse(X: Any) -> bool:
    """Whether a matrix that was validated is CSR."""
    return hasattr(X, "indptr")


def slice_rows(X: Any, rows: slice) -> Any:
    """A chunk of rows, dense or CSR."""
    return CSRRows(X, rows) if is_sparse(X) else X[rows]


def numbers_per_row(X: Any) -> int:
    """How many numbers a row holds: all columns, or the average of the non-zeros.

    >>> from scipy.sparse import csr_array
    >>> numbers_per_row(np.zeros((2, 5))), numbers_per_row(csr_array([[1, 0, 1], [1, 1, 1]]))
    (5, 2)
    """
    return int(X.nnz // max(1, X.shape[0]) if is_sparse(X) else X.shape[1])
