"""Model files: as the pure model that scores, or as the estimator that answers and learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deciban.errors import ParameterError
from deciban.files.model import load

if TYPE_CHECKING:
    from deciban.estimators.classifier import TableClassifier


def load_classifier(path: str, *, leave_one_out: bool = False) -> TableClassifier[Any]:
    """What answers questions about the rows of a table, whatever kind of model the file holds.

    ``leave_one_out`` asks for one that can leave its rows out one by one.
    """
    from deciban.estimators.classifier import table_classifier
    from deciban.evaluation.classifier import LeaveOneOutClassifier

    estimator = load(path)
    if leave_one_out and not isinstance(estimator, LeaveOneOutClassifier):
        raise ParameterError(
            f"{path} holds a {type(estimator).__name__}, which cannot leave its rows out one by "
            "one.",
            hint="evaluate it on rows that it has not seen",
        )
    return table_classifier(estimator)


def target_column(stated: str | None, model: TableClassifier[Any], path: str) -> str:
    """The column of labels: as stated, or as it was in training."""
    label = stated or model.target_
    schema = model.model_.schema
    if label in (*schema.numbers, *schema.categories, *schema.texts):
        raise ParameterError(
            f"--target {label} is a column that {path} answers by, not one of labels.",
            hint="leave it out" if model.target_ else "name the column of labels",
        )
    if label is None:
        raise ParameterError(
            f"{path} does not say which column it predicts.", hint="name it with --target"
        )
    return label


def save(estimator: Any, path: str, *, overwrite: bool) -> int:
    """Write a model as a whole; its size in bytes."""
    estimator.save(path, overwrite=overwrite)
    return Path(path).stat().st_size
