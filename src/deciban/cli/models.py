"""Model files: as the pure model that scores, or as the estimator that answers and learns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import Caster
from deciban.errors import ParameterError
from deciban.files.registry import load
from deciban.models.columns import constant_values, required_columns
from deciban.models.protocol import Model
from deciban.sources import Scan

if TYPE_CHECKING:
    from deciban.estimators.classifier import TableClassifier

FloatArray = NDArray[np.float64]


def load_classifier(path: str, *, leave_one_out: bool = False) -> TableClassifier[Any]:
    """What answers questions about the rows of a table, whatever kind of model the file holds.

    The estimators of tables answer themselves; the models of those that take matrices are asked
    through the shell that all estimators of tables share. ``leave_one_out`` asks for one that
    can leave its rows out one by one.
    """
    from deciban.estimators.classifier import TableClassifier
    from deciban.evaluation.classifier import LeaveOneOutClassifier

    estimator = load(path)
    if leave_one_out and not isinstance(estimator, LeaveOneOutClassifier):
        raise ParameterError(
            f"{path} holds a {type(estimator).__name__}, which cannot leave its rows out one by "
            "one.",
            hint="evaluate it on rows that it has not seen",
        )
    if isinstance(estimator, TableClassifier):
        return estimator
    return TableClassifier.of_model(estimator.model_)


def target_column(stated: str | None, target: str | None, path: str) -> str:
    """The column of labels: as stated, or as it was in training."""
    label = stated or target
    if label is None:
        raise ParameterError(
            f"{path} does not say which column it predicts.", hint="name it with --target"
        )
    return label


def class_prior(model: Model) -> FloatArray | None:
    """``P(c)``, where a model starts from probabilities; logits have no prior."""
    prior = np.exp(model.log_prior)
    return prior if abs(prior.sum() - 1.0) < 1e-6 else None


def require_columns(model: Model, table: Scan) -> Caster:
    """Refuse a table that lacks a column which the model needs; how its rows are cast."""
    for name in required_columns(model):
        table.require(name)
    return replace(model.caster, absent=constant_values(model))


def save(estimator: Any, path: str, *, overwrite: bool) -> int:
    """Write a model as a whole; its size in bytes."""
    estimator.save(path, overwrite=overwrite)
    return Path(path).stat().st_size
