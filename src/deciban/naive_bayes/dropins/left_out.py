"""The scores of counted rows of a drop-in classifier, each taken out of the counts.

Rows that belong together leave with their whole group, or with all that did not come before them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.families.protocol import Parameters
from deciban.families.remaining import remaining_rows
from deciban.labels import Labels
from deciban.models import prior, scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import RowLikelihoods, TypicalityScores
from deciban.sources.batch import LabelledBatch
from deciban.sources.kept_rows import MAX_KEPT_ROWS, KeptPart, KeptRows
from deciban.sources.matrix import CheckedMatrix, canonical, is_sparse, slice_rows
from deciban.sources.matrix_units import places
from deciban.sources.sample import Sample
from deciban.stats.statistic import FloatArray, Matrix

if TYPE_CHECKING:
    from deciban.naive_bayes.dropins.model import DropInModel

__all__ = ["RowScores", "leave_one_out", "leave_units_out", "score_left_out", "score_units"]


class RowScores(NamedTuple):
    """Counted rows, each as if it had never been seen.

    Log posterior and log likelihood are (rows, classes), the size is (rows,).
    """

    log_posterior: FloatArray
    log_likelihood: FloatArray
    size: FloatArray

    def in_order(
        self, classes: Labels, y: NDArray[np.intp], weight: FloatArray, stands_for: FloatArray
    ) -> KeptScores:
        """How rows conform with their class ``y``, and how typical they are."""
        how = y, weight, stands_for
        likelihoods = RowLikelihoods(self.log_likelihood, self.size)
        return KeptScores(
            ConformityScores.of(classes, self.log_posterior, *how),
            TypicalityScores.of(classes, likelihoods, *how),
            LeaveOneOutScores.of(self.log_posterior, *how),
        )


def score_left_out(model: DropInModel, kept: KeptRows) -> KeptScores | None:
    """The scores of kept rows; None where there are none.

    A row of weight k is k rows, of which one is left out.
    """
    if not kept.parts:
        return None
    parts = zip(*(leave_one_out(model, part) for part in kept), strict=True)
    rows = RowScores(*map(np.concatenate, parts))
    y = kept.codes_among(model.classes)
    return rows.in_order(model.classes, y, kept.weight, kept.stands_for)


def score_units(model: DropInModel, X: CheckedMatrix, sample: Sample) -> KeptScores | None:
    """The scores of rows of a matrix, which a sample has by their places; None where it has none.

    A row of weight k leaves with its whole weight.
    """
    if not sample.n_rows:
        return None
    part = sample.part(-(-sample.n_rows // MAX_KEPT_ROWS))
    judged = np.arange(part.rows.n_rows) if part.judged is None else part.judged
    every = leave_units_out(model, X, _merge_times(part.rows, judged))
    rows = RowScores(*(each[judged] for each in every))
    y, weight = part.rows.codes_among(model.classes)[judged], part.rows.weights[judged]
    return rows.in_order(model.classes, y, weight, np.full(len(y), part.stands_for))


def leave_one_out(model: DropInModel, part: KeptPart) -> RowScores:
    """The scores of rows that were kept, each left out alone."""
    y, weight = part.codes_among(model.classes), np.minimum(part.weight, 1.0)
    rows = model.encode(slice_rows(part.X, slice(0, len(y))))

    def likelihood(of: Parameters) -> FloatArray:
        return of.leave_one_out(rows, y, weight)

    left = None
    if model.prior_is_counted:
        left = prior.leave_one_out(model.counts.weight, y, weight)
    return _score(model, rows, likelihood, left)


def leave_units_out(model: DropInModel, X: CheckedMatrix, part: LabelledBatch) -> RowScores:
    """The scores of rows of a matrix, each by what is left without its unit."""
    remaining = remaining_rows(part, model.classes)
    if remaining is None:
        raise TypeError("these rows belong to no groups or times")
    some = X[places(part)]
    some = canonical(some) if is_sparse(some) else some
    rows = model.encode(slice_rows(some, slice(0, part.n_rows)))

    def likelihood(of: Parameters) -> FloatArray:
        shape = part.n_rows, len(model.classes)
        return sum(of.leave_out(rows, remaining), np.zeros(shape))

    left = None
    if model.prior_is_counted:
        left = prior.of_remaining(remaining.left(model.counts.weight))
    return _score(model, rows, likelihood, left)


def _score(
    model: DropInModel,
    rows: Matrix,
    likelihood: Callable[[Parameters], FloatArray],
    left_prior: FloatArray | None,
) -> RowScores:
    """Encoded rows by their likelihood without them; so is the prior, where it is counted."""
    log_likelihood = likelihood(model.parameters)
    base, fallback = (
        np.broadcast_to(each, log_likelihood.shape) if left_prior is None else left_prior
        for each in (model.log_prior, model.fallback)
    )
    joint = np.ascontiguousarray(base + log_likelihood)
    impossible = np.isneginf(joint).all(axis=1)
    joint[impossible] = fallback[impossible]
    scores.normalise(joint, model.fallback, logarithm=True)
    if model.generative is not model.parameters:
        log_likelihood = likelihood(model.generative)
    return RowScores(joint, log_likelihood, model.encoder.size(rows))


def _merge_times(rows: LabelledBatch, judged: NDArray[np.intp]) -> LabelledBatch:
    """Rows whose times from that of one judged row to the next are one.

    What came before a judged row is the same, and there are no more times than judged rows.
    """
    if rows.units is None or rows.units.kind != "time":
        return rows
    unit = rows.units.codes()
    merged = np.searchsorted(np.unique(unit[judged]), unit, "right")
    return replace(rows, units=replace(rows.units, values=merged))
