"""Evidence in decibans: ten times the decimal logarithm of an odds factor.

The odds of a class are always odds *against* something. Against one other
class ``r`` the evidence of column j for class c is
``10 log10(P(x_j | c) / P(x_j | r))``; by default a class is compared with all
others at once, through the geometric mean of their likelihoods, which for two
classes is the other class. Either way the evidence of the columns, plus that
of the prior, adds up to ``10 log10`` of the odds of the joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.models import scores

FloatArray = NDArray[np.float64]

#: One natural unit of log-odds in decibans.
DECIBANS = 10.0 / np.log(10.0)


def decibans(log_likelihood: FloatArray, against: int | None = None) -> FloatArray:
    """Evidence for each class, last axis, from log-likelihoods.

    >>> decibans(np.log([[0.2, 0.02]]))
    array([[ 10., -10.]])
    >>> decibans(np.log([0.2, 0.02, 0.002]), against=2)
    array([20., 10.,  0.])
    """
    if against is not None:
        return scores.compare(log_likelihood, against, DECIBANS)
    if log_likelihood.shape[-1] == 2:
        other = log_likelihood[..., ::-1]
    else:
        other = _mean_of_others(log_likelihood)
    with np.errstate(invalid="ignore"):
        difference = log_likelihood - other
    # Impossible against impossible is no evidence either way.
    return np.where(np.isnan(difference), 0.0, DECIBANS * difference)


def _mean_of_others(log_likelihood: FloatArray) -> FloatArray:
    """The mean over all other classes; minus infinity where one of them is. Alone, itself."""
    n_classes = log_likelihood.shape[-1]
    if n_classes == 1:
        return log_likelihood
    impossible = np.isneginf(log_likelihood)
    finite = np.where(impossible, 0.0, log_likelihood)
    mean = (finite.sum(axis=-1, keepdims=True) - finite) / (n_classes - 1)
    among_others = impossible.sum(axis=-1, keepdims=True) - impossible
    return np.where(among_others > 0, -np.inf, mean)
