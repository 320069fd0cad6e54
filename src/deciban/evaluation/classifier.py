"""What is evaluated: a fitted classifier, as scikit-learn has it, from this package or another."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.labels import Labels

FloatArray = NDArray[np.float64]


class Classifier(Protocol):
    """A fitted classifier."""

    @property
    def classes_(self) -> Labels:
        """The classes, in order."""

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)``, (rows, classes)."""


@runtime_checkable
class LeaveOneOutClassifier(Classifier, Protocol):
    """A classifier that takes its training rows out of its counts, one by one."""

    def leave_one_out(self, X: Any, y: Any, *, sample_weight: Any = None) -> FloatArray:
        """``log P(c | x)`` of each row as if it had never been seen, (rows, classes)."""


def check_model(model: object) -> None:
    """Refuse what is no fitted classifier."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise InputError(
            f"a fitted classifier with predict_proba and classes_ is needed, "
            f"got {type(model).__name__}.",
            hint="fit it first",
        )
