"""Pieces: what an additive model adds up, one table of log-likelihoods each.

A piece is a column, or one of the things that a column is counted as (a time's
day of the week, whether a value is missing). Importance, curves and nomograms
are arithmetic on pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Draws = Callable[[np.random.Generator, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Piece:
    """The values that a piece distinguishes, and what each says.

    All tables are (values, classes): ``said`` are log-likelihoods up to a
    constant per value, ``share`` how often the model expects a value in a row of
    each class (an amount: how much of it), ``rows`` how many were counted.
    ``draws`` are samples of ``said`` from its posterior. Numbers in bins have
    ``edges``, the least value of each bin but the first; numbers without are
    on a curve through the values. ``names`` are words for the values.
    """

    feature: str
    name: str
    kind: Literal["number", "category", "amount"]
    values: tuple[Any, ...]
    said: FloatArray
    share: FloatArray
    rows: FloatArray | None = None
    draws: Draws | None = None
    edges: tuple[float, ...] | None = None
    names: tuple[str, ...] = ()

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


def as_number(value: Any) -> float:
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


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def shares_drawn(counts: FloatArray, extra: float, discount: float) -> Draws:
    """Samples of log shares, (values, classes): each class's are Dirichlet(counts + extra)."""
    alpha = counts + extra
    return share_drawn(alpha, alpha.sum(axis=0) - alpha, discount)


def share_drawn(alpha: FloatArray, rest: FloatArray, discount: float = 1.0) -> Draws:
    """Samples of logarithms of Beta(alpha, rest)."""
    alpha, rest = np.maximum(alpha, 1e-3), np.maximum(rest, 1e-3)

    def draw(rng: np.random.Generator, n: int) -> FloatArray:
        size = (n, *alpha.shape)
        tiny = np.finfo(np.float64).tiny
        one = np.maximum(rng.standard_gamma(alpha, size), tiny)
        others = rng.standard_gamma(rest, size)
        return np.asarray(discount * (np.log(one) - np.log(one + others)))

    return draw


def bells_drawn(
    x: FloatArray, n: FloatArray, mean: FloatArray, spread: FloatArray, discount: float
) -> Draws:
    """Samples of log-densities at x, (values, classes).

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
        density = -0.5 * ((x[None, :, None] - centre) ** 2 / var + np.log(var))
        return np.asarray(discount * density)

    return draw


def density_shares(said: FloatArray, x: FloatArray) -> FloatArray:
    """Log-densities on a grid as shares of each class, (values, classes)."""
    width = np.gradient(x)[:, None] if len(x) > 1 else 1.0
    weight = np.exp(said - said.max(axis=0)) * width
    return np.asarray(weight / weight.sum(axis=0))
