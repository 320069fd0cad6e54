"""The rows that the model was surest about, and wrong: its answer against the truth, and why."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from deciban.errors import DecibanError
from deciban.evaluation.classifier import Classifier
from deciban.evaluation.predictions import Predictions
from deciban.explanation import Explainable, Explanation
from deciban.report.rows import LabelledRows
from deciban.sources.tabular import Value


@dataclass(frozen=True)
class Surprise:
    """A row by its number, from 1; its class, and the probability that the model gave it."""

    row: int
    truth: Hashable
    probability: float
    values: dict[str, Value]
    why: Explanation | None


def find_surprises(
    model: Classifier, rows: LabelledRows, predictions: Predictions, limit: int
) -> list[Surprise]:
    """The rows whose true class was least expected, the worst first."""
    true = predictions.true_probability
    wrong = np.flatnonzero(predictions.posterior.argmax(axis=1) != predictions.codes)
    worst = wrong[np.argsort(true[wrong], kind="stable")[:limit]]
    return [_surprise(model, rows, int(i), float(true[i])) for i in worst]


def _surprise(model: Classifier, rows: LabelledRows, i: int, probability: float) -> Surprise:
    truth, values = rows.labels[i], rows.row(i)
    return Surprise(i + 1, truth, probability, values, _why(model, values, truth))


def _why(model: Classifier, values: dict[str, Value], truth: Hashable) -> Explanation | None:
    """The answer against the truth, if the model knows that class."""
    if not isinstance(model, Explainable):
        return None
    known = truth in model.classes_.tolist()
    try:
        return model.explain(values, truth if known else None)
    except DecibanError:
        return None
