"""What the tests of choices take from inside the package, in one place: a rename is mended here."""

import re
from typing import NamedTuple


class BaseLearner(NamedTuple):
    """One base learner of a BayesClassifier.

    ``hyperparameter`` is the penalty of a linear one, or the strength of AODE.
    """

    name: str
    weight: float
    loss: float | None
    hyperparameter: float | None


def base_learners(model):
    """The base learners of a fitted BayesClassifier."""
    out = []
    for view in model.report_.views:
        number = re.search(r"(?:penalty|m =) ([\d.]+|inf)", view.note)
        chosen = None if number is None else float(number[1])
        out.append(BaseLearner(view.name, view.share, view.loss, chosen))
    return out


def text_readings(model):
    """How a fitted NaiveBayes reads each text column: ``{column: {hyperparameter: value}}``."""
    return {
        name: {
            "weighting": str(way.weighting),
            "contrast": float(way.contrast),
            "smoothing": float(way.smoothing),
            "length": float(way.length),
            "scale": float(way.scale),
        }
        for name, way in model.model_.readings.items()
    }
