"""How often classes come before anything is known of a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.models.protocol import HasCounts, Model

__all__ = ["base_rates", "prior_probabilities"]

FloatArray = NDArray[np.float64]


def base_rates(model: Model) -> FloatArray:
    """The probabilities of the classes before anything is known of a row, (classes,).

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=0, calibrate=False).fit({"x": ["S", "S", "L", "L"]}, [1, 1, 1, 2])
    >>> base_rates(m.model_)
    array([0.75, 0.25])
    """
    prior = prior_probabilities(model)
    if prior is not None:
        return prior
    if isinstance(model, HasCounts):
        return np.asarray(model.counts.weight / model.counts.weight.sum())
    raise ParameterError(
        f"a {model.kind} does not know how often its classes were seen in training.",
        hint="leave the priors out, or train a model of counts",
    )


def prior_probabilities(model: Model) -> FloatArray | None:
    """``P(c)``, where a model starts from probabilities; logits have no prior."""
    prior = np.exp(model.log_prior)
    return prior if abs(prior.sum() - 1.0) < 1e-6 else None
