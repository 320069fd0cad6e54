"""Pieces: what an additive model adds up, one table of log-likelihoods each.

A piece is a column, or one of the things that a column is counted as (a time's
day of the week, whether a value is missing). Importance, curves and nomograms
are arithmetic on pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deciban.sources.tabular import Value

FloatArray = NDArray[np.float64]
Draws = Callable[[np.random.Generator, int], FloatArray]

#: The points of a curve, the share of values beyond each of its ends, and how many standard
#: deviations it reaches where no values are kept.
CURVE_POINTS, CURVE_TAIL, CURVE_DEVIATIONS = 81, 0.001, 3.0


@dataclass(frozen=True, eq=False)
class Piece:
    """The values that a piece distinguishes, and what each says.

    All tables are (values, classes): ``log_likelihood`` is up to a
    constant per value, ``share`` how often the model expects a value in a row of
    each class (an amount: how much of it), ``rows`` how many were counted.
    ``draws`` are samples of ``log_likelihood`` from its posterior. Numbers in bins have
    ``edges``, the least value of each bin but the first; numbers without are
    on a curve through the values. ``names`` are words for the values.
    """

    feature: str
    name: str
    kind: Literal["number", "category", "amount"]
    values: tuple[Value, ...]
    log_likelihood: FloatArray
    share: FloatArray
    rows: FloatArray | None = None
    draws: Draws | None = None
    edges: tuple[float, ...] | None = None
    names: tuple[str, ...] = ()

    def scale(self, factor: float) -> Piece:
        """What the values say, times a factor: evidence at a temperature."""
        draws = self.draws
        scaled = None if draws is None else (lambda rng, n: factor * draws(rng, n))
        return replace(self, log_likelihood=factor * self.log_likelihood, draws=scaled)

    @property
    def labels(self) -> tuple[str, ...]:
        """The values, or the bins, in words."""
        if self.names:
            return self.names
        if self.edges is None or not self.edges:
            return tuple(_short(value) for value in self.values)
        ends = [_short(edge) for edge in self.edges]
        middle = [f"{low} – {high}" for low, high in pairwise(ends)]
        return (f"< {ends[0]}", *middle, f"≥ {ends[-1]}")


def missing_name(feature: str) -> str:
    """The name of the piece that says what a missing value says.

    >>> missing_name("age")
    'age (missing)'
    """
    return f"{feature} (missing)"


def as_number(value: Value) -> float:
    """A number as it is, a time in seconds as it is counted.

    >>> as_number(3), as_number(date(1970, 1, 2))
    (3.0, 86400.0)
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.timestamp()
    if isinstance(value, date):
        return as_number(datetime(value.year, value.month, value.day))
    if isinstance(value, time):
        return value.hour * 3600.0 + value.minute * 60 + value.second + value.microsecond / 1e6
    return float(value)


def _short(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# ---------------------------------------------------------------------- samples of posteriors


def dirichlet_draws(counts: FloatArray, pseudo_count: float) -> Draws:
    """Samples of log shares, (values, classes), from Dirichlet(counts + pseudo_count)."""
    alpha = counts + pseudo_count
    return beta_draws(alpha, alpha.sum(axis=0) - alpha)


def beta_draws(alpha: FloatArray, rest: FloatArray) -> Draws:
    """Samples of logarithms of Beta(alpha, rest)."""
    alpha, rest = np.maximum(alpha, 1e-3), np.maximum(rest, 1e-3)

    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        size = (n, *alpha.shape)
        tiny = np.finfo(np.float64).tiny
        one = np.maximum(rng.standard_gamma(alpha, size), tiny)
        others = rng.standard_gamma(rest, size)
        return np.asarray(np.log(one) - np.log(one + others))

    return draw


def normal_draws(x: FloatArray, n: FloatArray, mean: FloatArray, spread: FloatArray) -> Draws:
    """Samples of log densities at x, (values, classes).

    Means and variances are normal-inverse-gamma, with a flat prior and at least
    two rows' worth of knowledge.
    """
    rows = np.maximum(n, 2.0)
    least = np.maximum(spread.max(initial=0.0) * 1e-9, np.finfo(np.float64).tiny)
    b = np.maximum(spread, least) / 2

    def draw(rng: np.random.Generator, times: int) -> FloatArray:
        shape = (times, 1, len(mean))
        var = b / np.maximum(rng.standard_gamma(rows / 2, shape), 1e-300)
        centre = mean + np.sqrt(var / rows) * rng.standard_normal(shape)
        return np.asarray(-0.5 * ((x[None, :, None] - centre) ** 2 / var + np.log(var)))

    return draw


# ---------------------------------------------------------------------- points of a curve


def density_shares(log_density: FloatArray, x: FloatArray) -> FloatArray:
    """Log densities on a grid as shares of each class, (values, classes)."""
    width = np.gradient(x)[:, None] if len(x) > 1 else 1.0
    weight = np.exp(log_density - log_density.max(axis=0)) * width
    return np.asarray(weight / weight.sum(axis=0))


def spaced_points(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Evenly spaced values within a few standard deviations of every class's mean."""
    low = (mean - CURVE_DEVIATIONS * deviation).min()
    high = (mean + CURVE_DEVIATIONS * deviation).max()
    return np.linspace(low, high, CURVE_POINTS) if high > low else np.array([low])


def seen_points(keys: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Evenly spaced values, each the nearest that was seen, and the rows nearest to each.

    ``keys`` are the values in order, ``counts`` (classes, keys) the rows that have them.
    """
    if not len(keys):
        return np.zeros(1), np.zeros((1, len(counts)))
    reached = np.cumsum(counts.sum(axis=0)) / max(counts.sum(), 1e-300)
    low, high = np.searchsorted(reached, [CURVE_TAIL, 1.0 - CURVE_TAIL])
    high = min(high, len(keys) - 1)
    even = np.linspace(keys[low], keys[high], CURVE_POINTS)
    x = np.unique(keys[_nearest(even, keys)])
    rows = np.zeros((len(x), len(counts)))
    np.add.at(rows, _nearest(keys, x), counts.T)
    return x, rows


def _nearest(values: FloatArray, among: FloatArray) -> NDArray[np.intp]:
    """The position of the nearest of ``among``, which is in order."""
    if len(among) < 2:
        return np.zeros(len(values), dtype=np.intp)
    return np.asarray(np.searchsorted((among[1:] + among[:-1]) / 2, values))
