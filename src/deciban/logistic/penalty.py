"""The penalty that the rows choose: each is left out of the fit, nearly exactly, and judged.

``C="auto"``. What a penalty ``lam`` means depends on the scale of the columns, so it is chosen as
how far it lets logits spread: if coefficients are normal with the variance ``1 / lam``, logits have
the variance ``v = sum_j var(x_j) / lam`` around the intercept. The objective is

    leave-one-out loss(v) + (log v - usual)**2 / (2 sd**2)

where the second term is a prior: what tables of so many rows usually need.
Each class has one row more, at the mean of all rows: without any evidence, the answer is the
class frequencies, smoothed by one, as it is in naive Bayes.

A row is left out by one step of Newton's method from the optimum W of all rows. With the Hessian H
of the objective, and of row i with the logit z its gradient g and curvature a by it,

    z_i without row i  =  z_i + h g / (1 - h a),      h = x_i' H**-1 x_i

(Rad and Maleki 2020: approximate leave-one-out). The penalty does not see a rotation
of the columns, so that where columns are more than rows, rows are described by no more numbers
than there are rows.

Rows that belong together are not left out one by one: folds hold them out
(:mod:`deciban.logistic.held_out`), and are fitted anew under every penalty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from deciban.errors import InputError
from deciban.logistic import solvers
from deciban.logistic.solvers import Prior, Problem
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.problem import LogisticPoint
from deciban.logistic.solvers.selection import MAX_HESSIAN_COEFFICIENTS
from deciban.sources.unit_folds import Split

FloatArray = NDArray[np.float64]

#: The variances of logits that are tried, from next to nothing on.
LOGIT_VARIANCES = np.exp(np.linspace(np.log(0.01), np.log(100.0), 19))
#: The logarithm of the usual variance of logits: of one row, what the logarithm of the rows adds to
#: it, and how far tables stray from it. Fitted on some 20 tables, 4 to 64 rows each.
USUAL_LOG_VARIANCE, BY_ROWS, LOG_VARIANCE_SD = -3.0, 0.6, 1.5
#: The path is solved to this accuracy; more would not change what is selected.
PATH_TOLERANCE, MAX_PATH_ITER = 1e-6, 50
#: The least precision of a coefficient, so that a Hessian has an inverse.
MIN_PRECISION = 1e-9
#: The rows of a matrix that is held as numbers are no more than this, times its columns.
MAX_DENSE_NUMBERS = 5e7


def add_prior_rows(
    X: FloatArray | csr_array, codes: NDArray[np.intp], weight: FloatArray | None, n_classes: int
) -> tuple[FloatArray | csr_array, NDArray[np.intp], FloatArray | None]:
    """The rows, classes and weights, with one row more of each class, at the mean of all rows.

    >>> add_prior_rows(np.array([[1.0], [3.0]]), np.array([0, 1]), None, 2)[0].ravel()
    array([1., 3., 2., 2.])
    """
    mean = np.tile(_shares(len(codes), weight) @ X, (n_classes, 1))
    more = weight if weight is None else np.append(weight, np.ones(n_classes))
    stacked = np.vstack([X, mean]) if isinstance(X, np.ndarray) else vstack([X, csr_array(mean)])
    if not isinstance(stacked, np.ndarray):
        stacked = csr_array(stacked)
    return stacked, np.append(codes, np.arange(n_classes)), more


def _shares(n_rows: int, weight: FloatArray | None) -> FloatArray:
    """The part of each row in the mean of all."""
    if weight is None or weight.sum() <= 0:
        return np.full(n_rows, 1 / max(n_rows, 1))
    return np.asarray(weight / weight.sum())


def select(
    X: FloatArray | csr_array,
    codes: NDArray[np.intp],
    weight: FloatArray | None,
    n_classes: int,
    splits: Sequence[Split] | None = None,
) -> float:
    """The penalty ``lam`` of least leave-one-out loss and least surprise.

    With ``splits``, the loss is that of the rows which they hold out.

    >>> x = np.linspace(-2, 2, 40)[:, None]
    >>> sharp, noise = (x[:, 0] > 0).astype(int), np.arange(40) % 2
    >>> select(x, sharp, None, 2) < select(x, noise, None, 2)
    True
    """
    rows = np.ones(len(codes)) if weight is None else weight
    Z, total_variance = _describe(X, rows)
    if total_variance <= 0:
        return 1.0
    penalties = total_variance / LOGIT_VARIANCES
    if splits is None:
        loss = leave_one_out_losses(Z, codes, rows, n_classes, penalties)
    else:
        loss = held_out_losses(Z, codes, rows, n_classes, penalties, splits)
    usual = USUAL_LOG_VARIANCE + BY_ROWS * np.log(max(float(rows.sum()), 1.0))
    surprise = ((np.log(LOGIT_VARIANCES) - usual) / LOG_VARIANCE_SD) ** 2 / 2
    return float(penalties[int(np.argmin(loss + surprise))])


def leave_one_out_losses(
    Z: FloatArray,
    codes: NDArray[np.intp],
    weight: FloatArray,
    n_classes: int,
    penalties: FloatArray,
) -> FloatArray:
    """The summed log loss of rows under each penalty, strongest first, each row left out.

    ``Z`` are the rows less their mean, (rows, columns).
    """
    rows, problem = _smoothed_problem(Z, codes, weight, n_classes)
    losses = []
    for fold, point in _path(problem, penalties):
        logits = _left_out_logits(rows, fold, point)[: len(codes)]
        losses.append(float(weight @ _log_losses(logits, codes)))
    return np.array(losses)


def held_out_losses(
    Z: FloatArray,
    codes: NDArray[np.intp],
    weight: FloatArray,
    n_classes: int,
    penalties: FloatArray,
    splits: Sequence[Split],
) -> FloatArray:
    """The summed log loss of rows that folds hold out, for as many rows as there are."""
    losses, judged = np.zeros(len(penalties)), 0.0
    for inside, held in splits:
        of = Z[inside], codes[inside], weight[inside]
        for i, (_, point) in enumerate(_path(_smoothed_problem(*of, n_classes)[1], penalties)):
            logits = Z[held] @ point.W[:-1] + point.W[-1]
            losses[i] += weight[held] @ _log_losses(logits, codes[held])
        judged += float(weight[held].sum())
    return np.asarray(losses * (weight.sum() / judged))


def _smoothed_problem(
    Z: FloatArray, codes: NDArray[np.intp], weight: FloatArray, n_classes: int
) -> tuple[FloatArray, Problem]:
    """Rows less their mean, with one row more of each class, and the problem that they are."""
    m = 1 if n_classes == 2 else n_classes
    rows, y = np.vstack([Z, np.zeros((n_classes, Z.shape[1]))]), np.arange(n_classes)
    weights = np.append(weight, np.ones(n_classes))
    free = Prior.l2(0.0, Z.shape[1], m)
    return rows, Problem(Dense(rows), np.append(codes, y), free, weights)


def _path(problem: Problem, penalties: FloatArray) -> Iterator[tuple[Problem, LogisticPoint]]:
    """The optimum under each penalty, strongest first, each from the one before on."""
    W = np.zeros_like(problem.prior.centre)
    for lam in penalties.tolist():
        fold = replace(problem, prior=Prior.l2(lam, len(W) - 1, W.shape[1]))
        point = solvers.solve(fold, W, "auto", PATH_TOLERANCE, MAX_PATH_ITER).point
        W = point.W
        yield fold, point


def _left_out_logits(Z: FloatArray, problem: Problem, point: LogisticPoint) -> FloatArray:
    """The logits of every row of Z without it, (rows, logits); of weight k, one of k is left out.

    Logits of K > 2 classes are taken one by one. Their sum does not matter, so that the curvature
    by one of them, ``p (1 - p)``, is K / (K - 1) times as large if it moves against all others.
    """
    X, weight = np.hstack([Z, np.ones((len(Z), 1))]), problem.weight
    weights = np.ones(len(X)) if weight is None else weight
    truth = np.eye(max(2, problem.n_logits))[problem.y][:, -problem.n_logits :]
    out = problem.design.product(point.W)
    against_others = 1.0 if problem.n_logits == 1 else problem.n_logits / (problem.n_logits - 1)
    for k, p in enumerate(point.proba.T):
        curvature = p * (1 - p) * against_others
        hessian = (X * (weights * curvature)[:, None]).T @ X
        np.einsum("ii->i", hessian)[:] += np.maximum(problem.prior.precision[:, k], MIN_PRECISION)
        h = np.minimum(weights, 1.0) * np.einsum("ij,ji->i", X, np.linalg.solve(hessian, X.T))
        out[:, k] += h * (p - truth[:, k]) / (1 - h * curvature)
    return out


def _log_losses(logits: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    own = logits[np.arange(len(codes)), codes]
    return np.asarray(np.logaddexp.reduce(logits, axis=1) - own)


def _describe(X: FloatArray | csr_array, weight: FloatArray) -> tuple[FloatArray, float]:
    """Rows less their mean, in as few numbers as hold them, and the variance of all columns."""
    n, d = X.shape
    size = min(n, d)
    if size > MAX_HESSIAN_COEFFICIENTS or n * size > MAX_DENSE_NUMBERS:
        raise InputError(
            f'C="auto" leaves every row out of a fit of no more than {MAX_HESSIAN_COEFFICIENTS:,} '
            f"columns or as many rows, and of no more than {MAX_DENSE_NUMBERS:,.0f} numbers, but "
            f"there are {n:,} rows and {d:,} columns.",
            hint="state C, such as 1.0; deciban.BayesClassifier chooses for itself",
        )
    share = _shares(n, weight)
    if d <= n:
        dense = X.toarray() if isinstance(X, csr_array) else X
        Z = dense - share @ dense
        return np.ascontiguousarray(Z), float(share @ (Z**2).sum(axis=1))
    gram = X @ X.T
    gram = gram.toarray() if isinstance(gram, csr_array) else np.asarray(gram)
    mean = share @ gram
    gram = gram - mean - (mean - share @ mean)[:, None]
    values, vectors = np.linalg.eigh(gram)
    kept = values > len(values) * np.finfo(float).eps * values[-1]
    Z = np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
    return Z, float(share @ (Z**2).sum(axis=1))
