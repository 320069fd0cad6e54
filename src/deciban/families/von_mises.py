"""Cyclic columns as von Mises distributions, one per class: bell curves on a circle.

A value x of a column of period P is the angle ``a = 2 pi x / P``, and its density is
``exp(kappa cos(a - mu)) / (P I0(kappa))``. The mean direction mu and the concentration kappa
follow from the sums of cosines and sines C and S over n rows: ``mu = atan2(S, C)``, and
``I1(kappa) / I0(kappa)`` is the mean resultant length ``hypot(C, S) / n``.

The prior is conjugate and worth ``lam`` rows that look like the whole column: ``lam`` times its
mean cosine and sine are added to C and S. ``map`` and ``bayes`` predict with the mode of the
posterior (there is no closed form of the integral), ``ml`` leaves the prior out.

Two families share this file. ``von_mises`` models numbers, by the keys of their histogram;
``von_mises_points`` models the whole numbers 0 .. P - 1 that are counted as categories, such as
the hour of a time. There the density at these points is divided by its sum over them, so that
they have probabilities, however concentrated, as categories have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import ParameterError
from deciban.families.alone import MAX_VALUES_TRIED, losses_alone
from deciban.families.bounded import CurveSettings
from deciban.families.categorical import CATEGORICAL
from deciban.families.circle import (
    TAU,
    Circle,
    Density,
    Resultant,
    bessel_ratio,
    resultant,
)
from deciban.families.gaussian import DEFAULT_PRIOR_ROWS
from deciban.families.histogram import HISTOGRAM_FAMILY, HistogramSettings
from deciban.families.piece import Draws, Piece, density_shares, seen_points
from deciban.families.protocol import Candidate, CountedColumns, Selected
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings, spread
from deciban.families.soft import SoftBlock
from deciban.formulas.build import bound_evidence, known, lookup
from deciban.formulas.nodes import Expression, Function, Number, Product, Scaled, Shared, Sum
from deciban.kinds import CYCLIC, period_of
from deciban.stats.categories import CATEGORIES, count_by_column
from deciban.stats.cells import Grid
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.statistic import Codes, FloatArray, Matrix, Statistic
from deciban.stats.table import Table


def _check_period(name: str, value: object) -> None:
    """A number > 0, or one per column."""
    period = np.asarray(value, dtype=np.float64)
    if period.ndim > 1 or not np.all((period > 0) & np.isfinite(period)):
        raise ParameterError(
            f"{name} must be a number > 0, got {value!r}.",
            hint="a column is cyclic by its kind, such as 'cyclic:360'",
        )


@dataclass(frozen=True, eq=False)
class VonMisesSettings(CurveSettings):
    """Settings of cyclic columns: the period of all of them, or of each.

    >>> [circle.period for circle in VonMisesSettings(period=[24, 7]).circles(2, points=True)]
    [24.0, 7.0]
    """

    period: ArrayLike = field(default=TAU, metadata={"check": _check_period})

    def circles(self, n_columns: int, *, points: bool) -> tuple[Circle, ...]:
        """How each column is estimated."""
        lam = self.per_column(n_columns) * (self.method != "ml")
        periods = spread("period", np.asarray(self.period, dtype=np.float64), n_columns)
        pairs = zip(lam.tolist(), periods.tolist(), strict=True)
        return tuple(Circle(self, rows, period, points) for rows, period in pairs)


@dataclass(frozen=True, eq=False)
class VonMisesParameters:
    """The density of every column, under each class, and what they were estimated from.

    A class without data in a column is taken to look like the whole column. A value that is
    missing, or a point that was never seen, says nothing.
    """

    table: Table
    circles: tuple[Circle, ...]
    classes: tuple[Resultant, ...]
    density: tuple[Density, ...]

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.circles)

    def add(self, X: Matrix, out: FloatArray) -> None:
        """Add the log density of every row."""
        for density, angle in zip(self.density, self._angles(_values(self.table, X)), strict=True):
            out += density.log(angle[:, None])

    def contributions(self, X: Matrix) -> FloatArray:
        """The log density of each column under every class."""
        out = np.zeros((*X.shape, len(self.table.rows)))
        self.add_contributions(X, np.arange(self.n_columns), out)
        return out

    def add_contributions(self, X: Matrix, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add the log density of column j to column ``at[j]`` of out, (rows, columns, classes)."""
        for j, angle in enumerate(self._angles(_values(self.table, X))):
            out[:, at[j]] += self.density[j].log(angle[:, None])

    def leave_one_out(self, X: Matrix, y: Codes, weight: FloatArray) -> FloatArray:
        """Log densities, (rows, classes), with each row taken away from its class.

        The whole column, which is every class's prior, loses the row as well.
        """
        return np.asarray(self.leave_one_out_by_column(X, y, weight).sum(axis=1))

    def leave_one_out_by_column(self, X: Matrix, y: Codes, weight: FloatArray) -> FloatArray:
        """Log densities of each column, (rows, columns, classes), each row taken away."""
        out = np.zeros((*X.shape, len(self.table.rows)))
        for j, angle in enumerate(self._angles(_counted_values(self.table, X))):
            known = np.flatnonzero(~np.isnan(angle))
            own, w = y[known], weight[known]
            out[known, j] = self.circles[j].leave_out(self.classes[j], angle[known], own, w)
        return out

    def leave_out(self, X: Matrix, remaining: Remaining) -> Iterator[FloatArray]:
        """Log densities by the rows that are left for each, of a class and of the column."""
        for j, angle in enumerate(self._angles(_counted_values(self.table, X))):
            known = ~np.isnan(angle)
            rows = (
                known * 1.0,
                np.where(known, np.cos(angle), 0.0),
                np.where(known, np.sin(angle), 0.0),
            )
            pairs = zip(self.classes[j], rows, strict=True)
            of = Resultant(*(remaining.left(sums, values) for sums, values in pairs))
            of = Resultant(*(np.where(of.n > 0, part, 0.0) for part in of))
            whole = Resultant(*(part.sum(axis=1, keepdims=True) for part in of))
            yield self.circles[j].fit(of, whole).log(angle[:, None])

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log density at values that were seen."""
        circle, density = self.circles[column], self.density[column]
        values, counts = _column_values(self.table, column), count_by_column(self.table)[column]
        x, rows = (values, counts.T) if circle.points else seen_points(values, counts)
        angle = circle.angles(x)
        log = density.log(angle[:, None])
        draws = _draws(circle, density, self.classes[column].n + circle.lam, angle)
        if circle.points:
            points = tuple(x.astype(np.int64).tolist())
            return Piece("", "", "category", points, log, np.exp(log), rows, draws)
        shares = density_shares(log, x)
        return Piece("", "", "number", tuple(x.tolist()), log, shares, rows, draws)

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The log density at x; of points, that of each one that was seen."""
        circle, density = self.circles[column], self.density[column]
        if circle.points:
            points = _column_values(self.table, column)
            log = density.log(circle.angles(points)[:, None])
            return lookup(x, points.tolist(), log, np.zeros(log.shape[1]))
        *parts, most = density
        each = zip(*(part.tolist() for part in parts), strict=True)
        turn = TAU / circle.period
        by_class = [known(x, _log_density(x, turn, *of_class)) for of_class in each]
        return bound_evidence(by_class, most.item())

    def _angles(self, values: FloatArray) -> list[FloatArray]:
        """The angles of each column's values, (rows, columns)."""
        return [circle.angles(values[:, j]) for j, circle in enumerate(self.circles)]


class VonMises:
    """The family of cyclic columns: of numbers, or of points that are counted as categories."""

    shape = "von_mises"
    kind = CYCLIC

    def __init__(self, name: str, statistic: Statistic, options: tuple[str, ...]) -> None:
        self.name = name
        self.statistic = statistic
        self.options = options

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """A prior worth one row, or as many as stated, for columns of a cyclic kind."""
        table = columns.tables[self.statistic.name]
        out: list[list[Candidate]] = [[] for _ in columns.names]
        for j, (kind, stated) in enumerate(zip(columns.kinds, columns.smoothing, strict=True)):
            if (period := period_of(kind)) is None:
                continue
            lam = DEFAULT_PRIOR_ROWS if stated is None else stated
            circle = Circle(_FULL_BAYES, lam, period, self._points)
            values = _column_values(table, j)
            loss = _loss(columns.counts[j], values, columns.class_weight, circle)
            out[j].append(Candidate(lam, loss=loss))
        return out

    def settings(self, method: Method, selected: Sequence[Selected]) -> VonMisesSettings:
        """The worth of each column's prior, and its period."""
        lam = np.array([one.smoothing for one in selected])
        periods = [period_of(one.kind) or np.nan for one in selected]
        return VonMisesSettings(method, lam, bounded=True, period=np.array(periods))

    def estimate(self, table: Table, settings: Settings) -> VonMisesParameters:
        """The mean direction and concentration of every column and class."""
        plain = VonMisesSettings(settings.method, settings.smoothing)
        how = settings if isinstance(settings, VonMisesSettings) else plain
        circles = how.circles(len(table.cells.columns), points=self._points)
        columns = zip(circles, count_by_column(table), _known_values(table), strict=True)
        classes = [resultant(counts, circle.angles(x)) for circle, counts, x in columns]
        pairs = zip(circles, classes, strict=True)
        density = [circle.fit(sums, sums.whole()) for circle, sums in pairs]
        return VonMisesParameters(table, circles, tuple(classes), tuple(density))

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """In EM cyclic numbers are bins, and points categories: J has a maximum in closed form."""
        method, lam = settings.method, settings.smoothing
        if self._points:
            return CATEGORICAL.soften(table, whole, Settings(method, lam))
        return HISTOGRAM_FAMILY.soften(table, whole, HistogramSettings(method, lam))

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return f"von Mises, period {period_of(selected.kind):g}"

    @property
    def _points(self) -> bool:
        return self.statistic is CATEGORIES


_FULL_BAYES = CurveSettings("bayes", bounded=True)
VON_MISES = VonMises("von_mises", HISTOGRAM, ("von_mises",))
VON_MISES_POINTS = VonMises("von_mises_points", CATEGORIES, ())


def _known_values(table: Table) -> list[FloatArray]:
    """The values that each column of a table is counted by."""
    return [_column_values(table, j) for j in range(len(table.cells.columns))]


def _column_values(table: Table, column: int) -> FloatArray:
    """The values that one column of a table is counted by: those of keys, or points."""
    if isinstance(table.cells, Grid):
        return table.cells.middles(column)
    return np.asarray((table.cells.values or ())[column], dtype=np.float64)


def _values(table: Table, X: Matrix) -> FloatArray:
    """Rows as numbers, (rows, columns): as they are, or the points that codes stand for."""
    if isinstance(table.cells, Grid):
        return cast("FloatArray", X)
    codes = cast("NDArray[np.int64]", X).astype(np.intp)
    out = np.full(codes.shape, np.nan)
    for j, points in enumerate(_known_values(table)):
        seen = (codes[:, j] >= 0) & (codes[:, j] < len(points))
        out[seen, j] = points[codes[seen, j]]
    return out


def _counted_values(table: Table, X: Matrix) -> FloatArray:
    """Rows as they were counted: a number is that of its key."""
    grid, values = table.cells, _values(table, X)
    if not isinstance(grid, Grid) or not any(grid.drop):
        return values
    out = values.copy()
    for j, (least, middle) in enumerate(zip(grid.all_floats(), grid.all_middles(), strict=True)):
        seen = np.flatnonzero(~np.isnan(values[:, j]))
        at = np.searchsorted(least, values[seen, j], side="right") - 1
        out[seen, j] = middle[np.maximum(at, 0)]
    return out


def _loss(
    counts: FloatArray, values: FloatArray, class_weight: FloatArray, circle: Circle
) -> float:
    """The leave-one-out loss, in nats a row, of a column used alone; of some of many values."""
    own, key = np.nonzero(counts)
    own, key = (np.ascontiguousarray(at[:: 1 + len(own) // MAX_VALUES_TRIED]) for at in (own, key))
    times = counts[own, key]
    log = circle.leave_one_out(counts, values, own, key)
    return float(losses_alone(log, own, times, np.array([0, len(own)]), class_weight)[0])


def _log_density(
    x: Expression, turn: float, direction: float, concentration: float, constant: float
) -> Expression:
    """The log density at x, an angle of so many radians for each unit."""
    half = Shared(Function("sin", Scaled(x, direction / turn, turn / 2)))
    fall = Product(Number(-2 * concentration), Product(half, half))
    return Sum((Number(constant), fall))


def _draws(circle: Circle, density: Density, rows: FloatArray, angle: FloatArray) -> Draws:
    """Samples of log densities, (values, classes), from the posterior's normal approximation."""
    direction, concentration, _, most = density
    ratio, slope = bessel_ratio(concentration)
    some = np.maximum(rows, 1.0)
    turn = np.minimum(1 / np.sqrt(np.maximum(some * concentration * ratio, 1e-300)), math.pi)
    width = 1 / np.sqrt(some * slope)

    def draw(rng: np.random.Generator, times: int) -> FloatArray:
        shape = (times, 1, len(rows))
        mu = direction + turn * rng.standard_normal(shape)
        kappa = np.abs(concentration + width * rng.standard_normal(shape))
        return circle.density(mu, kappa, most).log(angle[None, :, None])

    return draw
