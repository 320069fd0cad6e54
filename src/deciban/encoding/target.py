"""What comes beside the columns of a table: the label and the weight of every row.

Both are checked here, once, before anything is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError, MissingValueError, ShapeError
from deciban.labels import Array, Labels
from deciban.sources.tabular import Value

__all__ = [
    "Codes",
    "Labelled",
    "batch_weights",
    "check_length",
    "class_codes",
    "codes_of",
    "label_vector",
    "partial_fit_classes",
    "require_labels",
    "vector",
    "weights",
]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: Units of NumPy's moments that Python has no moments of.
_FINER_THAN_PYTHON = {"ns", "ps", "fs", "as"}


@dataclass(frozen=True, eq=False)
class Labelled:
    """The classes in order, and each row's position among them."""

    classes: Labels
    codes: Codes


def class_codes(y: object, what: str = "y", *, missing: bool = False) -> Labelled:
    """The classes of the labels ``y``, and the code of each row; -1 is missing, if that may be.

    >>> class_codes(["ham", "spam", "ham"]).codes
    array([0, 1, 0])
    """
    values = vector(y)
    if len(values) == 0:
        raise ShapeError(f"there are no labels: {what} is empty.", hint="give at least one label")
    if values.dtype.kind == "f":
        _refuse_fractions(values, what)
    if values.dtype.kind == "c":
        raise InputError(f"Unknown label type: complex, {values[0]}.", hint="labels are names")
    classes, codes = labels.factorise(values)
    if not missing:
        _refuse_missing(codes, what)
    return Labelled(classes, codes)


def codes_of(y: object, classes: Labels) -> Codes:
    """The code of each label among known classes; another label is an error.

    >>> codes_of(["spam", "spam"], np.array(["ham", "spam"]))
    array([1, 1])
    """
    labelled = class_codes(y)
    at = labels.positions(labelled.classes, classes)
    if np.any(at < 0):
        raise InputError(
            f"The target label(s) {labelled.classes[at < 0]} in y do not exist in the initial "
            f"classes {classes}.",
            hint="name every class in the first call",
        )
    return at[labelled.codes]


def partial_fit_classes(classes: object, known: Labels | None) -> Labels:
    """The classes of a partial fit: named in the first call, and the same ever after.

    >>> partial_fit_classes(["spam", "ham"], None)
    array(['ham', 'spam'], dtype='<U4')
    >>> partial_fit_classes(None, np.array([1, 2]))
    array([1, 2])
    """
    if classes is None and known is None:
        raise InputError(
            "classes must be passed on the first call to partial_fit, got None.",
            hint="name every class that will ever appear",
        )
    if classes is None:
        return np.asarray(known)
    named = class_codes(classes, "classes")
    if known is None:
        return named.classes
    if len(named.codes) == len(known) and labels.same(named.classes, known):
        return known
    raise InputError(
        f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}.",
        hint="leave classes out after the first call",
    )


def _refuse_fractions(values: FloatArray, what: str) -> None:
    """Floats are labels only where they are whole; NaN is left to the check of missing labels."""
    if np.any(np.isinf(values)):
        raise MissingValueError(
            f"Input {what} contains infinity: {values[np.isinf(values)][0]}.",
            hint="labels are names or integers",
        )
    odd = values[(values != np.floor(values)) & ~np.isnan(values)]
    if len(odd):
        raise InputError(
            f"Unknown label type: continuous. {what} has {float(odd[0])!r}.",
            hint="labels are names or integers; a number to predict calls for regression",
        )


def _refuse_missing(codes: Codes, what: str) -> None:
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise MissingValueError(
            f"Input {what} contains NaN or None: {len(missing)} labels are missing, the first in "
            f"row {missing[0]}.",
            hint="leave unlabelled rows out",
        )


def label_vector(y: object) -> Array:
    """Labels as a vector; a column is taken for one, with scikit-learn's warning.

    Whole numbers and truth values of pandas' nullable types, of which scikit-learn makes floats,
    stay what they are.

    >>> label_vector(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    from sklearn.utils.validation import column_or_1d

    dtype = getattr(y, "dtype", None)
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", None) in ("b", "i", "u"):
        y = np.asarray(y, dtype=object)
    try:
        return vector(column_or_1d(y, warn=True))
    except ValueError as error:
        raise ShapeError(str(error), hint="give one label a row") from None


def require_labels(y: object, model: str) -> Array:
    """Labels as a vector, for a model that cannot be without; ``model`` is its name."""
    if y is None:
        raise MissingValueError(
            f"This {model} estimator requires y to be passed, but the target y is None.",
            hint="give one label a row",
        )
    return label_vector(y)


def vector(values: object) -> Array:
    """A one-dimensional array; mixed Python objects stay what they are.

    Moments are in microseconds if none is finer: Python has no moments of nanoseconds, and NumPy
    gives numbers for them.

    >>> vector([1, "a"])
    array([1, 'a'], dtype=object)
    """
    if isinstance(values, list | tuple) and len({type(value) for value in values}) > 1:
        return labels.object_array(values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ShapeError(
            f"one value a row is needed, got an array of shape {array.shape}.",
            hint="pass a list or a one-dimensional array",
        )
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] in _FINER_THAN_PYTHON:
        coarse = array.astype("M8[us]")
        return coarse if np.array_equal(coarse, array, equal_nan=True) else array
    return array.astype(object) if array.dtype.kind not in "biufcUSMmO" else array


def check_length(values: Value, n_rows: int, what: str) -> None:
    """One value a row.

    >>> check_length([1, 2], 3, "weight")
    Traceback (most recent call last):
    ...
    deciban.errors.ShapeError: weight has 2 rows, y has 3. Hint: give one value and one label a row.
    """
    length = values.shape[0] if hasattr(values, "shape") else len(values)
    if length != n_rows:
        raise ShapeError(
            f"{what} has {length} rows, y has {n_rows}.", hint="give one value and one label a row"
        )


def weights(weight: object, n_rows: int) -> FloatArray | None:
    """Checked weights: one finite number >= 0 a row and not all zero; None is all ones.

    >>> weights(2, 3)
    array([2., 2., 2.])
    """
    values = batch_weights(weight, n_rows)
    if values is not None and not values.any():
        raise InputError("the total weight is zero: every weight is 0.", hint="some row must count")
    return values


def batch_weights(weight: object, n_rows: int) -> FloatArray | None:
    """Checked weights of some of the rows: one finite number >= 0 a row; all may be zero.

    >>> batch_weights([0, 0], 2)
    array([0., 0.])
    """
    if weight is None:
        return None
    values = _numbers(weight)
    values = np.full(n_rows, values) if values.ndim == 0 else values
    if values.ndim != 1:
        raise ShapeError(
            f"Sample weights must be 1D array or scalar, got shape {values.shape}.",
            hint="give one number >= 0 a row",
        )
    check_length(values, n_rows, "sample_weight")
    if not np.all(np.isfinite(values)):
        raise MissingValueError(
            f"sample_weight contains NaN or infinity: {values[~np.isfinite(values)][0]}.",
            hint="a weight is a finite number >= 0",
        )
    if values.min(initial=0.0) < 0:
        raise InputError(
            f"Negative values in sample_weight: {values.min():g}.",
            hint="use forget to take rows back",
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            raise InputError(
                f"the sum of sample_weight does not fit a float: it goes up to {values.max():g}.",
                hint="only the ratios of weights matter much: divide them by the largest",
            )
    return values


def _numbers(weight: object) -> FloatArray:
    try:
        return np.asarray(weight, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(
            f"weights must be numbers, got {short(weight)}.", hint="give one number >= 0 a row"
        ) from None
