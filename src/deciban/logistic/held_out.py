"""Rows that belong together, held out in folds: what a regression says of them without them.

Without a whole group, let alone without all that came later, the optimum may be further away than
one step of Newton's method (:mod:`deciban.logistic.left_out`). So groups are dealt out to folds,
and times make forward folds (:mod:`deciban.sources.unit_folds`); each fold is fitted anew to what
it does not hold out, from the optimum of all rows on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban.errors import InputError
from deciban.labels import Labels
from deciban.logistic import fitting, penalty
from deciban.logistic.bounds import seen_range
from deciban.logistic.columns import summarize
from deciban.logistic.fitting import Options
from deciban.logistic.model import LogisticModel
from deciban.logistic.typicality import ColumnLikelihoods
from deciban.models import scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import MAX_NOVELTY_ROWS, RowLikelihoods, TypicalityScores
from deciban.sources.matrix_units import places, rows_by_place, units_of
from deciban.sources.sample import ALL_ROWS
from deciban.sources.unit_folds import Split, deal_units
from deciban.sources.unit_sample import TrainingUnits, check_units
from deciban.sources.units import ARGUMENTS, UnitSource

__all__ = ["FoldFit", "TrainingRows", "refuse_more_rows", "split_units"]

FloatArray = NDArray[np.float64]

#: How many folds groups are dealt out to, and in how many steps forward times are held out.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Labelled rows of a matrix, dense or CSR, with their weights."""

    X: FloatArray | csr_array
    codes: NDArray[np.intp]
    weight: FloatArray | None
    classes: Labels

    @property
    def weights(self) -> FloatArray:
        """The weight of every row."""
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    def take(self, rows: NDArray[np.intp]) -> TrainingRows:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return TrainingRows(self.X[rows], self.codes[rows], weight, self.classes)

    def of_classes(self, there: NDArray[np.intp]) -> TrainingRows:
        """The rows, numbered among some of the classes, in order, of which all of them are."""
        codes = np.searchsorted(there, self.codes)
        return TrainingRows(self.X, codes, self.weight, self.classes[there])


def split_units(rows: TrainingRows, source: UnitSource) -> tuple[TrainingUnits, list[Split]]:
    """What is remembered of the units of rows, and the folds that hold units out.

    A fold has the rows that it is fitted to, and those that it holds out.
    """
    units = units_of(source, rows.X)
    by_place = rows_by_place(units, rows.codes, rows.classes, rows.weight)
    known = TrainingUnits(source.kind, source.name)
    sample = known.sample(ALL_ROWS)
    sample.add(by_place)
    check_units(sample)
    place = places(by_place)
    keys = place.astype(np.uint64)  # no two rows are one: each has a place of its own
    dealt = deal_units(
        keys, by_place.codes, by_place.weights, units.take(place), seed=0, n_folds=N_FOLDS
    )
    at = place[dealt.rows]
    return known.after(sample), [(at[inside], at[held]) for inside, held in dealt.splits]


def refuse_more_rows(units: TrainingUnits | None) -> None:
    """Refuse rows of later calls: they cannot be held out with those that belong to them."""
    if units is not None:
        what = ARGUMENTS[units.kind]
        raise InputError(
            f"this model was fitted with {what}: rows of later calls cannot be held out of it.",
            hint=f"fit all rows anew, with {what}=",
        )


@dataclass(frozen=True, eq=False)
class FoldFit:
    """How folds are fitted: with the penalty ``lam`` of all rows, from their ``optimum`` on."""

    options: Options
    lam: float
    optimum: FloatArray

    def score(self, rows: TrainingRows, splits: Sequence[Split]) -> KeptScores:
        """How held-out rows conform with their class, and how typical they are."""
        posteriors, likelihoods = [], []
        for inside, held in splits:
            some, out = rows.take(inside), rows.take(held)
            posteriors.append(self._log_posterior(some, out))
            columns = summarize(some.X, some.codes, some.weight, len(rows.classes))
            likelihoods.append(ColumnLikelihoods(columns).of_rows(out.X))
        every = rows.take(np.concatenate([held for _, held in splits]))
        y, n_rows = every.codes, len(every.codes)
        weight, log_posterior = every.weights, np.concatenate(posteriors)
        step = -(-n_rows // MAX_NOVELTY_ROWS)
        spaced = np.arange(0, n_rows, step)
        each = (np.concatenate(part)[spaced] for part in zip(*likelihoods, strict=True))
        of_rows = RowLikelihoods(*each), y[spaced], weight[spaced]
        return KeptScores(
            ConformityScores.of(rows.classes, log_posterior, y, weight),
            TypicalityScores.of(rows.classes, *of_rows, float(step)),
            LeaveOneOutScores.of(log_posterior, y, weight).thin(),
        )

    def _log_posterior(self, rows: TrainingRows, held: TrainingRows) -> FloatArray:
        """``log P(c | x)`` of rows by a model of others; a class that these lack is impossible."""
        at = np.unique(rows.codes)
        if self.options.lam is None:  # each class has a row more
            at = np.arange(len(rows.classes))
        out = np.full((held.X.shape[0], len(rows.classes)), -np.inf)
        if len(at) == 1:
            out[:, at] = 0.0
            return out
        joint = np.ascontiguousarray(self.fit(rows.of_classes(at)).log_joint_of_matrix(held.X))
        scores.normalise(joint, np.full(len(at), -np.log(len(at))), logarithm=True)
        out[:, at] = joint
        return out

    def fit(self, rows: TrainingRows) -> LogisticModel:
        """The model of some rows, fitted as all of them were."""
        options, n_classes, auto = self.options, len(rows.classes), self.options.lam is None
        bounds = seen_range(rows.X, rows.weight) if auto else None
        X, codes, weight = rows.X, rows.codes, rows.weight
        if auto and options.fit_intercept:
            X, codes, weight = penalty.add_prior_rows(X, codes, weight, n_classes)
        priors = fitting.l2_priors(options, self.lam, X.shape[1], n_classes)
        problems = fitting.problems(X, codes, weight, priors, options.fit_intercept)
        start = fitting.start_at_zero(problems)
        if start.shape == self.optimum.shape:
            start = self.optimum
        W = fitting.coefficients(fitting.solve(problems, start, options), options.fit_intercept)
        coef, intercept = fitting.split_intercept(W, options.fit_intercept)
        apart = options.one_vs_rest and n_classes > 2
        return LogisticModel(rows.classes, coef, intercept, apart, bounds=bounds)
