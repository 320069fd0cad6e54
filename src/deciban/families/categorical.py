"""Categorical columns: one of ``S_j`` values per row.

``P(x_j = a | c)`` is a smoothed share of the class's rows (:mod:`deciban.families.discrete`).
``X`` holds codes: the position of the value among the column's cells, -1 for
a missing value, anything beyond for a value never seen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.families.alone import smooth_and_judge
from deciban.families.discrete import UnseenSays
from deciban.families.live_shares import LiveShares
from deciban.families.piece import Piece, dirichlet_draws
from deciban.families.protocol import Candidate, CountedColumns, Parameters, Selected
from deciban.families.remaining import Remaining
from deciban.families.settings import Method, Settings, one_of, spread, whole
from deciban.families.soft import SoftBlock, count_softly, dot, identity
from deciban.formulas.build import lookup
from deciban.formulas.nodes import Expression
from deciban.kernels import evidence, panels
from deciban.kernels.categorical import sum_columns
from deciban.kernels.discrete import (
    ROUNDED_SHARE,
    estimate_log_shares,
    leave_out_unseen,
    log_shares,
    log_unseen_shares,
    seen_once,
)
from deciban.stats import rounding
from deciban.stats.categories import CATEGORIES, count_by_column, count_of
from deciban.stats.statistic import Codes, FloatArray, Matrix
from deciban.stats.table import DenseSum, Table

Coded = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoricalSettings(Settings):
    """Settings of categorical columns.

    sizes
        ``S_j``, how many values a column can take, where more are possible than were seen
    unseen
        what a value never seen in training says: ``"leave_one_out"``, what values that one row
        had say without it; ``"smooth"``, the share that smoothing gives it; ``"skip"``, nothing
    """

    sizes: ArrayLike | None = field(default=None, metadata=whole(0, "possible values"))
    unseen: UnseenSays = field(
        default="leave_one_out",
        metadata=one_of(get_args(UnseenSays), '"skip" ignores a value that training never saw'),
    )

    def sizes_of(self, seen: NDArray[np.intp]) -> FloatArray:
        """``S_j`` of each column: as stated, but not less than the values seen."""
        if self.sizes is None:
            return seen.astype(np.float64)
        stated = spread("sizes", np.asarray(self.sizes, dtype=np.float64), len(seen))
        return np.maximum(stated, seen)


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """Log shares, (cells, classes); the last cell of each column is for values never seen.

    ``pseudo_counts`` and ``sizes`` are those of each column, ``table`` what was counted.
    ``unseen`` is what values never seen say; under ``"leave_one_out"``, cells without any row
    are such values.
    """

    table: Table
    pseudo_counts: FloatArray
    sizes: FloatArray
    offsets: NDArray[np.intp]
    log_prob: FloatArray
    unseen: UnseenSays = "smooth"

    @cached_property
    def panels(self) -> FloatArray:
        """The log shares as rows are scored with them."""
        return panels.cut(self.log_prob)

    @property
    def n_columns(self) -> int:
        """How many columns a row has."""
        return len(self.offsets) - 1

    def add(self, X: Coded, out: FloatArray) -> None:
        """Add ``sum_j log P(x_j | c)``."""
        panels.add_codes(X, self.offsets, self.panels, out)

    def contributions(self, X: Coded) -> FloatArray:
        """``log P(x_j | c)`` of every column; a missing value says nothing."""
        out = np.zeros((*X.shape, self.log_prob.shape[1]))
        self.add_contributions(X, np.arange(X.shape[1]), out)
        return out

    def add_contributions(self, X: Coded, at: NDArray[np.intp], out: FloatArray) -> None:
        """Add ``log P(x_j | c)`` of column j to column ``at[j]`` of out."""
        evidence.add_codes(X, self.offsets, self.log_prob, at, out)

    def leave_one_out(self, X: Coded, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods, (rows, classes), with each row taken away from its class.

        Only the row's own class changes: its count of the row's values, and its
        total, lose the row's weight. ``S_j`` stays. But a value that the row alone
        had was never seen then, by any class.
        """
        alone = self._alone(X, weight)
        shared = np.where(alone, -1, X)
        out = np.zeros((len(X), self.log_prob.shape[1]))
        self.add(shared, out)
        out[np.arange(len(y)), y] = self._own_class(shared, y, weight).sum(axis=1)
        for j in np.flatnonzero(alone.any(axis=0)).tolist():
            rows = np.flatnonzero(alone[:, j])
            out[rows] += self._left_unseen(j, y[rows], weight[rows])
        return out

    def leave_one_out_by_column(self, X: Coded, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods of each column, (rows, columns, classes), each row taken away."""
        alone = self._alone(X, weight)
        shared = np.where(alone, -1, X)
        out = self.contributions(shared)
        out[np.arange(len(y)), :, y] = self._own_class(shared, y, weight)
        for j in np.flatnonzero(alone.any(axis=0)).tolist():
            rows = np.flatnonzero(alone[:, j])
            out[rows, j] = self._left_unseen(j, y[rows], weight[rows])
        return out

    @property
    def _count(self) -> FloatArray:
        return cast("DenseSum", self.table.sums["count"]).values

    @cached_property
    def _rows_by_cell(self) -> FloatArray:
        """The rows of all classes that have each value; without end of a value never seen."""
        out = np.full(len(self.log_prob), np.inf)
        counted = np.delete(np.arange(len(out)), self.offsets[1:] - 1)
        out[counted] = self._count.sum(axis=0)
        return out

    def _alone(self, X: Coded, weight: FloatArray) -> NDArray[np.bool_]:
        """Whether no row but this one has its value, (rows, columns)."""
        if self.unseen != "leave_one_out":
            return np.zeros(X.shape, dtype=bool)
        cells = np.minimum(self.offsets[:-1] + np.maximum(X, 0), self.offsets[1:] - 1)
        left = self._rows_by_cell[cells] - weight[:, None]
        return np.asarray((X >= 0) & (left <= ROUNDED_SHARE * weight[:, None]))

    def _left_unseen(self, column: int, own: Codes, weight: FloatArray) -> FloatArray:
        """What rows say by a value that each alone had, (rows, classes), without the row."""
        cells = slice(*self.table.cells.offsets[column : column + 2])
        count, lam = self._count[:, cells], max(float(self.pseudo_counts[column]), 0.0)
        total, once = count.sum(axis=1), seen_once(count).sum(axis=1)
        return leave_out_unseen(total, once, own, weight, lam, self.sizes[column])

    def _own_class(self, X: Coded, y: Codes, weight: FloatArray) -> FloatArray:
        """``log P(x_j | own class)`` of each row without it, (rows, columns)."""
        starts, count, extra = self.table.cells.offsets, self._count, self.pseudo_counts
        seen, w = np.diff(starts), weight[:, None]
        known, new = (X >= 0) & (seen > X), self.log_prob[self.offsets[1:] - 1][:, y].T
        had = np.zeros(X.shape)
        row, column = np.nonzero(known)
        had[row, column] = count[y[row], starts[column] + X[row, column]]
        amount = np.maximum(count + np.repeat(extra, seen), 0.0)
        total = sum_columns(amount, starts) + (self.sizes - seen) * np.maximum(extra, 0.0)
        left = np.maximum(had - w + extra, 0.0)
        kept = total[y] - (np.maximum(had + extra, 0.0) - left)
        # What the class keeps of the column: rounding of fractional weights is not a row.
        rest = np.where(kept > ROUNDED_SHARE * w, kept, 0.0)
        return np.where(known, log_shares(left, rest, self.sizes), np.where(X >= 0, new, 0.0))

    def leave_out(self, X: Coded, remaining: Remaining) -> Iterator[FloatArray]:
        """Log likelihoods by the counts that are left for each row; ``S_j`` stays."""
        columns = zip(count_by_column(self.table), self.pseudo_counts, self.sizes, strict=True)
        for (count, extra, size), code in zip(columns, X.T, strict=True):
            seen = np.where(code < count.shape[1], code, -1)
            had = np.zeros((len(code), len(count)))
            had[seen >= 0] = count.T[seen[seen >= 0]]
            left = remaining.left_alike(had, seen)
            amount = np.maximum(left + extra, 0.0)
            total = _left_totals(count, seen, float(extra), float(size), remaining)
            out = log_shares(amount, total, size)
            says_nothing = (code < 0) | ((seen < 0) & (extra <= 0))
            out[says_nothing] = 0.0
            if self.unseen == "leave_one_out":
                new = np.flatnonzero((code >= 0) & (left.sum(axis=1) <= 0))
                lam = max(float(extra), 0.0)
                out[new] = _left_unseen_shares(count, seen, new, lam, float(size), remaining)
            yield out

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log share of every value that was counted."""
        cells = self.table.cells
        some = slice(cells.offsets[column], cells.offsets[column + 1])
        log = self.log_prob[self.offsets[column] : self.offsets[column + 1] - 1]
        counts = self._count[:, some].T
        values = tuple(cells.values[column].tolist()) if cells.values else ()
        draws = dirichlet_draws(counts, float(self.pseudo_counts[column]))
        return Piece("", "", "category", values, log, np.exp(log), counts, draws)

    def live(self) -> LiveShares | None:
        """Shares that learn; those without smoothing, and modes, are estimated as a whole."""
        return LiveShares(self) if (self.pseudo_counts > 0).all() else None

    def formula(self, column: int, x: Expression) -> list[Expression]:
        """The log share of a value, looked up; a missing value says nothing."""
        values = self.table.cells.values
        some = self.log_prob[self.offsets[column] : self.offsets[column + 1]]
        keys = range(len(some) - 1) if values is None else values[column].tolist()
        return lookup(x, keys, some[:-1], some[-1])


class Categorical:
    """The family of categorical columns."""

    name = "categorical"
    shape = "categories"
    statistic = CATEGORIES

    options = ()

    def candidates(self, columns: CountedColumns) -> list[list[Candidate]]:
        """Smoothing by empirical Bayes, or as stated."""
        about = columns.count, columns.offsets, columns.smoothing, columns.class_weight
        judged = smooth_and_judge(*about, new_values=True)
        return [[Candidate(lam, loss=loss)] for lam, loss in judged]

    def settings(self, method: Method, selected: Sequence[Selected]) -> CategoricalSettings:
        """The smoothing of each column."""
        return CategoricalSettings(method, np.array([one.smoothing for one in selected]))

    def estimate(self, table: Table, settings: Settings) -> CategoricalParameters:
        """``log P(x_j = a | c)`` by the chosen method; ``S_j`` stated or as seen."""
        how = settings if isinstance(settings, CategoricalSettings) else _plain(settings)
        seen = np.diff(table.cells.offsets)
        extra = how.pseudo_counts(len(seen))
        return estimate_shares(table, extra, how.sizes_of(seen), how.unseen)

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Shares smoothed by a pseudo-count that is not below zero."""
        return soften_shares(table, settings, identity)

    def describe(self, selected: Selected) -> str:
        """The model of a column in a few words."""
        return "categories"


CATEGORICAL = Categorical()


def _plain(settings: Settings) -> CategoricalSettings:
    return CategoricalSettings(settings.method, settings.smoothing, unseen="smooth")


def estimate_shares(
    table: Table, pseudo_counts: FloatArray, sizes: FloatArray, unseen: UnseenSays = "smooth"
) -> CategoricalParameters:
    """Log shares of all cells of a table, and of a value never seen in each column."""
    starts = table.cells.offsets
    count = cast("DenseSum", table.sums["count"]).values
    log_prob = estimate_log_shares(count, starts, pseudo_counts, sizes, unseen)
    offsets = starts + np.arange(len(starts))  # one more cell a column
    return CategoricalParameters(table, pseudo_counts, sizes, offsets, log_prob, unseen)


def soften_shares(
    table: Table, settings: Settings, encode: Callable[[Matrix], Matrix]
) -> SoftBlock:
    """A table of categories as EM estimates it: ``(N + a) / (n + S a)`` with ``a >= 0``."""
    n_columns = len(table.cells.columns)
    extra = np.maximum(settings.pseudo_counts(n_columns), 0.0)
    column = np.repeat(np.arange(n_columns), np.diff(table.cells.offsets))

    def objective(parameters: Parameters) -> float:
        log = cast("CategoricalParameters", parameters).log_prob
        return dot(count_of(table) + extra[column], log[np.arange(len(column)) + column].T)

    how = Settings("bayes", extra)
    return SoftBlock(CATEGORICAL, table, how, objective, count_softly(table), encode)


def _left_unseen_shares(
    count: FloatArray,
    code: Coded,
    new: NDArray[np.intp],
    pseudo_count: float,
    size: float,
    remaining: Remaining,
) -> FloatArray:
    """What values of which nothing is left say in the rows ``new``, (rows, classes)."""
    out = np.empty((len(new), len(count)))
    for unit in np.unique(remaining.unit[new]).tolist():
        left = _left_counts(count, code, unit, remaining)
        once = seen_once(left).sum(axis=1)
        says = log_unseen_shares(left.sum(axis=1), once, pseudo_count, size)
        out[remaining.unit[new] == unit] = says
    return out


def _left_counts(count: FloatArray, code: Coded, unit: int, remaining: Remaining) -> FloatArray:
    """The counts of one column, (classes, values), that are left where a unit is judged."""
    rows = np.flatnonzero(remaining.removed(unit) & (code >= 0))
    gone = np.zeros_like(count)
    np.add.at(gone, (remaining.y[rows], code[rows]), remaining.weight[rows])
    return np.asarray(rounding.difference(count, gone))


def _left_totals(
    count: FloatArray, code: Coded, pseudo_count: float, size: float, remaining: Remaining
) -> FloatArray:
    """What the shares of one column are shares of for each row, (rows, classes)."""
    if pseudo_count >= 0:
        known = (code >= 0).astype(np.float64)
        return remaining.left(count.sum(axis=1), known) + size * pseudo_count
    out = np.empty((len(code), len(count)))
    for unit in np.unique(remaining.unit).tolist():
        left = _left_counts(count, code, unit, remaining)
        out[remaining.unit == unit] = np.maximum(left + pseudo_count, 0.0).sum(axis=1)
    return out
