"""Numeric columns as counts: Poisson distributions, one per class.

How the three methods estimate them is in :mod:`deciban.families.rate`.

The family applies to columns of numbers that are all counts: whole, from 0 to ``MAX_COUNT``, and
known exactly to the grid of the histogram. A new value that is no count is impossible under every
class, so that it tells none from the others: like a missing one, it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban.families.alone import CountedValues, judge_values
from deciban.families.bounded import bound_draws
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.families.gaussian import DEFAULT_PRIOR_ROWS
from deciban.families.piece import Piece, density_shares, seen_points, spaced_points
from deciban.families.protocol import Candidate, CountedColumns, Parameters, Selected
from deciban.families.rate import (
    MAX_COUNT,
    MIN_STIRLING_SHAPE,
    CountDistribution,
    PoissonSettings,
    Totals,
    clip,
    fit,
    is_count,
    leave_out,
    rate_draws,
    totals_of,
)
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings
from deciban.families.soft import SoftBlock, count_softly, dot
from deciban.formulas.build import bound_evidence
from deciban.formulas.counts import as_count, negative_binomial, poisson
from deciban.formulas.nodes import Expression
from deciban.kernels.histogram import only_counts
from deciban.stats.categories import count_of
from deciban.stats.cells import Grid
from deciban.stats.histogram import grid_of
from deciban.stats.moments import MOMENTS
from deciban.stats.statistic import Codes, FloatArray
from deciban.stats.table import Table

#: Variance over mean within classes, beyond which few rows are not taken for counts of one rate;
#: it may be one more for every so many rows.
MAX_DISPERSION, ROWS_PER_DISPERSION = 4.0, 20.0
#: No more rows than these are scored in all columns at once: to look counts up would take longer.
FEW_ROWS = 8


@dataclass(frozen=True, eq=False)
class PoissonParameters:
    """The distributions of every column, (columns, classes), and what they were estimated from."""

    table: Table
    settings: PoissonSettings
    classes: Totals
    whole: Totals
    distribution: CountDistribution

    @property
    def mean(self) -> FloatArray:
        """The expected count of each column and class; NaN for a column without data."""
        return self.distribution.mean

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.distribution.mean)

    def add(self, X: FloatArray, out: FloatArray) -> None:
        """Add the log probability of every row; what is missing or no count adds nothing."""
        if len(X) <= FEW_ROWS:
            out += self.distribution.log(X[:, :, None]).sum(axis=1)
            return
        for j in range(self.n_columns):
            out += self._log_column(j, X[:, j])

    def contributions(self, X: FloatArray) -> FloatArray:
        """The log probability of each column under every class."""
        out = np.zeros((*X.shape, self.mean.shape[1]))
        self.add_contributions(X, np.arange(self.n_columns), out)
        return out

    def add_contributions(self, X: FloatArray, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add the log probability of column j to column ``at[j]`` of out."""
        for j, place in enumerate(at.tolist()):
            out[:, place] += self._log_column(j, X[:, j])

    def _log_column(self, column: int, x: FloatArray) -> FloatArray:
        """The log probability of values of a column, (values, classes): counts repeat, look up."""
        log, counts = self.distribution.select(column).log, is_count(x)
        largest = int(x.max(where=counts, initial=0.0))
        if largest < len(x):
            at = np.where(counts, x, largest + 1).astype(np.intp)
            return log(np.append(np.arange(largest + 1.0), np.nan)[:, None])[at]
        values, at = np.unique(x, return_inverse=True)
        return log(values[:, None])[at]

    def leave_one_out(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log probabilities, (rows, classes), with each row taken away from its class.

        The row's own class loses it, and so does the whole column, whose mean is that of
        every class's prior.
        """
        return np.asarray(self.leave_one_out_by_column(X, y, weight).sum(axis=1))

    def leave_one_out_by_column(self, X: FloatArray, y: Codes, weight: FloatArray) -> FloatArray:
        """Log probabilities of each column, (rows, columns, classes), each row taken away."""
        out = np.empty((*X.shape, self.mean.shape[1]))
        how, of = self.settings, (self.classes, self.whole)
        lam = how.per_column(X.shape[1])
        for j, x in enumerate(X.T):
            out[:, j] = leave_out(*of, lam, how, np.full(len(X), j), x, y, weight)
        return out

    def leave_out(self, X: FloatArray, remaining: Remaining) -> Iterator[FloatArray]:
        """Log probabilities by the rows that are left for each, of a class and of the column."""
        lam = self.settings.per_column(X.shape[1]).tolist()
        for j, (rows, x) in enumerate(zip(lam, X.T, strict=True)):
            n, total = self.classes.of_column(j)
            known, count = (~np.isnan(x)).astype(np.float64), np.nan_to_num(x)
            of = clip(np.maximum(remaining.left(n, known), 0.0), remaining.left(total, count))
            whole = Totals(*(part.sum(axis=1, keepdims=True) for part in of))
            yield fit(of, whole, rows, self.settings).log(x[:, None])

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log probability of counts that were seen, or within three standard deviations."""
        of = self.classes.of_column(column)
        if seen is None:
            mean = of.total / np.where(of.n > 0, of.n, 1.0)
            even = np.round(spaced_points(mean, np.sqrt(mean)))
            x, rows = np.unique(np.maximum(even, 0.0)), None
        else:
            x, rows = seen_points(grid_of(seen).middles(0), count_of(seen))
        distribution = self.distribution.select(column)
        log = distribution.log(x[:, None])
        share = density_shares(np.maximum(log, -MAX_ROW_LOSS), x)
        draws = bound_draws(rate_draws(x, of), distribution.max_evidence)
        return Piece("", "", "number", tuple(x.tolist()), log, share, rows, draws)

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The log probability of x; what is missing or no count says nothing."""
        count, (mean, rows, most) = as_count(x, MAX_COUNT), self.distribution.select(column)
        if rows is None or most is None:
            return [poisson(count, one) for one in mean.tolist()]
        pairs = zip(mean.tolist(), rows.tolist(), strict=True)
        each = [negative_binomial(count, m, b, MIN_STIRLING_SHAPE) for m, b in pairs]
        return bound_evidence(each, most.item())


class Poisson:
    """The family of counts."""

    name = "poisson"
    shape = "poisson"
    statistic = MOMENTS

    options = ("poisson",)

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """A prior worth one row, or as many as stated, for columns of counts."""
        stated = [DEFAULT_PRIOR_ROWS if rows is None else rows for rows in columns.smoothing]
        out: list[list[Candidate]] = [[] for _ in stated]
        counts = np.flatnonzero(columns_of_counts(columns))
        if not len(counts):
            return out
        totals, n_classes = totals_of(columns.tables["moments"].sums), len(columns.class_weight)
        without = partial(leave_out, *totals, np.array(stated), _FULL_BAYES)
        applies = partial(_is_of_one_rate, n_classes) if columns.option == "auto" else None
        for j, loss in judge_values(columns, counts, without, applies).items():
            out[j].append(Candidate(stated[j], loss=loss))
        return out

    def settings(self, method: Method, selected: Sequence[Selected]) -> PoissonSettings:
        """The worth of each column's prior."""
        return PoissonSettings(method, np.array([one.smoothing for one in selected]), bounded=True)

    def estimate(self, table: Table, settings: Settings) -> PoissonParameters:
        """Poisson or negative binomial distributions of every column and class."""
        plain = PoissonSettings(settings.method, settings.smoothing)
        how = settings if isinstance(settings, PoissonSettings) else plain
        classes, whole = totals_of(table.sums)
        parts = fit(classes, whole, how.per_column(classes.n.shape[1]), how)
        distribution = CountDistribution(*(None if x is None else _transpose(x) for x in parts))  # type: ignore[arg-type]
        return PoissonParameters(table, how, classes, whole, distribution)

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Rates at ``(sum x + a_0) / (n + b_0)``, the mode under a prior of shape ``a_0 + 1``."""
        lam = settings.per_column(len(table.cells.columns))
        (labelled, _), (_, pooled) = totals_of(table.sums), totals_of(whole.sums)
        objective = partial(_soft_objective, labelled, pooled, lam)
        how = PoissonSettings("map", lam, extra_shape=1.0)
        return SoftBlock(POISSON, table, how, objective, count_softly(table), _only_counts)

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return "Poisson counts"


POISSON = Poisson()
_FULL_BAYES = PoissonSettings("bayes", bounded=True)


def columns_of_counts(columns: CountedColumns) -> NDArray[np.bool_]:
    """Which columns are numbers, known exactly, that are all counts."""
    grid = cast("Grid", columns.tables["histogram"].cells)
    each = zip(columns.kinds, grid.values or (), grid.drop, strict=True)
    counts = [
        kind == "numeric" and not drop and only_counts(keys, MAX_COUNT) for kind, keys, drop in each
    ]
    return np.array(counts, dtype=bool)


def _transpose(values: FloatArray) -> FloatArray:
    """From (classes, columns) to (columns, classes)."""
    return np.ascontiguousarray(values.T)


def _soft_objective(
    classes: Totals, whole: Totals, lam: FloatArray, parameters: Parameters
) -> float:
    """The part of J of counts, without the factorials of labelled rows, which stay the same."""
    mean = cast("PoissonParameters", parameters).mean.T
    known = np.where(np.isnan(mean), 1.0, mean)
    prior = lam * whole.total / np.where(whole.n > 0, whole.n, 1.0)
    with np.errstate(divide="ignore"):
        log = np.log(known)
    return dot(classes.total + prior, log) - float(np.vdot(classes.n + lam, known))


def _only_counts(X: FloatArray) -> FloatArray:
    """Rows in which what is no count is missing."""
    return np.where(is_count(X), X, np.nan)


def _is_of_one_rate(n_classes: int, values: CountedValues) -> NDArray[np.bool_]:
    """Of which columns values lie no farther apart within classes than counts of one rate may.

    A few rows far apart look like certain evidence, which leaving one of them out may not show;
    the more rows there are, the more it is left to the loss.
    """
    at, x, times, n_columns = values.position, values.value, values.times, len(values.columns)
    cell, size = at * n_classes + values.own, n_columns * n_classes
    n = np.bincount(cell, times, size)
    mean = np.bincount(cell, times * x, size) / np.maximum(n, 1e-300)
    parts = times * (x - mean[cell]) ** 2 / np.maximum(mean[cell], 1e-300)
    squares, n = np.bincount(at, parts, n_columns), n.reshape(n_columns, n_classes)
    rows = n.sum(axis=1)
    freedom = rows - np.count_nonzero(n, axis=1)
    most = MAX_DISPERSION + rows / ROWS_PER_DISPERSION
    return np.asarray((freedom > 0) & (squares <= most * np.maximum(freedom, 0.0)))
