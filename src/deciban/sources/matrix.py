"""Matrices, dense or CSR: checked, opened as scans, and the rows that compiled loops take.

scikit-learn's own checks do most of the work. Its errors are raised again as errors of
deciban's tree, with a hint.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, MissingValueError, ShapeError, UnhashableError
from deciban.labels import Array
from deciban.sources import frames
from deciban.sources.scan import BATCH_ROWS, BatchScan
from deciban.sources.tabular import Tabular

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = [
    "CSRRows",
    "CheckedMatrix",
    "FloatArray",
    "MatrixRows",
    "as_objects",
    "canonical",
    "dense_floats",
    "finite_matrix",
    "is_sparse",
    "numbers_per_row",
    "scan_matrix",
    "scan_named",
    "slice_rows",
    "validate",
]

T = TypeVar("T")
FloatArray = NDArray[np.float64]

#: What a message of scikit-learn's says, the error it stands for, and what to do about it.
_HINTS: tuple[tuple[str, type[InputError], str], ...] = (
    ("contains NaN", MissingValueError, "X is a matrix of finite numbers, one row a case"),
    ("contains infinity", MissingValueError, "X is a matrix of finite numbers, one row a case"),
    ("0 sample(s)", ShapeError, "give at least one row"),
    ("0 feature(s)", ShapeError, "give at least one column"),
    ("is expecting", ShapeError, "pass the columns that the model was fitted on"),
    ("feature names should match", ShapeError, "pass the columns in the order of the fit"),
    ("Expected 2D", ShapeError, "a single row is [[1, 2, 3]]"),
    ("Found array with dim", ShapeError, "a matrix has one row a case and one column a feature"),
    ("inhomogeneous", ShapeError, "every row needs the same number of values"),
    ("Complex data", InputError, "split it into real and imaginary columns"),
    ("string", InputError, "NaiveBayes and CategoricalNB take names as they are"),
)


def validate(
    estimator: BaseEstimator, X: Tabular, *, reset: bool, dtype: str | None = "numeric"
) -> CheckedMatrix:
    """A matrix or CSR of the width of the estimator, which may hold NaN."""
    from sklearn.utils.validation import validate_data

    X = X if reset else _without_units(estimator, X)
    return _translate_errors(
        lambda: validate_data(
            estimator, X, accept_sparse="csr", ensure_all_finite=False, reset=reset, dtype=dtype
        )
    )


def finite_matrix(estimator: BaseEstimator, X: Tabular, *, reset: bool) -> CheckedMatrix:
    """A matrix of finite floats, dense or canonical CSR, of the width of the estimator."""
    from sklearn.utils.validation import validate_data

    X = X if reset else _without_units(estimator, X)
    checked = _translate_errors(
        lambda: validate_data(
            estimator, X, accept_sparse="csr", reset=reset, dtype=np.float64, order="C"
        )
    )
    if not is_sparse(checked):
        return checked
    from scipy.sparse import csr_array

    # Of csr_matrix, products are other products, and it is no csr_array.
    return _one_index_type(csr_array(checked))


def _without_units(estimator: BaseEstimator, X: Tabular) -> Tabular:
    """A frame without the column of groups or times of training, which is not looked at."""
    units = getattr(estimator, "units_", None)
    return X if units is None else frames.without_column(X, units.column)


def scan_matrix(X: Tabular, names: Sequence[str] | None, named: bool, model: str) -> BatchScan:
    """A dense matrix of any values; its columns are those of a fitted model, or x0, x1, ..."""
    from sklearn.utils.validation import check_array

    if named:
        warnings.warn(
            f"X does not have valid feature names, but {model} was fitted with feature names",
            UserWarning,
            stacklevel=2,
        )
    values: Array = _translate_errors(
        lambda: check_array(
            as_objects(X), dtype=None, ensure_all_finite=False, estimator=model, input_name="X"
        )
    )
    n_columns = values.shape[1]
    if names is not None and n_columns != len(names):
        raise ShapeError(
            f"X has {n_columns} features, but {model} is expecting {len(names)} features as input.",
            hint="pass the columns that the model was fitted on",
        )
    some = names or [f"x{j}" for j in range(n_columns)]
    return frames.scan_dict({name: values[:, j] for j, name in enumerate(some)}, BATCH_ROWS)


def scan_named(X: Tabular, names: Sequence[str]) -> BatchScan | None:
    """A plain matrix with one column for each name; None for anything else."""
    if not (isinstance(X, np.ndarray) or (isinstance(X, list) and X and isinstance(X[0], list))):
        return None
    values = np.asarray(X)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InputError(
            f"X has the shape {values.shape}, the model {len(names)} features.",
            hint="one column for each feature",
        )
    return frames.scan_dict(dict(zip(names, values.T, strict=True)), BATCH_ROWS)


def _translate_errors(check: Callable[[], T]) -> T:
    try:
        with np.errstate(invalid="ignore"):  # infinities of both signs: an error says so
            return check()
    except TypeError as error:
        if "dense data is required" in str(error):
            raise
        raise UnhashableError(str(error), hint="use numbers or strings") from None
    except ValueError as error:
        message = str(error)
    for words, kind, hint in _HINTS:
        if words in message:
            raise kind(message.strip(), hint=hint)
    raise InputError(message.strip(), hint="X is a matrix of numbers, one row a case")


def _one_index_type(X: CheckedMatrix) -> CheckedMatrix:
    """A canonical CSR matrix whose two kinds of indices have one type: loops rely on it."""
    check_indices(X.indices, X.shape[1])
    X = canonical(X)
    if X.indices.dtype != X.indptr.dtype:
        index = np.result_type(X.indices.dtype, X.indptr.dtype)
        arrays = X.data, X.indices.astype(index), X.indptr.astype(index)
        X = type(X)(arrays, shape=X.shape)
    return X


def as_objects(X: Tabular) -> Tabular:
    """Lists and frames in which a conversion to numbers or text would lose what a value was.

    What is masked is None.
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.array(X.tolist(), dtype=object).reshape(X.shape)
    if isinstance(X, list | tuple):
        try:
            plain = np.asarray(X)
        except ValueError:
            return X  # ragged: for the check to refuse
        return np.array(X, dtype=object) if plain.dtype.kind in "USO" else plain
    kinds = getattr(X, "dtypes", ())
    if hasattr(X, "astype") and any(getattr(kind, "name", "") == "category" for kind in kinds):
        return X.astype(object)
    return X


# ---------------------------------------------------------------------- rows


class CSRRows:
    """Some rows of a CSR matrix, as views of its arrays where they have the right type.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0, 2], [0, 0], [3, 4]])
    >>> some = CSRRows(X, slice(1, 3))
    >>> some.shape, some.data, some.indices
    ((2, 2), array([3., 4.]), array([0, 1], dtype=int32))
    """

    def __init__(self, X: CheckedMatrix, rows: slice) -> None:
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

    def _array(self) -> CheckedMatrix:
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


#: A matrix that scikit-learn has checked: a NumPy array, or CSR of SciPy.
CheckedMatrix: TypeAlias = Any
#: Rows of a matrix, dense or some of a CSR matrix.
MatrixRows: TypeAlias = Array | CSRRows


def check_indices(indices: Array, n_columns: int) -> None:
    """Compiled loops trust the indices; a matrix made by hand may not deserve it."""
    unsigned = indices.view(f"u{indices.itemsize}")  # one below zero is a large one
    if not indices.size or int(unsigned.max()) < n_columns:
        return
    for index in (int(indices.min()), int(indices.max())):
        if not 0 <= index < n_columns:
            raise ShapeError(
                f"the sparse matrix has a value in column {index} of {n_columns}.",
                hint="columns count from 0",
            )


def canonical(X: CheckedMatrix) -> CheckedMatrix:
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


def is_sparse(X: CheckedMatrix) -> bool:
    """Whether a matrix that was validated is CSR."""
    return hasattr(X, "indptr")


def slice_rows(X: CheckedMatrix, rows: slice) -> MatrixRows:
    """A chunk of rows, dense or CSR."""
    return CSRRows(X, rows) if is_sparse(X) else X[rows]


def dense_floats(rows: MatrixRows) -> FloatArray:
    """A chunk of rows as a dense matrix of floats, row by row."""
    return rows.dense() if isinstance(rows, CSRRows) else np.ascontiguousarray(rows, np.float64)


def numbers_per_row(X: CheckedMatrix) -> int:
    """How many numbers a row holds: all columns, or the average of the non-zeros.

    >>> from scipy.sparse import csr_array
    >>> numbers_per_row(np.zeros((2, 5))), numbers_per_row(csr_array([[1, 0, 1], [1, 1, 1]]))
    (5, 2)
    """
    return int(X.nnz // max(1, X.shape[0]) if is_sparse(X) else X.shape[1])
