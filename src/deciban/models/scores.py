"""From log joints to posteriors and evidence, in log space throughout.

``log P(c, x) = log P(c) + sum_j log P(x_j | c)``, and the posterior divides by
``P(x)``, the sum over the classes. A row that no class can have produced (all
joints minus infinity) carries no information: its posterior is the prior.

Evidence is in decibans: ten times the decimal logarithm of an odds factor. The odds of a class
are always odds *against* something. Against one other class ``r`` the evidence of column j for
class c is ``10 log10(P(x_j | c) / P(x_j | r))``; by default a class is compared with all others
at once, through the geometric mean of their likelihoods, which for two classes is the other
class. Either way the evidence of the columns, plus that of the prior, adds up to ``10 log10`` of
the odds of the joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import evidence
from deciban.kernels import posterior as kernel

FloatArray = NDArray[np.float64]


def weigh(log_likelihood: FloatArray, log_prior: FloatArray, discount: float) -> None:
    """Turn log likelihoods into ``log_prior + discount * log_likelihood``, in place.

    >>> joint = np.array([[-2.0, -np.inf]])
    >>> weigh(joint, np.array([-1.0, -1.0]), 0.5)
    >>> joint
    array([[ -2., -inf]])
    """
    kernel.weigh(log_likelihood, log_prior, discount)


def normalise(joint: FloatArray, log_prior: FloatArray, *, logarithm: bool = False) -> None:
    """Turn log joints into posteriors (or their logarithms), in place.

    >>> joint = np.log([[0.1, 0.3]])
    >>> normalise(joint, np.log([0.5, 0.5]))
    >>> joint.round(4)
    array([[0.25, 0.75]])
    """
    kernel.normalise(joint, log_prior, logarithm)


def compare(log_likelihood: FloatArray, against: int, scale: float = 1.0) -> FloatArray:
    """``scale`` times log likelihoods against those of one class, last axis.

    Impossible against impossible is no evidence either way.

    >>> compare(np.log([0.5, 0.25]), against=1).round(4)
    array([0.6931, 0.    ])
    """
    out = np.array(log_likelihood, dtype=np.float64, order="C")
    evidence.compare(out.reshape(1, -1, out.shape[-1]), against, scale)
    return out


def sum_contributions(contributions: FloatArray, log_prior: FloatArray) -> FloatArray:
    """The log joint, (rows, classes), of contributions (rows, columns, classes) and the prior.

    >>> sum_contributions(np.ones((1, 3, 2)), np.array([0.0, 0.5]))
    array([[3. , 3.5]])
    """
    return evidence.totals(np.ascontiguousarray(contributions), np.ascontiguousarray(log_prior))


def differences(contributions: FloatArray, a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
    """Every column's contribution for each row's class a less that for its class b.

    >>> differences(np.array([[[3.0, 1.0]]]), np.array([0]), np.array([1]))
    array([[2.]])
    """
    return evidence.differences(np.ascontiguousarray(contributions), a, b)


def likeliest(joint: FloatArray) -> NDArray[np.intp]:
    """The position of each row's best class, the first of equals.

    >>> likeliest(np.log([[0.1, 0.3], [0.2, 0.2]]))
    array([1, 0])
    """
    return np.asarray(kernel.largest(joint))


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
        return compare(log_likelihood, against, DECIBANS)
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
