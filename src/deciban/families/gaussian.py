"""Numeric columns as normal distributions, one per class.

The sums are exact (see :mod:`deciban.exact`): ``n``, ``sum x`` and
``sum x**2`` of the values that are not missing. Mean and variance are
computed from them without cancellation, at any offset and scale.

=========  ==============================  =========================================
method     prediction rule                 parameters
=========  ==============================  =========================================
``ml``     normal at the likeliest values  mean, ``sum (x - mean)**2 / n``
``map``    normal at the posterior's mode  ``m_n``, ``b_n / (a_n + 3/2)``
``bayes``  both parameters integrated out  Student's t: ``2 a_n`` degrees of freedom,
                                           ``m_n``, ``b_n (k_n + 1) / (a_n k_n)``
=========  ==============================  =========================================

The prior is normal-inverse-gamma and worth ``lam`` rows that look like the
whole column: ``m_0`` its mean, ``k_0 = lam``, ``a_0 = lam / 2`` and
``b_0 = lam / 2`` times its variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.errors import InputError, MissingValueError
from deciban.exact import ExactSum, deviation
from deciban.families.discrete import FloatArray
from deciban.kernels import exact, gaussian
from deciban.settings import Settings

#: Differences of this relative size are the rounding of a decay, not of a sum.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Params:
    """Location, 1 / scale**2 and log-density at the centre, (columns, classes).

    ``df`` is None for normal distributions. A class without data has precision
    and constant zero: it says nothing.
    """

    mean: FloatArray
    precision: FloatArray
    constant: FloatArray
    df: FloatArray | None = None


def count(
    X: FloatArray,
    y: NDArray[np.intp],
    n_classes: int,
    weight: FloatArray | None,
    cells: object = None,
) -> dict[str, Any]:
    """``n``, ``sum x`` and ``sum x**2`` per class and column, exactly; NaN is skipped."""
    if weight is None:
        infinite, missing, total, total_base, squares, squares_base = exact.moments(X, y, n_classes)
        _refuse_infinity(infinite, X)
        rows = np.bincount(y, minlength=n_classes)[:, None]
        n = ExactSum(np.ascontiguousarray((rows - missing)[:, :, None]), 0)
    else:
        infinite, n, n_base, total, total_base, squares, squares_base = exact.weighted_moments(
            X, y, weight, n_classes
        )
        _refuse_infinity(infinite, X)
        n = ExactSum(n, n_base).carried()
    return {
        "n": n,
        "total": ExactSum(total, total_base).carried(),
        "squares": ExactSum(squares, squares_base).carried(),
    }


def _refuse_infinity(at: int, X: FloatArray) -> None:
    if at >= 0:
        row, column = divmod(at, X.shape[1])
        raise MissingValueError(
            f"X has {X[row, column]} (infinity) in column {column}.",
            hint="replace it by a large finite number, or by NaN for missing",
        )


def impossible(sums: dict[str, Any]) -> NDArray[np.bool_]:
    """Less than no data, or squares that no data with this sum can have."""
    n, total, squares = (sums[name] for name in ("n", "total", "squares"))
    slack = -_ROUNDING * n.floats() * squares.floats()
    left_over = ~n.nonzero() & (total.nonzero() | squares.nonzero())
    return np.asarray(
        n.negative() | squares.negative() | left_over | (deviation(n, total, squares) < slack)
    )


def moments(sums: dict[str, Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``n``, mean and sum of squared deviations from the mean; zeros where n is 0."""
    n = sums["n"].floats()
    some = np.where(n > 0, n, 1.0)
    mean = sums["total"].floats() / some
    spread = np.maximum(deviation(sums["n"], sums["total"], sums["squares"]), 0.0) / some
    if not (np.all(np.isfinite(mean)) and np.all(np.isfinite(spread))):
        raise InputError(
            "the squares of the values do not fit a float.", hint="divide the column by 1e150"
        )
    return n, mean, spread


def pooled(sums: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each column over all classes, (columns,)."""
    n, mean, spread = moments({name: part.total() for name, part in sums.items()})
    return mean, spread / np.where(n > 0, n, 1.0)


def estimate(
    sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings
) -> Params:
    """Normal or Student's t parameters of every column and class."""
    n, mean, spread = moments(sums)
    if settings.method == "ml":
        return _normal(n, mean, spread / np.where(n > 0, n, 1.0) + settings.floor)
    lam = settings.per_column(cells.size)
    prior_mean, prior_var = pooled(sums)
    kappa, a = lam + n, (lam + n) / 2
    some = np.where(kappa > 0, kappa, 1.0)
    shift = mean - prior_mean
    b = (lam * prior_var + spread + lam * n * shift**2 / some) / 2
    centre = np.where(kappa > 0, prior_mean + n * shift / some, 0.0)
    if settings.method == "map":
        return _normal(kappa, centre, b / (a + 1.5) + settings.floor)
    return _student(kappa, centre, 2 * b * (kappa + 1) / some**2 + settings.floor)


def _precision(var: FloatArray) -> FloatArray:
    return 1.0 / np.maximum(var, np.finfo(np.float64).tiny)


def _normal(n: FloatArray, mean: FloatArray, var: FloatArray) -> Params:
    precision = np.where(n > 0, _precision(var), 0.0)
    constant = np.where(n > 0, 0.5 * np.log(_precision(var) / (2 * np.pi)), 0.0)
    return Params(*(np.ascontiguousarray(part.T) for part in (mean, precision, constant)))


def _student(df: FloatArray, centre: FloatArray, var: FloatArray) -> Params:
    from scipy.special import gammaln

    some = np.where(df > 0, df, 1.0)
    precision = np.where(df > 0, _precision(var), 0.0)
    constant = gammaln((some + 1) / 2) - gammaln(some / 2) + 0.5 * np.log(
        _precision(var) / (np.pi * some)
    )
    constant = np.where(df > 0, constant, 0.0)
    return Params(*(np.ascontiguousarray(p.T) for p in (centre, precision, constant, some)))


def add(params: Params, X: FloatArray, out: FloatArray) -> None:
    """Add the log-density of every row; a missing value adds nothing."""
    if params.df is None:
        work = np.zeros(64 * X.shape[1])
        gaussian.add_normal(X, params.mean, params.precision, params.constant, work, out)
    else:
        gaussian.add_student(X, params.mean, params.precision, params.constant, params.df, out)


def explain(params: Params, X: FloatArray) -> FloatArray:
    """The log-density of each column under every class."""
    distance = (X[:, :, None] - params.mean) ** 2 * params.precision
    if params.df is None:
        density = params.constant - distance / 2
    else:
        density = params.constant - (params.df + 1) / 2 * np.log1p(distance / params.df)
    return np.where(np.isnan(X)[:, :, None], 0.0, density)
