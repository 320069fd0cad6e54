"""How good a model is: exact leave-one-out on counted rows, beside always guessing the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deciban import encoding, labels
from deciban.explanation import DECIBANS
from deciban.source import Scan

if TYPE_CHECKING:
    from deciban.mixed import NaiveBayes
    from deciban.mixed.model import Model


@dataclass(frozen=True)
class Quality:
    """Accuracy and log loss (nats a row) of the model and of always guessing ``commonest``."""

    rows: int
    accuracy: float
    log_loss: float
    commonest: str
    guessing_accuracy: float
    guessing_log_loss: float


@dataclass(frozen=True)
class Strength:
    """A column, and the decibans a row that it alone takes off the loss; None: it has no values."""

    column: str
    decibans: float | None


def measure(model: NaiveBayes, rows: Scan, target: str) -> Quality:
    """The quality on counted rows, each judged as if it had never been seen."""
    said = model.leave_one_out(rows, target=target)
    truth = [label for batch in rows for label in batch.columns[target].tolist()]
    y = encoding.codes_of(labels.objects(truth), model.classes_)
    weight = model.counts_.weight
    return Quality(
        len(y),
        float(np.mean(said.argmax(axis=1) == y)),
        float(-np.mean(said[np.arange(len(y)), y])),
        str(model.classes_[weight.argmax()]),
        float(weight.max() / weight.sum()),
        guessing(model.model_),
    )


def guessing(model: Model) -> float:
    """The leave-one-out loss of the class prior alone, as the choice of columns has it."""
    weight = model.counts.weight
    left = np.maximum(weight, 1.0) / (weight.sum() - 1.0 + len(weight))
    return float(-(weight @ np.log(left)) / weight.sum())


def strengths(model: Model) -> list[Strength]:
    """The columns, the strongest first."""
    base = guessing(model)
    found = [
        Strength(name, DECIBANS * (base - choice.loss) if np.isfinite(choice.loss) else None)
        for name, choice in model.choices.items()
    ]
    return sorted(found, key=lambda s: -np.inf if s.decibans is None else s.decibans, reverse=True)
