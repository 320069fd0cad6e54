"""Checks of what a caller passes, beyond what encoding checks: matrices.

scikit-learn's own checks do most of the work. Its errors are raised again as
errors of deciban's tree, with a hint.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from deciban.errors import InputError, ShapeError, UnhashableError

#: What a message of scikit-learn's says, the error it stands for, and what to do about it.
_HINTS = (
    ("0 sample(s)", ShapeError, "give at least one row"),
    ("0 feature(s)", ShapeError, "give at least one column"),
    ("is expecting", ShapeError, "pass the columns that the model was fitted on"),
    ("feature names should match", ShapeError, "pass the columns in the order of the fit"),
    ("Expected 2D", ShapeError, "a single row is [[1, 2, 3]]"),
    ("Found array with dim", ShapeError, "a matrix has one row a case and one column a feature"),
    ("inhomogeneous", ShapeError, "every row needs the same number of values"),
    ("Complex data", InputError, "split it into real and imaginary columns"),
    ("string", InputError, "CategoricalNB takes names as they are"),
)


def matrix(model: Any, X: Any, *, reset: bool, dtype: Any = "numeric") -> Any:
    """A matrix or CSR of the width of the model; values are checked chunk by chunk."""
    try:
        return validate_data(
            model, X, accept_sparse="csr", ensure_all_finite=False, reset=reset, dtype=dtype
        )
    except TypeError as error:
        raise UnhashableError(str(error), hint="use numbers or strings") from None
    except ValueError as error:
        raise _translated(str(error)) from None


def _translated(message: str) -> InputError:
    for words, kind, hint in _HINTS:
        if words in message:
            return kind(message.strip(), hint=hint)
    return InputError(message, hint="X is a matrix of numbers, one row a case")
