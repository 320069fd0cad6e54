"""Checks of what a caller passes: the classes, and the weights of rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight

from deciban import encoding
from deciban.errors import InputError, ParameterError
from deciban.labels import Labels
from deciban.logistic.solvers.problem import Prior, too_large
from deciban.models.class_weights import ClassWeight

FloatArray = NDArray[np.float64]


def check_several(classes: Labels) -> None:
    """There is nothing to tell apart in one class."""
    if len(classes) < 2:
        raise InputError(
            f"at least two classes are needed, y has one class: {classes.tolist()[0]!r}.",
            hint="give rows of each class",
        )


def check_finite(posteriors: Iterable[Prior]) -> None:
    """Coefficients and their precision are numbers: the squares of what they rest on were."""
    for posterior in posteriors:
        if not (np.isfinite(posterior.centre).all() and np.isfinite(posterior.precision).all()):
            raise too_large()


def row_weights(
    sample_weight: ArrayLike | None,
    class_weight: ClassWeight,
    known: Labels,
    codes: NDArray[np.intp],
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
