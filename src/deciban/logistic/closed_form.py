"""Closed forms: the coefficients of naive Bayes models whose log joints are linear.

Normal columns with class means ``mu_c`` and one shared variance ``s_j**2``
have ``w_cj = mu_cj / s_j**2`` and
``b_c = log P(c) - sum_j mu_cj**2 / (2 s_j**2)``. Counts of words have
``w_cj = log P(word j | c)``. See docs/logistic.md.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import erf

from deciban.errors import InputError
from deciban.families.piece import CURVE_DEVIATIONS
from deciban.labels import Labels
from deciban.logistic.columns import MAX_VALUES, ColumnSummary

FloatArray = NDArray[np.float64]

#: The weight that a class without rows is taken to have.
MIN_CLASS_WEIGHT = 1e-9
#: A variance of less than this share of the mean square is rounding.
MIN_VARIANCE_SHARE = 1e-9


def gaussian_coefficients(mean: FloatArray, var: FloatArray, prior: FloatArray) -> FloatArray:
    """Coefficients (columns + 1, classes) from means (classes, columns) and variances (columns,).

    >>> gaussian_coefficients(np.array([[0.0], [2.0]]), np.array([2.0]), np.array([0.5, 0.5]))[0]
    array([0., 1.])
    """
    w = mean / var
    with np.errstate(divide="ignore"):
        b = np.log(prior) - (mean * w).sum(axis=1) / 2
    return np.vstack([w.T, b])


@runtime_checkable
class GaussianClassifier(Protocol):
    """A fitted Gaussian naive Bayes classifier, as scikit-learn has it."""

    @property
    def classes_(self) -> Labels:
        """The classes, in order."""

    @property
    def theta_(self) -> FloatArray:
        """The mean of each column in each class, (classes, columns)."""

    @property
    def var_(self) -> FloatArray:
        """Its variance."""

    @property
    def class_prior_(self) -> FloatArray:
        """The probability of each class."""


def shared_variance(model: object) -> FloatArray:
    """The one variance per column of a Gaussian model, or an error that says what it lacks."""
    if not isinstance(model, GaussianClassifier):
        raise InputError(
            f"from_gaussian needs a fitted Gaussian model, got {type(model).__name__} "
            "without theta_, var_, class_prior_ or classes_.",
            hint="GaussianNB(shared_variance=True).fit(X, y)",
        )
    var = np.asarray(model.var_, dtype=np.float64)
    if not np.allclose(var, var[:1], rtol=1e-12, atol=0.0):
        raise InputError(
            "the classes have variances of their own, so the log-odds are quadratic.",
            hint="GaussianNB(shared_variance=True).fit(X, y)",
        )
    if not (np.all(var > 0) and np.all(np.asarray(model.class_prior_) > 0)):
        raise InputError(
            "a variance or a prior is zero, so a coefficient is infinite.",
            hint="every class needs rows, every column some spread",
        )
    return np.asarray(var[0])


def gaussian_columns(mean: FloatArray, var: FloatArray, weight: FloatArray) -> ColumnSummary:
    """What columns are that are normal in every class, of means (classes, columns).

    The mean distance of N(mu, s**2) from a centre is that of a folded normal distribution; the
    values are spaced over three standard deviations around all means.

    >>> of = gaussian_columns(np.array([[0.0], [0.0]]), np.array([1.0]), np.array([3.0, 1.0]))
    >>> of.deviation.round(4).T, of.values[[0, -1]].T          # sqrt(2 / pi)
    (array([[0.7979, 0.7979]]), array([[-3.,  3.]]))
    """
    sd, off = np.sqrt(var), mean - weight @ mean / weight.sum()
    density = np.exp(-((off / sd) ** 2) / 2) / np.sqrt(2 * np.pi)
    deviation = 2 * sd * density + off * erf(off / (sd * np.sqrt(2)))
    reach = CURVE_DEVIATIONS * sd
    values = np.linspace(mean.min(axis=0) - reach, mean.max(axis=0) + reach, MAX_VALUES)
    return ColumnSummary(weight, mean, deviation, values)


def naive_bayes_coefficients(
    X: FloatArray | csr_array, codes: NDArray[np.intp], n_classes: int, weight: FloatArray | None
) -> FloatArray:
    """Coefficients (columns + 1, classes) of naive Bayes fitted to rows.

    Multinomial (Laplace smoothing) if X is sparse and not negative, else Gaussian with shared
    variances; columns without spread have coefficient 0.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> naive_bayes_coefficients(X, np.array([0, 0, 1, 1]), 2, None)[0].round(6)
    array([ 2., 10.])
    """
    w = np.ones(len(codes)) if weight is None else weight
    member = np.zeros((len(codes), n_classes))
    member[np.arange(len(codes)), codes] = w
    rows = member.sum(axis=0) + MIN_CLASS_WEIGHT
    sums = np.asarray((X.T @ member).T)
    if isinstance(X, np.ndarray):
        return _gaussian(rows, sums, np.einsum("ij,ij,i->j", X, X, w))
    if X.data.min(initial=0.0) >= 0:
        return _multinomial(rows, sums)
    return _gaussian(rows, sums, X.power(2).T @ w)


def _multinomial(rows: FloatArray, sums: FloatArray) -> FloatArray:
    """Coefficients from the weight of each class, (classes,), and its sums, (classes, columns)."""
    share = (sums + 1) / (sums + 1).sum(axis=1, keepdims=True)
    return np.vstack([np.log(share).T, np.log(rows / rows.sum())])


def _gaussian(rows: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Coefficients from weights and sums of the classes, and the squares of all, (columns,)."""
    mean = sums / rows[:, None]
    var = (squares - (rows[:, None] * mean**2).sum(axis=0)) / rows.sum()
    usable = var > MIN_VARIANCE_SHARE * (squares / rows.sum() + np.finfo(np.float64).tiny)
    mean = np.where(usable, mean, 0.0)
    return gaussian_coefficients(mean, np.where(usable, var, 1.0), rows / rows.sum())
