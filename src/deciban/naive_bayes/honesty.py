"""How far the evidence of a model is to be believed: what counted rows say, each left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.evaluation import LeaveOneOutScores
from deciban.models import scores
from deciban.models.calibration import Calibration
from deciban.naive_bayes.model import Model
from deciban.naive_bayes.parts import Part
from deciban.naive_bayes.sample import Sample

FloatArray = NDArray[np.float64]
#: Rows that are left out at once.
PIECE = 512
#: Log prior and log-likelihood of counted rows left out, their classes and weights.
Left = tuple[FloatArray, FloatArray, NDArray[np.intp], FloatArray]


def left_out(model: Model, sample: Sample) -> list[Left]:
    """The rows of a sample: a row of weight k is k rows, of which one is left out."""

    def work(part: Part) -> Left:
        y, weight = part.codes_among(model.counts.classes), part.weights
        return *model.left_out(part.batch, y, np.minimum(weight, 1.0)), y, weight

    return list(threads.run(work, sample.pieces(PIECE)))


def measured(rows: list[Left], sample: Sample) -> Calibration:
    """The calibration of counted rows."""
    total = Calibration.nothing()
    for part in threads.run(lambda left: Calibration.of(*left), rows):
        total = total + part
    return total * sample.stride


def kept(model: Model, rows: list[Left]) -> LeaveOneOutScores | None:
    """What the calibrated model says of those rows, for an evaluation without rows."""
    if not rows:
        return None
    parts = []
    for prior, said, _, _ in rows:
        joint = model.believed(prior, said)
        scores.normalise(joint, model.log_prior, logarithm=True)
        parts.append(joint)
    codes, weight = (np.concatenate([row[i] for row in rows]) for i in (2, 3))
    return LeaveOneOutScores(np.concatenate(parts), codes, weight)
