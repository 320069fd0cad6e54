"""Checks of what a caller passes: matrices, labels, classes, settings."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from deciban import encoding
from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError

FloatArray = NDArray[np.float64]


def matrix(model: Any, X: Any, *, reset: bool) -> Any:
    """A matrix of finite floats, dense or canonical CSR, of the width of the model."""
    try:
        X = validate_data(model, X, accept_sparse="csr", reset=reset, dtype=np.float64, order="C")
    except ValueError as error:
        kind = MissingValueError if "NaN" in str(error) or "infinity" in str(error) else InputError
        raise kind(
            str(error).strip(), hint="X is a matrix of finite numbers, one row a case"
        ) from None
    return _canonical(X) if hasattr(X, "indptr") else X


def _canonical(X: Any) -> Any:
    """Sorted indices of one type inside the matrix, one number a place: loops rely on it."""
    if X.nnz and not (X.indices.min() >= 0 and X.indices.max() < X.shape[1]):
        raise ShapeError(
            f"the sparse matrix has a value outside its {X.shape[1]} columns.",
            hint="columns count from 0",
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype:
        index = np.result_type(X.indices.dtype, X.indptr.dtype)
        parts = X.data, X.indices.astype(index), X.indptr.astype(index)
        X = type(X)(parts, shape=X.shape)
    return X


def several(found: NDArray[Any]) -> None:
    """There is nothing to tell apart in one class."""
    if len(found) < 2:
        raise InputError(
            f"at least two classes are needed, y has one class: {found[0]!r}.",
            hint="give rows of each class",
        )


def number(value: Any, name: str, hint: str, *, least: float = 0.0, above: bool = False) -> float:
    """A finite number in its range."""
    good = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not good or value < least or (above and value == least):
        raise ParameterError(
            f"{name} must be a number {'>' if above else '>='} {least:g}, got {value!r}.", hint=hint
        )
    return float(value)


def one_of(value: Any, name: str, *known: str) -> None:
    """One of some words."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(
            f"{name} must be {' or '.join(repr(word) for word in known)}, got {value!r}.",
            hint=f"{known[0]!r} is the default",
        )


def row_weights(
    sample_weight: Any, class_weight: Any, known: NDArray[Any], codes: NDArray[np.intp]
) -> FloatArray | None:
    """The weight of each row: its own times its class's."""
    weight = encoding.weights(sample_weight, len(codes))
    if class_weight is None:
        return weight
    try:
        seen = np.flatnonzero(np.bincount(codes, minlength=len(known)))
        of_class = np.ones(len(known))
        of_class[seen] = compute_class_weight(
            class_weight, classes=known[seen], y=known[codes], sample_weight=weight
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ParameterError(
            f"class_weight is of no use: {error}.",
            hint='it is None, "balanced" or a weight for each class',
        ) from None
    return encoding.weights((1.0 if weight is None else weight) * of_class[codes], len(codes))
