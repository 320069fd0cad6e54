"""How strong the columns of a model are, from the counts alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deciban.explanation import DECIBANS

if TYPE_CHECKING:
    from deciban.naive_bayes.model import NaiveBayesModel as Model


@dataclass(frozen=True)
class Strength:
    """A column, and the decibans a row that it alone takes off the loss; None: it has no values."""

    column: str
    decibans: float | None


def strengths(model: Model) -> list[Strength]:
    """The columns, the strongest first."""
    base = _guessing(model)
    found = [
        Strength(name, DECIBANS * (base - choice.loss) if np.isfinite(choice.loss) else None)
        for name, choice in model.choices.items()
    ]
    return sorted(found, key=lambda s: -np.inf if s.decibans is None else s.decibans, reverse=True)


def _guessing(model: Model) -> float:
    """The leave-one-out loss of the class prior alone, as the choice of columns has it."""
    weight = model.counts.weight
    left = np.maximum(weight, 1.0) / (weight.sum() - 1.0 + len(weight))
    return float(-(weight @ np.log(left)) / weight.sum())
