"""Categorical columns: one of ``S_j`` values per row.

``P(x_j = a | c)`` is a smoothed share of the class's rows (:mod:`deciban.families.discrete`).
``X`` holds codes: the position of the value among the column's cells, -1 for
a missing value, anything beyond for a value never seen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import ParameterError
from deciban.families.discrete import categorical_loss, empirical_smoothing, log_shares
from deciban.families.piece import Piece, dirichlet_draws
from deciban.families.protocol import Candidate, ColumnCounts, Parameters
from deciban.families.settings import Method, Settings, check_whole, spread
from deciban.families.soft import SoftBlock, count_softly, dot, identity
from deciban.kernels import evidence, panels
from deciban.stats.categories import CATEGORIES, count_of, sum_columns
from deciban.stats.statistic import Codes, FloatArray, Matrix
from deciban.stats.table import Table

Coded = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoricalSettings(Settings):
    """Settings of categorical columns.

    sizes
        ``S_j``, how many values a column can take, where more are possible than were seen
    unseen
        what a value never seen in training says: ``"smooth"``, the share that smoothing gives
        it; ``"skip"``, nothing
    """

    sizes: ArrayLike | None = None
    unseen: Literal["smooth", "skip"] = "smooth"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unseen not in ("smooth", "skip"):
            raise ParameterError(
                f'unseen must be "smooth" or "skip", got {self.unseen!r}.',
                hint='"skip" ignores a value that training never saw',
            )
        check_whole("sizes", 0 if self.sizes is None else self.sizes, 0, "possible values")

    def stated_sizes(self, n_columns: int) -> FloatArray:
        """``S_j`` of each column as stated; 0 where it is as seen."""
        stated = 0 if self.sizes is None else self.sizes
        return spread("sizes", np.asarray(stated, dtype=np.float64), n_columns)


@dataclass(frozen=True, eq=False)
class CategoricalParameters:
    """Log shares, (cells, classes); the last cell of each column is for values never seen.

    ``pseudo_counts`` and ``sizes`` are those of each column, ``table`` what was counted.
    """

    table: Table
    pseudo_counts: FloatArray
    sizes: FloatArray
    offsets: NDArray[np.intp]
    log_prob: FloatArray

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
        total, lose the row's weight. ``S_j`` stays.
        """
        out = np.zeros((len(X), self.log_prob.shape[1]))
        self.add(X, out)
        out[np.arange(len(y)), y] = self._own_class(X, y, weight).sum(axis=1)
        return out

    def leave_one_out_by_column(self, X: Coded, y: Codes, weight: FloatArray) -> FloatArray:
        """Log likelihoods of each column, (rows, columns, classes), each row taken away."""
        out = self.contributions(X)
        out[np.arange(len(y)), :, y] = self._own_class(X, y, weight)
        return out

    def _own_class(self, X: Coded, y: Codes, weight: FloatArray) -> FloatArray:
        """``log P(x_j | own class)`` of each row without it, (rows, columns)."""
        out = np.zeros(X.shape)
        starts = self.table.cells.offsets
        for j, seen in enumerate(np.diff(starts).tolist()):
            code = X[:, j]
            new = np.flatnonzero(code >= seen)
            out[new, j] = self.log_prob[self.offsets[j + 1] - 1, y[new]]
            known = np.flatnonzero((code >= 0) & (code < seen))
            count = np.ascontiguousarray(count_of(self.table)[:, starts[j] : starts[j + 1]])
            prior = float(self.pseudo_counts[j]), float(self.sizes[j])
            out[known, j] = leave_out_shares(count, *prior, code[known], y[known], weight[known])
        return out

    def curve(self, column: int, seen: Table | None = None) -> Piece:
        """The log share of every value that was counted."""
        cells = self.table.cells
        some = slice(cells.offsets[column], cells.offsets[column + 1])
        log = self.log_prob[self.offsets[column] : self.offsets[column + 1] - 1]
        counts = count_of(self.table)[:, some].T
        values = tuple(cells.values[column].tolist()) if cells.values else ()
        draws = dirichlet_draws(counts, float(self.pseudo_counts[column]))
        return Piece("", "", "category", values, log, np.exp(log), counts, draws)


def leave_out_shares(
    count: FloatArray,
    pseudo_count: float,
    size: float,
    code: Coded,
    own: Codes,
    weight: FloatArray,
) -> FloatArray:
    """``log P(value | own class)`` in one column, each row taken away from its own class."""
    amount = np.maximum(count + pseudo_count, 0.0)
    total = amount.sum(axis=1) + (size - count.shape[1]) * max(pseudo_count, 0.0)
    had = count[own, code]
    left = np.maximum(had - weight + pseudo_count, 0.0)
    rest = total[own] - (np.maximum(had + pseudo_count, 0.0) - left)
    # What the class keeps of the column: rounding of fractional weights is not a row.
    return log_shares(left, np.where(rest > 1e-9 * weight, rest, 0.0), size)


class Categorical:
    """The family of categorical columns."""

    name = "categorical"
    shape = "categories"
    statistic = CATEGORIES

    def applies(self, column: ColumnCounts) -> bool:
        """To every column of categories."""
        return self.statistic.name in column.tables

    def candidates(self, column: ColumnCounts, smoothing: float | None) -> Iterable[Candidate]:
        """Smoothing by empirical Bayes, or as stated."""
        if smoothing is None:
            smoothing = empirical_smoothing(count_of(column.tables[self.statistic.name]))
        return [Candidate(smoothing)]

    def loss_alone(self, column: ColumnCounts, candidate: Candidate) -> float:
        """The leave-one-out loss of the column used alone, in nats a row."""
        count = count_of(column.tables[self.statistic.name])
        return categorical_loss(count, candidate.smoothing, column.class_weight)

    def settings(self, method: Method, candidates: Sequence[Candidate]) -> CategoricalSettings:
        """The smoothing of each column."""
        return CategoricalSettings(method, np.array([c.smoothing for c in candidates]))

    def estimate(self, table: Table, settings: Settings) -> CategoricalParameters:
        """``log P(x_j = a | c)`` by the chosen method; ``S_j`` stated or as seen."""
        how = settings if isinstance(settings, CategoricalSettings) else _plain(settings)
        n_columns = len(table.cells.columns)
        sizes = np.maximum(how.stated_sizes(n_columns), np.diff(table.cells.offsets))
        extra = how.pseudo_counts(n_columns)
        return estimate_shares(table, extra, sizes, smooth_unseen=how.unseen == "smooth")

    def soften(self, table: Table, whole: Table, settings: Settings) -> SoftBlock:
        """Shares smoothed by a pseudo-count that is not below zero."""
        return soften_shares(table, settings, identity)

    def describe(self, candidate: Candidate) -> str:
        """The model of a column in a few words."""
        return "categories"


CATEGORICAL = Categorical()


def _plain(settings: Settings) -> CategoricalSettings:
    return CategoricalSettings(settings.method, settings.smoothing)


def estimate_shares(
    table: Table, pseudo_counts: FloatArray, sizes: FloatArray, *, smooth_unseen: bool = True
) -> CategoricalParameters:
    """Log shares of all cells of a table, and of a value never seen in each column."""
    count, cells = count_of(table), table.cells
    seen = np.diff(cells.offsets)
    column = np.repeat(np.arange(len(seen)), seen)
    amount = np.maximum(count + pseudo_counts[column], 0.0)
    unseen = np.broadcast_to(np.maximum(pseudo_counts, 0.0), (len(count), len(seen)))
    total = _totals(table, pseudo_counts, sizes)
    offsets = cells.offsets + np.arange(len(seen) + 1)  # one more cell a column
    log_prob = np.zeros((offsets[-1], len(count)))
    log_prob[np.arange(len(column)) + column] = log_shares(
        amount, total[:, column], sizes[column]
    ).T
    if smooth_unseen:
        # Where smoothing leaves nothing for a value never seen, it says nothing.
        share = np.where(unseen > 0, log_shares(unseen, total, sizes), 0.0)
        log_prob[offsets[1:] - 1] = share.T
    return CategoricalParameters(table, pseudo_counts, sizes, offsets, log_prob)


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


def _totals(table: Table, pseudo_counts: FloatArray, sizes: FloatArray) -> FloatArray:
    """What the shares of each column are shares of, (classes, columns).

    The counts are summed by themselves: whole numbers, so that the order of
    the values cannot show.
    """
    count, cells = count_of(table), table.cells
    column = np.repeat(np.arange(len(pseudo_counts)), np.diff(cells.offsets))
    below = pseudo_counts < 0
    whole = sum_columns(count, cells) + sizes * np.maximum(pseudo_counts, 0.0)
    if below.any():
        less = sum_columns(np.maximum(count + pseudo_counts[column], 0.0), cells)
        whole[:, below] = less[:, below]
    return whole
