"""Bell curves: the normal distribution and Student's t, and the moments that they are read off.

When rows are taken away from a numeric column, one by one or in units, deviations are measured
from the mean of each row's own class, so that a sum of squares loses digits only where nearly
all of it goes. There the exact sums are asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from deciban.families.remaining import Remaining
from deciban.formulas.build import known
from deciban.formulas.nodes import (
    Expression,
    Function,
    Number,
    Product,
    Scaled,
    Shared,
    Square,
    Sum,
)
from deciban.kernels.gamma import log_gamma
from deciban.stats.cells import Cells
from deciban.stats.exact import ExactSum
from deciban.stats.moments import (
    MOMENTS,
    NAMES,
    ColumnSums,
    MeanAndSpread,
    exact_sums,
    mean_and_spread,
)
from deciban.stats.statistic import Codes, FloatArray, Sums

#: Rows that leave less than this share of the spread are taken away exactly.
CANCELLED_SHARE = 1e-3
#: From so many degrees of freedom on, what rounding takes from ``1 + d`` would show in formulas.
MIN_EXACT_DF = 1e5


def formulas(
    x: Expression,
    mean: FloatArray,
    precision: FloatArray,
    constant: FloatArray,
    df: FloatArray | None,
) -> list[Expression]:
    """The log density of a column under each class, (classes,); 0 where x is missing."""
    parts = (part.tolist() for part in (mean, precision, constant))
    each = zip(*parts, [None] * len(mean) if df is None else df.tolist(), strict=True)
    return [known(x, _log_density(x, *of_class)) for of_class in each]


def _log_density(
    x: Expression, mean: float, precision: float, constant: float, df: float | None
) -> Expression:
    """The log density at a squared distance d from the centre, in scales.

    ``constant - d / 2``, or ``constant - (df + 1) / 2 log(1 + d / df)``.
    """
    if df is None:
        distance: Expression = Square(Scaled(x, mean, float(np.sqrt(precision))))
        return Sum((Number(constant), Product(Number(-0.5), distance)))
    distance = Square(Scaled(x, mean, float(np.sqrt(precision / df))))
    if df < MIN_EXACT_DF:
        log: Expression = Function("log", Sum((Number(1.0), distance)))
    else:
        log = Function("log1p", Shared(distance))
    fall = Product(Number(-(df + 1) / 2), log)
    return Sum((Number(constant), fall))


def student_constant(df: FloatArray) -> FloatArray:
    """The log density at the centre of Student's t of scale 1."""
    a = df / 2
    near = np.minimum(a, 50.0)
    # Stirling's series: for much data the two logarithms would cancel.
    far = 0.5 * np.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    ratio = np.where(a > 50.0, far, log_gamma(near + 0.5) - log_gamma(near))
    return np.asarray(ratio - 0.5 * np.log(np.pi * df))


def remove_row(
    of: ColumnSums, column: int, x: FloatArray, own: Codes, weight: FloatArray
) -> MeanAndSpread:
    """The moments of a column in each row's class when the row is taken away from them.

    A row that holds nearly all of the spread would leave rounding in its
    place: such rows, no more than a few a class, are taken from the exact sums.
    """
    n, mean, spread = (part[own, column] for part in of.moments)
    left = np.where(n - weight > 1e-9 * weight, n - weight, 0.0)
    some = np.where(left > 0, left, 1.0)
    rest = np.maximum(spread - weight * (x - mean) ** 2 * (n / some), 0.0) * (left > 0)
    less = MeanAndSpread(left, np.where(left > 0, mean + (mean - x) * (weight / some), 0.0), rest)
    bad = np.flatnonzero((rest < CANCELLED_SHARE * spread) & (left > 0))
    if len(bad):
        exactly = _remove_exactly(of.exact, column, x[bad], own[bad], weight[bad])
        for part, one in zip(less, exactly, strict=True):
            part[bad] = one[:, 0]
    return less


def _remove_exactly(
    sums: Sums, column: int, x: FloatArray, own: Codes, weight: FloatArray
) -> MeanAndSpread:
    """The moments that are left of exact sums, (rows, 1)."""
    gone = MOMENTS.count(x[:, None], np.arange(len(x)), len(x), weight, Cells.of_columns(1))
    had = {
        name: ExactSum(part.digits[own, column : column + 1], part.base)
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
