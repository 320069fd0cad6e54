"""How a model was trained: what it is, how it was set, and what it has seen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from deciban.evaluation.classifier import (
    Classifier,
    HasChoices,
    HasParameters,
    HasTemperature,
    class_weight_of,
    target_of,
)
from deciban.explanation import Explainable

#: Longer settings are cut.
MAX_SETTING_CHARACTERS = 80


@dataclass(frozen=True)
class TrainingSummary:
    """How a model was trained; ``rows`` and the weights of classes are None if it does not say."""

    kind: str
    target: str | None
    settings: Mapping[str, str]
    rows: float | None
    classes: Mapping[Hashable, float | None]
    temperature: float | None
    shapes: Mapping[str, str]


def summarize_training(model: Classifier) -> TrainingSummary:
    """What a fitted model says about itself."""
    weight = _class_weight(model)
    labels = np.asarray(model.classes_).tolist()
    known = [None] * len(labels) if weight is None else weight
    return TrainingSummary(
        model.model_.kind if isinstance(model, Explainable) else type(model).__name__,
        target_of(model),
        _settings(model),
        None if weight is None else float(sum(weight)),
        dict(zip(labels, known, strict=True)),
        model.temperature_ if isinstance(model, HasTemperature) else None,
        _shapes(model),
    )


def _class_weight(model: Classifier) -> list[float] | None:
    """The weight of the rows of each class."""
    counted = class_weight_of(model)
    return None if counted is None else [float(value) for value in counted]


def _settings(model: Classifier) -> dict[str, str]:
    if not isinstance(model, HasParameters):
        return {}
    params = model.get_params(deep=False).items()
    return {name: _short(repr(value)) for name, value in params if value is not None}


def _short(text: str) -> str:
    limit = MAX_SETTING_CHARACTERS
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shapes(model: Classifier) -> dict[str, str]:
    """How each column is modelled, where the model chose that."""
    choices = model.choices_ if isinstance(model, HasChoices) else {}
    return {name: choice.shape for name, choice in choices.items()}
