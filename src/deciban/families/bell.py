"""Bell curves: the normal distribution and Student's t, estimated from moments.

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

When rows are taken away from a numeric column, one by one or in units, deviations are measured
from the mean of each row's own class, so that a sum of squares loses digits only where nearly
all of it goes. There the exact sums are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_FLOAT
from deciban.families.bounded import CurveSettings, bound_evidence
from deciban.families.remaining import Remaining
from deciban.families.settings import amount
from deciban.formulas import build
from deciban.formulas.build import known
from deciban.formulas.nodes import (
    Expression,
    Extreme,
    Function,
    Number,
    Product,
    Scaled,
    Shared,
    Square,
    Sum,
)
from deciban.kernels import gaussian as kernel
from deciban.kernels.gamma import log_gamma
from deciban.stats.cells import Cells
from deciban.stats.exact import ExactSum
from deciban.stats.moments import (
    MOMENTS,
    NAMES,
    ColumnSums,
    MeanAndSpread,
    check_moments,
    exact_sums,
    mean_and_spread,
    share_variance,
)
from deciban.stats.statistic import Codes, FloatArray, Sums

#: Rows that leave less than this share of the spread are taken away exactly.
CANCELLED_SHARE = 1e-3
#: From so many degrees of freedom on, what rounding takes from ``1 + d`` would show in formulas.
MIN_EXACT_DF = 1e5


@dataclass(frozen=True, eq=False)
class GaussianSettings(CurveSettings):
    """Settings of normal columns: ``floor`` is added to every variance, ``shared`` is one for all.

    >>> GaussianSettings("ml", floor=-1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: floor must be a number >= 0, got -1.0. Hint: it is added to ...
    """

    floor: float = field(default=0.0, metadata=amount("it is added to every variance"))
    shared: bool = False


class Density(NamedTuple):
    """Location, 1 / scale**2 and log density at the centre; for Student's t two things more.

    ``df`` are the degrees of freedom, and ``max_evidence`` by how many nats the log densities of
    two classes, last axis, may differ.
    """

    mean: FloatArray
    precision: FloatArray
    constant: FloatArray
    df: FloatArray | None = None
    max_evidence: FloatArray | None = None

    def log(self, x: FloatArray) -> FloatArray:
        """The log density at x."""
        with np.errstate(over="ignore"):  # as far away as can be: minus infinity
            distance = (x - self.mean) ** 2 * self.precision
        if self.df is None or self.max_evidence is None:
            return np.asarray(self.constant - distance / 2)
        distance = np.minimum(distance / self.df, MAX_FLOAT)  # finite, as the bound of evidence is
        log = self.constant - (self.df + 1) / 2 * np.log1p(distance)
        return bound_evidence(log, self.max_evidence)


def fit(
    of: MeanAndSpread, prior: MeanAndSpread, lam: FloatArray | float, how: GaussianSettings
) -> Density:
    """The density in the shape of the moments; without data, that of the prior."""
    n, mean, spread = of
    lam = 0.0 if how.method == "ml" else lam
    kappa = lam + n
    some = np.where(kappa > 0, kappa, 1.0)
    shift = np.where(np.asarray(lam) > 0, mean - prior.mean, 0.0)
    prior_variance = prior.variance
    b = (lam * prior_variance + spread + n * (lam / some) * shift**2) / 2
    var = {
        "ml": 2 * b / some,
        "map": b / (kappa / 2 + 1.5),
        "bayes": 2 * b * (kappa + 1) / some**2,
    }[how.method]
    centre = np.where(kappa > 0, mean - lam / some * shift, prior.mean)
    var = np.where(kappa > 0, var, prior_variance) + how.floor
    precision = 1.0 / np.maximum(var, np.finfo(np.float64).tiny)
    if how.method != "bayes":
        return Density(centre, precision, 0.5 * np.log(precision / (2 * np.pi)))
    df, most = np.where(kappa > 0, kappa, 1.0), how.max_evidence(prior.n, lam)
    return Density(centre, precision, student_constant(df) + 0.5 * np.log(precision), df, most)


def densities(classes: MeanAndSpread, whole: MeanAndSpread, how: GaussianSettings) -> Density:
    """The density of every column and class, (columns, classes), from moments the other way."""
    moments = share_variance(classes) if how.shared else classes
    lam = 0.0 if how.method == "ml" else how.per_column(moments.n.shape[1])
    needed = np.any(lam) or not moments.n.all()
    prior = whole if needed else MeanAndSpread(*np.zeros((3, 1, moments.n.shape[1])))
    check_moments(classes, prior)
    known = (moments.n != 0).any(axis=0) & ~is_unknown(whole, how)[0]
    return _transpose(fit(moments, prior, lam, how), known)


def _transpose(fitted: Density, known: NDArray[np.bool_]) -> Density:
    """From (classes, columns) to (columns, classes); a column that is not known says nothing."""
    # Not zero, nor half of it: an overflowing distance times zero would be NaN.
    least = 2 * np.finfo(np.float64).smallest_subnormal
    precision = np.where(known, fitted.precision, least)
    constant = np.where(known, fitted.constant, 0.0)
    parts = (fitted.mean, precision, constant, fitted.df, fitted.max_evidence)
    return Density(*(None if x is None else np.ascontiguousarray(x.T) for x in parts))  # type: ignore[arg-type]


def student_constant(df: FloatArray) -> FloatArray:
    """The log density at the centre of Student's t of scale 1."""
    a = df / 2
    near = np.minimum(a, 50.0)
    # Stirling's series: for much data the two logarithms would cancel.
    far = 0.5 * np.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    ratio = np.where(a > 50.0, far, log_gamma(near + 0.5) - log_gamma(near))
    return np.asarray(ratio - 0.5 * np.log(np.pi * df))


def leave_out(
    classes: ColumnSums,
    whole: ColumnSums,
    lam: FloatArray,
    how: GaussianSettings,
    column: NDArray[np.intp],
    x: FloatArray,
    own: Codes,
    weight: FloatArray,
) -> FloatArray:
    """Log densities of known values of columns, (rows, classes), each taken out of its class.

    ``lam`` are the rows that the prior of each column is worth; ``column`` is that of each value.
    """
    prior = remove_rows(whole, column, x, np.zeros_like(own), weight)
    less = remove_rows(classes, column, x, own, weight)
    if how.shared:
        by_row, rows = MeanAndSpread(*prior[:, :, None]), lam[column][:, None]
        out = fit(_share_left(classes, column, less, own), by_row, rows, how).log(x[:, None])
        out[is_unknown(MeanAndSpread(*prior), how)] = 0.0
        return out
    each, at = _columns_among(classes, column)
    out = np.empty((len(x), each.shape[1]))
    rows = lam[column]
    most = how.max_evidence(prior[0], rows)
    kernel.leave_out(x, own, at, each, prior, less, rows, most, how.method, how.floor, out)
    return out


def _columns_among(of: ColumnSums, column: NDArray[np.intp]) -> tuple[FloatArray, NDArray[np.intp]]:
    """The number, mean and spread of a range of columns, (3, classes, columns); each one's place.

    The range is that from the first to the last of some columns.
    """
    first, last = (column.min(), column.max()) if len(column) else (0, 0)
    return np.stack([part[:, first : last + 1] for part in of.moments]), column - first


def is_unknown(whole: MeanAndSpread, how: GaussianSettings) -> NDArray[np.bool_]:
    """Where nothing is known of a column: it has no value, or one alone, which has no spread."""
    return np.asarray((whole.n <= 0) | ((whole.spread <= 0) & (how.method != "ml")))


def _share_left(
    classes: ColumnSums, column: NDArray[np.intp], less: FloatArray, own: Codes
) -> MeanAndSpread:
    """Moments of all classes that share one variance, (rows, classes), each row taken away."""
    rows = np.arange(len(own))
    n, mean, spread = (np.ascontiguousarray(part[:, column].T) for part in classes.moments)
    for part, left in zip((n, mean, spread), less, strict=True):
        part[rows, own] = left
    return share_by_row(MeanAndSpread(n, mean, spread))


def share_by_row(of: MeanAndSpread) -> MeanAndSpread:
    """Moments, (rows, classes), with one variance for all classes of each row."""
    by_class = MeanAndSpread(*(part.T for part in of))
    return MeanAndSpread(*(part.T for part in share_variance(by_class)))


def remove_rows(
    of: ColumnSums, column: NDArray[np.intp], x: FloatArray, own: Codes, weight: FloatArray
) -> FloatArray:
    """The number, mean and spread of each value's column and class without it, (3, rows).

    A row that holds nearly all of the spread would leave rounding in its
    place: such rows, no more than a few a class, are taken from the exact sums.
    """
    each, at = _columns_among(of, column)
    cell, flat = own * each.shape[2] + at, each.reshape(3, -1)
    less = np.empty((3, len(x)))
    if kernel.remove_rows(x, cell, weight, flat, CANCELLED_SHARE, less):
        n, _, spread = less
        bad = np.flatnonzero((spread < CANCELLED_SHARE * flat[2, cell]) & (n > 0))
        exactly = _remove_exactly(of.exact, column[bad], x[bad], own[bad], weight[bad])
        less[:, bad] = [part[:, 0] for part in exactly]
    return less


def _remove_exactly(
    sums: Sums, column: NDArray[np.intp], x: FloatArray, own: Codes, weight: FloatArray
) -> MeanAndSpread:
    """The moments that are left of exact sums, (rows, 1)."""
    gone = MOMENTS.count(x[:, None], np.arange(len(x)), len(x), weight, Cells.of_columns(1))
    had = {
        name: ExactSum(part.digits[own, column][:, None], part.base)
        for name, part in zip(NAMES, exact_sums(sums), strict=True)
    }
    return mean_and_spread(MOMENTS.subtract(had, gone))


def remove_units(of: ColumnSums, column: int, x: FloatArray, remaining: Remaining) -> MeanAndSpread:
    """The moments of each class that are left for each row of a column, (rows, classes)."""
    n, mean, spread = (part[:, column] for part in of.moments)
    known = ~np.isnan(x)
    off = np.where(known, x, mean[remaining.y]) - mean[remaining.y]
    left = np.maximum(remaining.left(n, known.astype(np.float64)), 0.0)
    total, squares = remaining.left(np.zeros_like(n), off), remaining.left(spread, off**2)
    some = np.where(left > 0, left, 1.0)
    shift = total / some
    rest = np.maximum(squares - total * shift, 0.0)
    kept = MeanAndSpread(left, np.where(left > 0, mean + shift, 0.0), np.where(left > 0, rest, 0.0))
    scale = np.broadcast_to(spread, rest.shape) if remaining.subtracts else squares
    bad = (rest < CANCELLED_SHARE * scale) & (left > 0)
    for unit, own in sorted(set(_units_of(bad, remaining))):
        rows = np.flatnonzero(remaining.removed(unit) & known & (remaining.y == own))
        exactly = _remove_all(of.exact, column, own, x[rows], remaining.weight[rows])
        for part, value in zip(kept, exactly, strict=True):
            part[remaining.unit == unit, own] = value
    return kept


def pool_by_row(of: MeanAndSpread) -> MeanAndSpread:
    """The moments of all classes together, (rows, 1), from those of each, (rows, classes)."""
    n = of.n.sum(axis=1, keepdims=True)
    some = np.where(n > 0, n, 1.0)
    mean = (of.n * of.mean).sum(axis=1, keepdims=True) / some
    between = (of.n * (of.mean - mean) ** 2).sum(axis=1, keepdims=True)
    return MeanAndSpread(n, mean, of.spread.sum(axis=1, keepdims=True) + between)


def _units_of(bad: NDArray[np.bool_], remaining: Remaining) -> Iterator[tuple[int, int]]:
    """The units and classes of some rows and classes."""
    rows, classes = np.nonzero(bad)
    return zip(remaining.unit[rows].tolist(), classes.tolist(), strict=True)


def _remove_all(
    sums: Sums, column: int, own: int, x: FloatArray, weight: FloatArray
) -> tuple[float, float, float]:
    """The moments of one class that are left of exact sums without some of its rows."""
    one = Cells.of_columns(1)
    gone = MOMENTS.count(x[:, None], np.zeros(len(x), dtype=np.intp), 1, weight, one)
    had = {
        name: ExactSum(part.digits[own : own + 1, column : column + 1], part.base)
        for name, part in zip(NAMES, exact_sums(sums), strict=True)
    }
    n, mean, spread = mean_and_spread(MOMENTS.subtract(had, gone))
    return float(n[0, 0]), float(mean[0, 0]), float(spread[0, 0])


def formulas(
    x: Expression,
    mean: FloatArray,
    precision: FloatArray,
    constant: FloatArray,
    df: FloatArray | None,
    max_evidence: FloatArray | None,
) -> list[Expression]:
    """The log density of a column under each class, (classes,); 0 where x is missing."""
    parts = (part.tolist() for part in (mean, precision, constant))
    each = zip(*parts, [None] * len(mean) if df is None else df.tolist(), strict=True)
    log = [known(x, _log_density(x, *of_class)) for of_class in each]
    return log if max_evidence is None else build.bound_evidence(log, max_evidence.item())


def _log_density(
    x: Expression, mean: float, precision: float, constant: float, df: float | None
) -> Expression:
    """The log density at a squared distance d from the centre, in scales.

    ``constant - d / 2``, or ``constant - (df + 1) / 2 log(1 + d / df)``.
    """
    if df is None:
        distance: Expression = Square(Scaled(x, mean, float(np.sqrt(precision))))
        return Sum((Number(constant), Product(Number(-0.5), distance)))
    square = Square(Scaled(x, mean, float(np.sqrt(precision / df))))
    distance = Extreme("least", (square, Number(MAX_FLOAT)))
    if df < MIN_EXACT_DF:
        log: Expression = Function("log", Sum((Number(1.0), distance)))
    else:
        log = Function("log1p", Shared(distance))
    fall = Product(Number(-(df + 1) / 2), log)
    return Sum((Number(constant), fall))
