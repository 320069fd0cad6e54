"""Rows of a matrix, dense or CSR, and the chunks they are counted and scored in."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import threads
from deciban.errors import ShapeError

FloatArray = NDArray[np.float64]

#: All threads together hold no more numbers than this in copies of their chunks: 16 MB.
MAX_COPIED_NUMBERS = 1 << 21


class SparseChunk:
    """Some rows of a CSR matrix, as views of its arrays where they have the right type.

    >>> X = csr_array([[0, 2], [0, 0], [3, 4]])
    >>> some = SparseChunk(X, slice(1, 3))
    >>> some.shape, some.data, some.indices
    ((2, 2), array([3., 4.]), array([0, 1], dtype=int32))
    """

    def __init__(self, X: Any, part: slice) -> None:
        first, last = X.indptr[part.start], X.indptr[part.stop]
        index = np.result_type(X.indices.dtype, X.indptr.dtype)
        self.data: FloatArray = np.ascontiguousarray(X.data[first:last], dtype=np.float64)
        self.indices = np.ascontiguousarray(X.indices[first:last], dtype=index)
        self.indptr = (X.indptr[part.start : part.stop + 1] - first).astype(index, copy=False)
        self.shape = (part.stop - part.start, X.shape[1])
        self._refuse_stray_indices()

    def _refuse_stray_indices(self) -> None:
        """The compiled loops trust the indices; a matrix made by hand may not deserve it."""
        if not self.indices.size:
            return
        for index in (int(self.indices.min()), int(self.indices.max())):
            if not 0 <= index < self.shape[1]:
                raise ShapeError(
                    f"the sparse matrix has a value in column {index} of {self.shape[1]}.",
                    hint="columns count from 0",
                )

    def with_data(self, data: FloatArray) -> SparseChunk:
        """Other values at the same places."""
        rows = copy(self)
        rows.data = data
        return rows

    def canonical(self) -> SparseChunk:
        """Rows with one number a place: CSR may hold a sum in several parts."""
        X = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        return (
            self if X.has_canonical_format else SparseChunk(canonical(X), slice(0, self.shape[0]))
        )

    def dense(self) -> FloatArray:
        """The rows as a matrix."""
        X = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        return np.asarray(X.toarray())


#: Rows of a matrix, dense or some of a CSR matrix.
AnyRows = NDArray[Any] | SparseChunk


def canonical(X: Any) -> Any:
    """A CSR matrix with sorted indices and one number a place; a copy if it was not.

    >>> canonical(csr_array(([1, 2], [0, 0], [0, 2]), shape=(1, 1))).data
    array([3])
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def is_sparse(X: Any) -> bool:
    """Whether a checked matrix is CSR."""
    return hasattr(X, "indptr")


def rows_of(X: Any, part: slice) -> AnyRows:
    """A chunk of rows, dense or CSR."""
    return SparseChunk(X, part) if is_sparse(X) else X[part]


def stored(X: Any) -> int:
    """How many numbers a row holds: all columns, or the average of the non-zeros.

    >>> stored(np.zeros((2, 5))), stored(csr_array([[1, 0, 1], [1, 1, 1]]))
    (5, 2)
    """
    return int(X.nnz // max(1, X.shape[0]) if is_sparse(X) else X.shape[1])


def count_chunks(n_rows: int, width: int, table_size: int, *, copied: bool) -> list[slice]:
    """Chunks that are worth a table of their own: larger than the table, but one a core.

    ``width`` numbers a row; where they are ``copied``, memory bounds the chunk as well.

    >>> len(count_chunks(1 << 20, 10, 100, copied=True)) > 4
    True
    """
    cores = threads.n_threads()
    share = -(-n_rows // cores)
    numbers = max(threads.COUNT_CHUNK_VALUES, 4 * table_size)
    if copied:
        numbers = min(numbers, max(MAX_COPIED_NUMBERS // cores, threads.SCORE_CHUNK_VALUES))
    rows = numbers // max(1, width)
    if not copied:
        rows = max(rows, -(-share // 2))  # two a core: should one be busy, the other helps
    return threads.chunks(n_rows, min(rows, max(share, 1))) or [slice(0, 0)]


def score_chunks(n_rows: int, width: int, *, gathered: bool = False) -> list[slice]:
    """Chunks that stay in the cache with their scores: ``width`` numbers a row.

    Where scores are ``gathered`` from a large table, it is the table that must
    stay in the cache: the fewer chunks the better.

    >>> score_chunks(3, 1 << 20)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    rows = threads.SCORE_CHUNK_VALUES // max(1, width)
    if gathered:
        share = -(-n_rows // threads.n_threads())
        rows = max(rows, min(share, threads.SCORE_CHUNK_VALUES))
    return threads.chunks(n_rows, rows)
