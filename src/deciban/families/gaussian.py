"""Numeric columns as normal distributions, one per class.

How the three methods estimate them is in :mod:`deciban.families.bell`; the sums are exact
(:mod:`deciban.stats.moments`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban.families import bell
from deciban.families.alone import blocks, judge_values
from deciban.families.bell import (
    Density,
    GaussianSettings,
    densities,
    fit,
    is_unknown,
    leave_out,
    pool_by_row,
    remove_units,
    share_by_row,
)
from deciban.families.bounded import bound_draws
from deciban.families.live_bells import LiveBells
from deciban.families.piece import (
    Piece,
    density_shares,
    normal_draws,
    seen_points,
    spaced_points,
)
from deciban.families.protocol import Candidate, CountedColumns, Parameters, Selected
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings
from deciban.families.soft import SoftBlock, count_softly
from deciban.formulas.nodes import Expression
from deciban.kernels import gaussian as kernel
from deciban.stats.categories import count_of
from deciban.stats.histogram import grid_of
from deciban.stats.moments import (
    MOMENTS,
    ColumnSums,
    MeanAndSpread,
    classes_and_whole,
    mean_and_spread,
    pool_classes,
    share_variance,
)
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table

#: The prior of a column whose smoothing is not stated is worth this many rows.
DEFAULT_PRIOR_ROWS = 1.0
#: In EM a prior is worth this many rows at least: without one, J has no maximum.
MIN_PRIOR_ROWS = 0.01
#: In EM a column whose variance is less than this share of its mean's square holds one value.
CONSTANT_VARIANCE = 1e-20


@dataclass(frozen=True, eq=False)
class GaussianParameters:
    """The densities of every column, (columns, classes), and what they were estimated from.

    A class without data in a column is taken to look like the whole column, and a column
    without data says nothing.
    """

    table: Table
    settings: GaussianSettings
    classes: ColumnSums
    whole: ColumnSums
    moments: MeanAndSpread
    density: Density

    @property
    def mean(self) -> FloatArray:
        """The location of each column and class."""
        return self.density.mean

    @property
    def precision(self) -> FloatArray:
        """One over the squared scale of each column and class."""
        return self.density.precision

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.density.mean)

    def add(self, X: FloatArray, out: FloatArray) -> None:
        """Add the log density of every row; a missing value adds nothing."""
        mean, precision, constant, df, most = self.density
        if df is None or most is None:
            work = np.zeros(64 * X.shape[1])
            kernel.add_normal(X, mean, precision, constant, work, out)
        else:
            kernel.add_student(X, mean, precision, constant, df, most[:, 0], out)

    def live(self) -> LiveBells:
        """Bell curves that learn."""
        return LiveBells(self)

    def with_moments(self, classes: MeanAndSpread, whole: MeanAndSpread) -> GaussianParameters:
        """The densities under these settings of other moments."""
        return replace(self, density=densities(classes, whole, self.settings))

    def contributions(self, X: FloatArray) -> FloatArray:
        """The log density of each column under every class; 0 for a missing value."""
        return np.where(np.isnan(X)[:, :, None], 0.0, self.density.log(X[:, :, None]))

    def add_contributions(self, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add the log density of column j to column ``at[j]`` of out, (rows, columns, classes)."""
        each = self.contributions(X)
        for j, place in enumerate(at.tolist()):
            out[:, place] += each[:, j]

    def entries(self, values: FloatArray, columns: NDArray[np.intp]) -> FloatArray:
        """The log density of single values of some columns, (values, classes)."""
        parts = (None if part is None else part[columns] for part in self.density)
        density = Density(*parts).log(values[:, None])  # type: ignore[arg-type]
        return np.where(np.isnan(values)[:, None], 0.0, density)

    def leave_one_out(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log densities, (rows, classes), with each row taken away from its class.

        The row's own class loses it, and so does the whole column, whose mean and
        variance are every class's prior.
        """
        out = np.zeros((len(X), self.density.mean.shape[1]))
        for _, known, log in self._leave_out_columns(X, y, weight):
            if len(known) == len(X):
                out += log
            else:
                out[known] += log
        return out

    def leave_one_out_by_column(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log densities of each column, (rows, columns, classes), each row taken away."""
        out = np.zeros((*X.shape, self.density.mean.shape[1]))
        for j, known, log in self._leave_out_columns(X, y, weight):
            out[known, j] = log
        return out

    def _leave_out_columns(
        self, X: FloatArray, y: Codes, weight: FloatArray
    ) -> Iterator[tuple[int, NDArray[np.intp], FloatArray]]:
        """Of each column, the rows that have a value and their log densities, (rows, classes)."""
        lam, n_likelihoods = self.settings.per_column(X.shape[1]), len(X) * len(self.table.rows)
        for first, stop in blocks(np.full(X.shape[1], n_likelihoods)):
            columns = np.ascontiguousarray(X[:, first:stop].T)
            column, row = np.nonzero(~np.isnan(columns))
            x, own, at = columns[column, row], y[row], column + first
            log = leave_out(self.classes, self.whole, lam, self.settings, at, x, own, weight[row])
            ends = np.searchsorted(column, np.arange(stop - first + 1)).tolist()
            for j, (a, b) in enumerate(pairwise(ends), first):
                yield j, row[a:b], log[a:b]

    def leave_out(self, X: FloatArray, remaining: Remaining) -> Iterator[FloatArray]:
        """Log densities by the rows that are left for each, of a class and of the column."""
        lam = self.settings.per_column(X.shape[1]).tolist()
        for j, (rows, x) in enumerate(zip(lam, X.T, strict=True)):
            of = remove_units(self.classes, j, x, remaining)
            whole = pool_by_row(of)
            of = share_by_row(of) if self.settings.shared else of
            out = fit(of, whole, rows, self.settings).log(x[:, None])
            out[np.isnan(x) | is_unknown(whole, self.settings)[:, 0]] = 0.0
            yield out

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log density at points that were seen, or within three standard deviations."""
        one = self.table.column(column)
        n, mean, spread = (part[:, 0] for part in mean_and_spread(one.sums))
        if seen is None:
            deviation = np.sqrt(spread / np.where(n > 0, n, 1.0) + self.settings.floor)
            x, rows = spaced_points(mean, deviation), None
        else:
            x, rows = seen_points(grid_of(seen).middles(0), count_of(seen))
        density = Density(*(None if p is None else p[column] for p in self.density))  # type: ignore[arg-type]
        log = density.log(x[:, None])
        draws = bound_draws(normal_draws(x, n, mean, spread), density.max_evidence)
        values = tuple(x.tolist())
        return Piece("", "", "number", values, log, density_shares(log, x), rows, draws)

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The log density at x; a missing value says nothing."""
        parts = (None if part is None else part[column] for part in self.density)
        return bell.formulas(x, *parts)  # type: ignore[arg-type]


class Gaussian:
    """The family of normal columns."""

    name = "gaussian"
    shape = "gaussian"
    statistic = MOMENTS

    options = ("gaussian",)

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """A prior worth one row, or as many as stated; values are the keys of the histogram."""
        classes, whole = classes_and_whole(columns.tables["moments"].sums)
        fits = _fits(classes.moments) & _fits(whole.moments)
        stated = [DEFAULT_PRIOR_ROWS if rows is None else rows for rows in columns.smoothing]
        plain = np.array([kind in ("numeric", "time") for kind in columns.kinds])
        without = partial(leave_out, classes, whole, np.array(stated), _FULL_BAYES)
        losses = judge_values(columns, np.flatnonzero(plain & fits), without)
        pairs = enumerate(zip(stated, plain.tolist(), strict=True))
        return [
            [Candidate(rows, loss=losses.get(j, np.inf))] if free else []
            for j, (rows, free) in pairs
        ]

    def settings(self, method: Method, selected: Sequence[Selected]) -> GaussianSettings:
        """The worth of each column's prior."""
        return GaussianSettings(method, np.array([one.smoothing for one in selected]), bounded=True)

    def estimate(self, table: Table, settings: Settings) -> GaussianParameters:
        """Normal or Student's t parameters of every column and class."""
        how = settings if isinstance(settings, GaussianSettings) else _plain(settings)
        classes, whole = classes_and_whole(table.sums)
        density = densities(classes.moments, whole.moments, how)
        moments = share_variance(classes.moments) if how.shared else classes.moments
        return GaussianParameters(table, how, classes, whole, moments, density)

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Bell curves at the mode of their posterior; a column of one value says nothing."""
        pooled = pool_classes(whole.sums)
        keep = (pooled.variance > CONSTANT_VARIANCE * pooled.mean**2)[0]
        columns = np.flatnonzero(keep)
        some = table.select(np.ones(len(table.rows), dtype=bool), keep)
        prior = MeanAndSpread(*(part[:, columns] for part in pooled))
        lam = np.maximum(settings.per_column(len(keep))[columns], MIN_PRIOR_ROWS)
        objective = partial(_soft_objective, some, prior, lam)
        how = GaussianSettings("map", lam)
        return SoftBlock(
            GAUSSIAN, some, how, objective, count_softly(some),
            lambda X: np.ascontiguousarray(X[:, columns]),
        )  # fmt: skip

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return "bell curve"


GAUSSIAN = Gaussian()
_FULL_BAYES = GaussianSettings("bayes", bounded=True)


def _plain(settings: Settings) -> GaussianSettings:
    return GaussianSettings(settings.method, settings.smoothing)


def _fits(moments: MeanAndSpread) -> NDArray[np.bool_]:
    """Of which columns all moments fit a float."""
    return np.asarray(np.isfinite([moments.mean, moments.spread]).all(axis=(0, 1)))


def _soft_objective(
    table: Table, whole: MeanAndSpread, lam: FloatArray, parameters: Parameters
) -> float:
    """The part of J of bell curves, whose prior looks like the whole column."""
    density = cast("GaussianParameters", parameters).density
    n, mean, spread = mean_and_spread(table.sums)
    centre, precision = density.mean.T, density.precision.T
    off = spread + n * (mean - centre) ** 2
    off += lam * (whole.variance + (centre - whole.mean) ** 2)
    value = (n + lam + 3) / 2 * np.log(precision) - off * precision / 2
    return float(value.sum() - n.sum() / 2 * np.log(2 * np.pi))
