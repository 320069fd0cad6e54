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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.cells import Cells
from deciban.errors import InputError, MissingValueError
from deciban.exact import ExactSum, deviation
from deciban.families.discrete import FloatArray, more_than
from deciban.kernels import gaussian
from deciban.kernels import moments as kernel
from deciban.kernels.gamma import log_gamma
from deciban.labels import Labels
from deciban.rounding import ROUNDING
from deciban.settings import Settings

#: With more classes, the faster way of counting would need too much memory.
MOST_CLASSES = 1 << 12
#: The kernel counts no more rows at once: its sums of squares would not fit.
MOST_ROWS = 1 << 22
#: Sums that should be equal differ by less than this share after many decays.
DUST = 2.0**-400
#: A row that leaves less than this share of the spread is taken away exactly.
CANCELLED = 1e-3
_NAMES = ("n", "total", "squares")


@dataclass(frozen=True, eq=False)
class Params:
    """Location, 1 / scale**2 and log-density at the centre, (columns, classes).

    ``df`` is None for normal distributions. A class without data in a column is
    taken to look like the whole column, and a column without data says nothing.
    """

    mean: FloatArray
    precision: FloatArray
    constant: FloatArray
    df: FloatArray | None = None

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.mean)


def check(X: FloatArray, columns: Labels) -> None:
    """Numbers are finite, or NaN for a missing value."""
    infinite = np.isinf(X)
    if infinite.any():
        row, column = divmod(int(np.argmax(infinite)), X.shape[1])
        _refuse_infinity(X[row, column], columns[column])


def _refuse_infinity(value: float, column: object) -> None:
    raise MissingValueError(
        f"X has {value} (infinity) in column {column!s}.",
        hint="replace it by a large finite number, or by NaN for missing",
    )


def count(
    X: FloatArray, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Any]:
    """``n``, ``sum x`` and ``sum x**2`` per class and column, exactly; NaN is skipped."""
    sums: dict[str, Any] = {}
    for start in range(0, max(len(X), 1), MOST_ROWS):
        part = slice(start, start + MOST_ROWS)
        some = None if weight is None else weight[part]
        more = _counted(X[part], y[part], n_classes, some, cells)
        sums = {name: sums[name] + more[name] for name in sums} or more
    return sums


def _counted(
    X: FloatArray, y: NDArray[np.intp], n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Any]:
    if weight is None and n_classes > MOST_CLASSES:
        weight = np.ones(len(y))
    parts: list[Any]
    if weight is None:
        infinite, *parts = kernel.count(X, y, n_classes)
    else:
        infinite, *parts = kernel.count_weighted(X, y, weight, n_classes)
    if infinite >= 0:
        row, column = divmod(infinite, X.shape[1])
        _refuse_infinity(X[row, column], cells.columns[column])
    digits, bases = parts[::2], parts[1::2]
    sums = [ExactSum(some, base).carried() for some, base in zip(digits, bases, strict=True)]
    return dict(zip(_NAMES, sums, strict=True))


def subtract(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Sum by sum; all are zero where only the rounding of weights is left of n."""
    left = {name: whole[name] - part[name] for name in whole}
    dust = _dust(left, whole)
    return {name: some.zeroed(dust) for name, some in left.items()} if dust.any() else left


def _dust(difference: dict[str, Any], whole: dict[str, Any]) -> NDArray[np.bool_]:
    """Where a difference of all three sums is not nothing, but no more than rounding.

    Whole weights leave nothing at all; fractional ones may leave the last bits.
    """
    some = np.any([part.nonzero() for part in difference.values()], axis=0)
    some &= ~(whole["n"].whole() & difference["n"].whole())
    if not some.any():
        return np.asarray(some)
    n, total, squares = (np.abs(difference[name].floats()) for name in _NAMES)
    most, sum_, scale = (np.abs(whole[name].floats()) for name in _NAMES)
    share = np.where(difference["n"].nonzero(), ROUNDING, DUST)
    size = np.where(np.isfinite(scale), scale, 0.0)
    small = total <= share * np.maximum(sum_, np.sqrt(most) * np.sqrt(size))
    return np.asarray(some & small & (squares <= share * size) & (n <= share * most))


def impossible(
    left: dict[str, Any], whole: dict[str, Any], rows: FloatArray, cells: Cells
) -> NDArray[np.bool_]:
    """Less than no data, more than the rows, or squares that no data with this sum can have."""
    n, total, squares = (left[name] for name in _NAMES)
    negative = n.negative() | squares.negative()
    empty = ~n.nonzero() & (total.nonzero() | squares.nonzero())
    left_over = deviation(n.zeroed(negative), total, squares.zeroed(negative))
    slack = ROUNDING * np.maximum(deviation(whole["n"], whole["total"], whole["squares"]), 0.0)
    slack += DUST * np.minimum(n.floats() * squares.floats(), np.finfo(np.float64).max)
    return np.asarray(negative | empty | more_than(n.floats(), rows) | (left_over < -slack))


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether the sums are equal: exactly for whole weights, up to rounding otherwise."""
    difference = {name: a[name] - b[name] for name in _NAMES}
    some = np.any([part.nonzero() for part in difference.values()], axis=0)
    return not some.any() or not np.any(some & ~_dust(difference, a))


class Moments(NamedTuple):
    """How many values, their mean, and the sum of squared deviations from it."""

    n: FloatArray
    mean: FloatArray
    spread: FloatArray


class Prior(NamedTuple):
    """What a class looks like before it is seen: the whole column."""

    mean: FloatArray
    var: FloatArray


def moments(sums: dict[str, Any]) -> Moments:
    """``n``, mean and sum of squared deviations from the mean; zeros where n is 0."""
    n = sums["n"].floats()
    some = np.where(n > 0, n, 1.0)
    mean = sums["total"].floats() / some
    spread = np.maximum(deviation(sums["n"], sums["total"], sums["squares"]), 0.0) / some
    if not (np.all(np.isfinite(mean)) and np.all(np.isfinite(spread))):
        raise InputError(
            "the squares of the values do not fit a float.", hint="divide the column by 1e150"
        )
    return Moments(n, mean, spread)


def pooled(sums: dict[str, Any]) -> Prior:
    """Mean and variance of each column over all classes, (columns,)."""
    n, mean, spread = moments({name: part.total() for name, part in sums.items()})
    return Prior(mean, spread / np.where(n > 0, n, 1.0))


def shared(of: Moments) -> Moments:
    """The same with one variance per column, within classes, for all of them."""
    n = of.n.sum(axis=0)
    var = of.spread.sum(axis=0) / np.where(n > 0, n, 1.0)
    return Moments(of.n, of.mean, of.n * var)


def estimate(sums: dict[str, Any], rows: FloatArray, cells: Cells, settings: Settings) -> Params:
    """Normal or Student's t parameters of every column and class."""
    of = shared(moments(sums)) if settings.shared else moments(sums)
    lam = 0.0 if settings.method == "ml" else settings.per_column(cells.size)
    needed = np.any(lam) or not of.n.all()
    prior = pooled(sums) if needed else Prior(np.zeros(1), np.zeros(1))
    known = np.broadcast_to(sums["n"].nonzero().any(axis=0), of.n.shape)
    return _turned(_fitted(of, prior, lam, settings), known)


def _fitted(of: Moments, prior: Prior, lam: FloatArray | float, settings: Settings) -> Params:
    """Location, precision and constant, in the shape of the moments; without data, the prior."""
    n, mean, spread = of
    lam = 0.0 if settings.method == "ml" else lam
    kappa = lam + n
    some = np.where(kappa > 0, kappa, 1.0)
    shift = np.where(np.asarray(lam) > 0, mean - prior.mean, 0.0)
    b = (lam * prior.var + spread + n * (lam / some) * shift**2) / 2
    var = {
        "ml": 2 * b / some,
        "map": b / (kappa / 2 + 1.5),
        "bayes": 2 * b * (kappa + 1) / some**2,
    }[settings.method]
    centre = np.where(kappa > 0, mean - lam / some * shift, prior.mean)
    var = np.where(kappa > 0, var, prior.var) + settings.floor
    precision = 1.0 / np.maximum(var, np.finfo(np.float64).tiny)
    if settings.method != "bayes":
        return Params(centre, precision, 0.5 * np.log(precision / (2 * np.pi)))
    df = np.where(kappa > 0, kappa, 1.0)
    return Params(centre, precision, _student_constant(df) + 0.5 * np.log(precision), df)


def _turned(fitted: Params, known: NDArray[np.bool_]) -> Params:
    """From (classes, columns) to (columns, classes); a column that is not known says nothing."""
    # Not zero, nor half of it: an overflowing distance times zero would be NaN.
    least = 2 * np.finfo(np.float64).smallest_subnormal
    precision = np.where(known, fitted.precision, least)
    constant = np.where(known, fitted.constant, 0.0)
    mean, precision, constant = (
        np.ascontiguousarray(x.T) for x in (fitted.mean, precision, constant)
    )
    df = None if fitted.df is None else np.ascontiguousarray(fitted.df.T)
    return Params(mean, precision, constant, df)


def _student_constant(df: FloatArray) -> FloatArray:
    """The log-density at the centre of Student's t of scale 1."""
    a = df / 2
    near = np.minimum(a, 50.0)
    # Stirling's series: for much data the two logarithms would cancel.
    far = 0.5 * np.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    ratio = np.where(a > 50.0, far, log_gamma(near + 0.5) - log_gamma(near))
    return np.asarray(ratio - 0.5 * np.log(np.pi * df))


def of_column(sums: dict[str, Any], column: int) -> dict[str, Any]:
    """The sums of one column."""
    return {name: part.between(column, column + 1) for name, part in sums.items()}


def left_out(
    params: Params,
    sums: dict[str, Any],
    cells: Cells,
    settings: Settings,
    X: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """Log-densities, (rows, classes), with each row taken away from its class.

    The row's own class loses it, and so does the whole column, whose mean and
    variance are every class's prior.
    """
    out = np.zeros((len(X), params.mean.shape[1]))
    for j, lam in enumerate(settings.per_column(cells.size).tolist()):
        known = np.flatnonzero(~np.isnan(X[:, j]))
        column = of_column(sums, j)
        out[known] += column_left_out(column, lam, settings, X[known, j], y[known], weight[known])
    return out


def column_left_out(
    sums: dict[str, Any],
    lam: float,
    settings: Settings,
    x: FloatArray,
    own: NDArray[np.intp],
    weight: FloatArray,
) -> FloatArray:
    """The same of one column, whose values are all known; ``sums`` are :func:`of_column`."""
    totals = {name: part.total() for name, part in sums.items()}
    whole = {name: ExactSum(part.digits[None], part.base) for name, part in totals.items()}
    rest = _without(whole, moments(whole), x, np.zeros_like(own), weight)
    prior = Prior(rest.mean, rest.spread / np.where(rest.n > 0, rest.n, 1.0))
    of = moments(sums)
    others = Moments(*(part.T for part in of))
    turned = Prior(prior.mean[:, None], prior.var[:, None])
    out = _log_density(_fitted(others, turned, lam, settings), x[:, None])
    less = _fitted(_without(sums, of, x, own, weight), prior, lam, settings)
    out[np.arange(len(x)), own] = _log_density(less, x)
    out[rest.n <= 0] = 0.0  # the only value of the column: without it nothing is known
    return out


def _without(
    sums: dict[str, Any], of: Moments, x: FloatArray, own: NDArray[np.intp], weight: FloatArray
) -> Moments:
    """The moments of a column in each row's class when the row is taken away from them again.

    A row that holds nearly all of the spread would leave rounding in its
    place: such rows, no more than a few a class, are taken from the exact sums.
    """
    n, mean, spread = (part[own, 0] for part in of)
    left = np.where(n - weight > 1e-9 * weight, n - weight, 0.0)
    some = np.where(left > 0, left, 1.0)
    rest = np.maximum(spread - weight * (x - mean) ** 2 * (n / some), 0.0) * (left > 0)
    less = Moments(left, np.where(left > 0, mean + (mean - x) * (weight / some), 0.0), rest)
    bad = np.flatnonzero((rest < CANCELLED * spread) & (left > 0))
    if len(bad):
        gone = count(x[bad, None], np.arange(len(bad)), len(bad), weight[bad], Cells.of_columns(1))
        had = {name: ExactSum(part.digits[own[bad]], part.base) for name, part in sums.items()}
        for part, exactly in zip(less, moments(subtract(had, gone)), strict=True):
            part[bad] = exactly[:, 0]
    return less


def add(params: Params, X: FloatArray, out: FloatArray) -> None:
    """Add the log-density of every row; a missing value adds nothing."""
    if params.df is None:
        work = np.zeros(64 * X.shape[1])
        gaussian.add_normal(X, params.mean, params.precision, params.constant, work, out)
    else:
        gaussian.add_student(X, params.mean, params.precision, params.constant, params.df, out)


def explain(params: Params, X: FloatArray) -> FloatArray:
    """The log-density of each column under every class."""
    density = _log_density(params, X[:, :, None])
    return np.where(np.isnan(X)[:, :, None], 0.0, density)


def add_each(params: Params, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
    """Add the log-density of column j to column ``at[j]`` of out, (rows, columns, classes)."""
    said = explain(params, X)
    for j, place in enumerate(at.tolist()):
        out[:, place] += said[:, j]


def _log_density(params: Params, x: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # as far away as can be: minus infinity
        distance = (x - params.mean) ** 2 * params.precision
    if params.df is None:
        return np.asarray(params.constant - distance / 2)
    return np.asarray(params.constant - (params.df + 1) / 2 * np.log1p(distance / params.df))
