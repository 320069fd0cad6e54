"""Answers where classes are as frequent as somebody states, not as in training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban import decision
from deciban.decision import Rates
from deciban.models.prior import base_rates
from deciban.models.protocol import Model

FloatArray = NDArray[np.float64]


def at_priors(log_posterior: FloatArray, model: Model, priors: Rates) -> FloatArray:
    """Log posteriors of a model, (rows, classes), where ``priors`` are the base rates.

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=0, calibrate=False).fit({"x": ["S", "S", "L", "L"]}, [1, 1, 1, 2])
    >>> np.exp(at_priors(np.log([[0.75, 0.25]]), m.model_, [0.5, 0.5])).round(9)
    array([[0.5, 0.5]])
    """
    old = base_rates(model)
    return decision.rebase_log(log_posterior, old, priors, model.classes, called="priors")
