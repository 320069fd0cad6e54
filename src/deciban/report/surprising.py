"""The rows that the model was surest about, and wrong: what it said against the truth, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.errors import DecibanError
from deciban.explanation import Explanation
from deciban.report.rows import Rows


@dataclass(frozen=True)
class Surprise:
    """A row by its number, from 1; its class, and the probability that the model gave it."""

    row: int
    truth: Any
    probability: float
    values: dict[str, Any]
    why: Explanation | None


def surprises(model: Any, rows: Rows, said: Any, most: int) -> list[Surprise]:
    """The rows whose true class was least expected, the worst first."""
    true = said.posterior[np.arange(len(said.codes)), said.codes]
    wrong = np.flatnonzero(said.posterior.argmax(axis=1) != said.codes)
    worst = wrong[np.argsort(true[wrong], kind="stable")[:most]]
    return [_surprise(model, rows, int(i), float(true[i])) for i in worst]


def _surprise(model: Any, rows: Rows, i: int, probability: float) -> Surprise:
    truth, values = rows.labels[i], rows.row(i)
    return Surprise(i + 1, truth, probability, values, _why(model, values, truth))


def _why(model: Any, values: dict[str, Any], truth: Any) -> Explanation | None:
    """The answer against the truth, if the model knows that class."""
    if not hasattr(model, "explain"):
        return None
    known = truth in np.asarray(model.classes_).tolist()
    try:
        found: Explanation = model.explain(values, truth if known else None)
    except DecibanError:
        return None
    return found
