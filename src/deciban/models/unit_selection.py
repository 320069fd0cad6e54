"""What rows select that belong together: as :mod:`deciban.models.selection`, but by rows left out.

The counts alone do not tell which of their rows belong together. So candidates are judged on rows
of a sample: each by what is left without its group, or by what came before it. Smoothing is
still that under which the counts are likeliest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import families
from deciban.families.alone import best_candidates, empirical_smoothing
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.families.protocol import Candidate, CountedColumns, Family
from deciban.families.remaining import Remaining
from deciban.kernels.discrete import log_shares
from deciban.models.options import Options
from deciban.models.selection import (
    Choice,
    candidates,
    counted_columns,
    missing_weights,
    stated_missing,
)
from deciban.schema import Schema
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trial:
    """Rows of a sample on which candidates are tried, with the log prior that is left for each.

    ``matrices`` has the rows by the statistic that they are counted with, (rows, columns).
    """

    remaining: Remaining
    log_prior: FloatArray
    matrices: Mapping[str, Matrix]

    def loss(self, log_likelihood: FloatArray, known: Mask) -> float:
        """The mean loss, in nats, of rows in which a column is known, if it is used alone."""
        y, weight = self.remaining.y[known], self.remaining.weight[known]
        if not len(y):
            return float(np.inf)
        joint = self.log_prior[known] + log_likelihood[known]
        top = joint.max(axis=1)
        with np.errstate(invalid="ignore"):
            loss = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
            loss -= joint[np.arange(len(y)), y]
        limited = np.minimum(np.nan_to_num(loss, nan=np.inf), MAX_ROW_LOSS)
        return float(weight @ limited / weight.sum())

    def judge(
        self, family: Family, columns: CountedColumns, tried: Mapping[int, Candidate]
    ) -> dict[int, float]:
        """The loss of one candidate of a family for each of some columns."""
        names = [columns.names[j] for j in tried]
        table = columns.tables[family.statistic.name].select_columns(names)
        order = [list(columns.names).index(name) for name in table.cells.columns.tolist()]
        selected = [_Selected(tried[j], columns.kinds[j]) for j in order]
        parameters = family.estimate(table, family.settings("bayes", selected))
        X = self.matrices[family.statistic.name][:, order]
        left_out = parameters.leave_out(np.ascontiguousarray(X), self.remaining)
        known = _known(X)
        pairs = enumerate(zip(order, left_out, strict=True))
        return {j: self.loss(log, known[:, at]) for at, (j, log) in pairs}

    def missing_matters(self, columns: CountedColumns, matrix: Matrix) -> list[bool]:
        """Whether "missing or not" says more than the prior, of each column."""
        rows = np.ones(len(self.remaining.y), dtype=bool)
        prior = self.loss(np.zeros_like(self.log_prior), rows)
        class_weight = columns.class_weight
        missing = missing_weights(columns.counts, class_weight)
        pairs = zip(missing, _known(matrix).T, strict=True)
        return [
            bool(some.any()) and self._missing_loss(some, class_weight, known) < prior
            for some, known in pairs
        ]

    def _missing_loss(self, missing: FloatArray, class_weight: FloatArray, known: Mask) -> float:
        table = np.stack([np.maximum(class_weight - missing, 0.0), missing], axis=1)
        lam, code = empirical_smoothing(table), (~known).astype(np.int64)
        left = self.remaining.left_alike(table[:, code].T, code)
        total = self.remaining.left(class_weight)
        log = log_shares(np.maximum(left, 0.0) + lam, total + 2 * lam, 2)
        return self.loss(log, np.ones(len(known), dtype=bool))


@dataclass(frozen=True)
class _Selected:
    """A candidate, as families take what was selected."""

    candidate: Candidate
    kind: str

    @property
    def smoothing(self) -> float:
        return self.candidate.smoothing

    @property
    def bins(self) -> int:
        return self.candidate.bins


def select(counts: Counts, schema: Schema, options: Options, trial: Trial) -> dict[str, Choice]:
    """A choice for every column that is counted: the candidate of least loss in the trial."""
    selected = {}
    for columns in counted_columns(counts, schema, options):
        best = _best_candidates(columns, trial)
        matrix = trial.matrices[next(iter(columns.tables))]
        missing = stated_missing(columns, options.missing)
        if options.missing == "auto":
            missing = trial.missing_matters(columns, matrix)
        for j, (name, (family, one)) in enumerate(zip(columns.names, best, strict=True)):
            how = (one.bins, one.smoothing, missing[j], one.loss)
            selected[name] = Choice(name, family, *how, kind=columns.kinds[j])
    return selected


def _best_candidates(columns: CountedColumns, trial: Trial) -> list[tuple[str, Candidate]]:
    """The family and the candidate of least loss of each column.

    The first candidates of all columns of a family are tried together, then the second, ...
    """
    offered = candidates(columns)
    judged: list[list[tuple[str, Candidate]]] = [[] for _ in columns.names]
    for name in dict.fromkeys(name for column in offered for name, _ in column):
        mine = [[one for own, one in column if own == name] for column in offered]
        for place in range(max(map(len, mine))):
            tried = {j: some[place] for j, some in enumerate(mine) if place < len(some)}
            for j, loss in trial.judge(families.get(name), columns, tried).items():
                judged[j].append((name, replace(tried[j], loss=loss)))
    return best_candidates(judged)


def _known(matrix: Matrix) -> Mask:
    """Which values are not missing, (rows, columns): codes are -1 there, numbers NaN."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
        return ~np.isnan(matrix)
    return np.asarray(matrix >= 0)
