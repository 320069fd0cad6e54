"""Rates of counts: Poisson and negative binomial distributions, estimated from totals.

=========  ==============================  =============================================
method     prediction rule                 parameters
=========  ==============================  =============================================
``ml``     Poisson at the likeliest rate   ``sum x / n``
``map``    Poisson at the posterior's mode ``(a_n - 1) / b_n``, or 0 where ``a_n < 1``
``bayes``  the rate integrated out         negative binomial: ``r = a_n``,
                                           ``p = b_n / (b_n + 1)``
=========  ==============================  =============================================

The prior of a rate is a gamma distribution worth ``lam`` rows that look like the whole column:
shape ``a_0 = lam`` times the mean of the column, rate ``b_0 = lam``; so ``a_n = a_0 + sum x`` and
``b_n = b_0 + n``. A class without data in a column looks like the whole column, and a column
without data says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.families.bounded import CurveSettings, bound_evidence
from deciban.families.gaussian import DEFAULT_PRIOR_ROWS
from deciban.families.piece import Draws
from deciban.kernels.gamma import log_gamma
from deciban.stats import rounding
from deciban.stats.exact import pool
from deciban.stats.moments import exact_sums
from deciban.stats.statistic import Codes, FloatArray, Sums

#: Larger numbers are no counts here: of their logarithms, rounding would be a part.
MAX_COUNT = 2.0**31
#: From this shape on, ratios of gamma functions are taken by Stirling's series.
MIN_STIRLING_SHAPE = 50.0


@dataclass(frozen=True, eq=False)
class PoissonSettings(CurveSettings):
    """Settings of counts: ``extra_shape`` is added to the shape of the prior.

    With 1, the mode of the prior, not its mean, is the mean of the column.
    """

    extra_shape: float = 0.0


class Totals(NamedTuple):
    """The weight of some rows and the sum of their counts."""

    n: FloatArray
    total: FloatArray

    def of_column(self, column: int) -> Totals:
        """Those of one column, (classes,)."""
        return Totals(self.n[:, column], self.total[:, column])


class CountDistribution(NamedTuple):
    """Mean of every distribution, NaN where nothing is known, and the ``b_n`` behind it.

    ``rows`` is None for Poisson distributions; else they are negative binomial. ``max_evidence``
    is by how many nats the log probabilities of two classes, last axis, may differ; None is
    without end.
    """

    mean: FloatArray
    rows: FloatArray | None = None
    max_evidence: FloatArray | None = None

    def log(self, x: FloatArray) -> FloatArray:
        """The log probability of x; 0 where it is no count, or where nothing is known."""
        known = is_count(x) & ~np.isnan(self.mean)
        count, mean = np.where(known, x, 0.0), np.where(known, self.mean, 0.0)
        some = np.where(mean > 0, mean, 1.0)
        if self.rows is None:
            log = count * np.log(some) - some - log_gamma(count + 1)
        else:
            log = _log_negative_binomial(count, some * self.rows, self.rows)
        log = np.where(mean > 0, log, np.where(count > 0, -np.inf, 0.0))
        log = np.where(known, log, 0.0)
        if self.max_evidence is None:
            return log
        return bound_evidence(log, self.max_evidence)

    def select(self, column: int) -> CountDistribution:
        """The distributions of one column."""
        return CountDistribution(*(None if part is None else part[column] for part in self))  # type: ignore[arg-type]


def is_count(x: FloatArray) -> NDArray[np.bool_]:
    """Whether numbers are whole and from 0 to ``MAX_COUNT``; NaN is not.

    >>> is_count(np.array([3.0, 2.5, -1.0, np.nan, 1e300]))
    array([ True, False, False, False, False])
    """
    return np.asarray((x >= 0) & (x <= MAX_COUNT) & (x == np.floor(x)))


def totals_of(sums: Sums) -> tuple[Totals, Totals]:
    """The totals of each class and column, and those of whole columns, (1, columns).

    A mean lies between 0 and ``MAX_COUNT``, whatever numbers were counted.
    """
    n, total, _ = exact_sums(sums)
    return clip(n.floats(), total.floats()), clip(*(part.floats() for part in pool((n, total))))


def clip(n: FloatArray, total: FloatArray) -> Totals:
    """Totals whose means are those of counts."""
    return Totals(n, np.clip(total, 0.0, MAX_COUNT * n))


def fit(
    of: Totals, prior: Totals, lam: FloatArray | float, how: PoissonSettings
) -> CountDistribution:
    """Distributions in the shape of the totals; without any data, their mean is NaN."""
    whole = prior.total / np.where(prior.n > 0, prior.n, np.nan)
    empty, most = of.n <= 0, how.max_evidence(prior.n, lam)
    if how.method == "ml":
        a, b = of.total, of.n + empty
    else:
        lam = np.where(empty & (np.asarray(lam) == 0), DEFAULT_PRIOR_ROWS, lam)
        a, b = of.total + lam * whole, of.n + lam
    if how.method == "map":
        a = np.maximum(a + how.extra_shape - 1.0, 0.0)
    mean = np.where(empty, whole, a / b)
    if how.method != "bayes":
        return CountDistribution(mean)
    return CountDistribution(mean, b, most)


def _log_negative_binomial(x: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """``log Gamma(a + x) / (Gamma(a) x!) + a log(b / (b + 1)) - x log(b + 1)``."""
    near, far = np.minimum(a, MIN_STIRLING_SHAPE), np.maximum(a, MIN_STIRLING_SHAPE)
    # Stirling's series: for much data the two logarithms would cancel.
    series = (far - 0.5) * np.log1p(x / far) + x * np.log(far + x) - x
    series += _stirling_rest(far + x) - _stirling_rest(far)
    ratio = np.where(a > MIN_STIRLING_SHAPE, series, log_gamma(near + x) - log_gamma(near))
    return np.asarray(ratio - log_gamma(x + 1) - a * np.log1p(1 / b) - x * np.log1p(b))


def _stirling_rest(a: FloatArray) -> FloatArray:
    """``log Gamma(a) - (a - 1/2) log a + a - log(2 pi) / 2`` for large a."""
    r = 1 / a
    square = r * r
    return np.asarray(r * (1 / 12 - square * (1 / 360 - square / 1260)))


def leave_out(
    classes: Totals,
    whole: Totals,
    lam: FloatArray,
    how: PoissonSettings,
    column: NDArray[np.intp],
    x: FloatArray,
    own: Codes,
    weight: FloatArray,
) -> FloatArray:
    """Log probabilities of values of columns, (rows, classes), each taken out of its class.

    ``lam`` are the rows that the prior of each column is worth; ``column`` is that of each value.
    """
    prior = _remove(whole, np.zeros_like(own), column, x, weight)
    by_row, rows = Totals(*(part[:, None] for part in prior)), lam[column]
    each = fit(Totals(*(part[:, column].T for part in classes)), by_row, rows[:, None], how)
    less, cell = _remove(classes, own, column, x, weight), (np.arange(len(x)), own)
    for part, left in zip(each[:2], fit(less, prior, rows, how), strict=False):
        if part is not None:
            part[cell] = left
    return each.log(x[:, None])


def _remove(
    of: Totals, own: Codes, column: NDArray[np.intp], x: FloatArray, weight: FloatArray
) -> Totals:
    """What is left of each value's class and column without the row; NaN was not counted."""
    gone, total = np.where(np.isnan(x), 0.0, weight), weight * np.where(np.isnan(x), 0.0, x)
    n = np.maximum(rounding.difference(of.n[own, column], gone), 0.0)
    return clip(n, rounding.difference(of.total[own, column], total))


def rate_draws(x: FloatArray, of: Totals) -> Draws:
    """Samples of log probabilities at x, (values, classes), from Gamma(sum x + 1/2, n)."""
    count = np.where(is_count(x), x, 0.0)[None, :, None]
    factorial = log_gamma(count + 1)

    def draw(rng: np.random.Generator, times: int) -> FloatArray:
        drawn = rng.standard_gamma(of.total + 0.5, (times, 1, len(of.n)))
        rate = np.maximum(drawn, np.finfo(np.float64).tiny) / np.maximum(of.n, 1.0)
        return np.asarray(count * np.log(rate) - rate - factorial)

    return draw
