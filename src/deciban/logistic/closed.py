"""Closed forms: what naive Bayes says the coefficients are.

Normal columns with class means ``mu_c`` and one shared variance ``s_j**2``
have linear log joints: ``w_cj = mu_cj / s_j**2`` and
``b_c = log P(c) - sum_j mu_cj**2 / (2 s_j**2)``. Counts of words have
``w_cj = log P(word j | c)``. See docs/logistic.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.sources.matrix import is_sparse

FloatArray = NDArray[np.float64]


def of_gaussian(mean: FloatArray, var: FloatArray, prior: FloatArray) -> FloatArray:
    """Coefficients (columns + 1, classes) from means (classes, columns) and variances (columns,).

    >>> of_gaussian(np.array([[0.0], [2.0]]), np.array([2.0]), np.array([0.5, 0.5]))[0]
    array([0., 1.])
    """
    w = mean / var
    with np.errstate(divide="ignore"):
        b = np.log(prior) - (mean * w).sum(axis=1) / 2
    return np.vstack([w.T, b])


def shared_variance(model: Any) -> FloatArray:
    """The one variance per column of a Gaussian model, or an error that says what it lacks."""
    for name in ("theta_", "var_", "class_prior_", "classes_"):
        if not hasattr(model, name):
            raise InputError(
                f"from_gaussian needs a fitted Gaussian model, got {type(model).__name__} "
                f"without {name}.",
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


def naive_bayes(
    X: Any, codes: NDArray[np.intp], n_classes: int, weight: FloatArray | None
) -> FloatArray:
    """The naive Bayes solution of rows: of words if sparse and not negative, else of numbers.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> naive_bayes(X, np.array([0, 0, 1, 1]), 2, None)[0].round(6)
    array([ 2., 10.])
    """
    w = np.ones(len(codes)) if weight is None else weight
    member = np.zeros((len(codes), n_classes))
    member[np.arange(len(codes)), codes] = w
    rows = member.sum(axis=0) + 1e-9
    sums = np.asarray((X.T @ member).T)
    sparse = is_sparse(X)
    if sparse and X.data.min(initial=0.0) >= 0:
        share = (sums + 1) / (sums + 1).sum(axis=1, keepdims=True)
        return np.vstack([np.log(share).T, np.log(rows / rows.sum())])
    mean = sums / rows[:, None]
    squares = X.power(2).T @ w if sparse else np.einsum("ij,ij,i->j", X, X, w)
    var = (squares - (rows[:, None] * mean**2).sum(axis=0)) / rows.sum()
    usable = var > 1e-9 * (squares / rows.sum() + 1e-300)
    mean = np.where(usable, mean, 0.0)
    return of_gaussian(mean, np.where(usable, var, 1.0), rows / rows.sum())
