"""Model files: as the pure model that scores, or as the estimator that answers and learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.files.registry import load
from deciban.models.protocol import HasCounts, Model
from deciban.schema import ColumnSchema

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


def is_used(column: ColumnSchema) -> bool:
    """Whether a column says something; the others are ignored."""
    return bool(column.numbers or column.categories or column.texts)


def field_types(model: Model, target: str | None = None) -> dict[str, str]:
    """How columns were written in training, where the fields of a small file may mislead.

    A category "1" beside "x" is a text, also in a file where all categories look like numbers.
    """
    types = model.schema.field_types
    known = {} if target is None else {target: model.classes}
    if isinstance(model, HasCounts):
        for table in model.counts.tables.values():
            columns = table.cells.columns.tolist()
            names = [c if isinstance(c, str) else model.schema.names[c] for c in columns]
            known |= dict(zip(names, table.cells.values or (), strict=False))
    categories = set(model.schema.categories)
    for name, values in known.items():
        words = len(values) and all(isinstance(value, str) for value in values.tolist())
        if words and (name in categories or name == target):
            types = {name: "text"} | types
    return types


def save(estimator: Any, path: str) -> int:
    """Write a model as a whole; its size in bytes."""
    estimator.save(path)
    return Path(path).stat().st_size
