"""The scores of counted rows of a drop-in classifier, each taken out of the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deciban.models import prior, scores
from deciban.models.calibration import LeftOutScores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.novelty import RowLikelihoods, TypicalityScores
from deciban.sources.kept_rows import KeptPart, KeptRows
from deciban.sources.matrix import slice_rows
from deciban.stats.statistic import FloatArray

if TYPE_CHECKING:
    from deciban.naive_bayes.dropins.model import DropInModel

__all__ = ["leave_one_out", "score_left_out"]


def score_left_out(model: DropInModel, kept: KeptRows) -> LeftOutScores | None:
    """How kept rows conform with their class, and how typical they are; None where there are none.

    A row of weight k is k rows, of which one is left out.
    """
    if not kept.parts:
        return None
    posterior, likelihood, size = (
        np.concatenate(parts)
        for parts in zip(*(leave_one_out(model, part) for part in kept), strict=True)
    )
    how = kept.codes_among(model.classes), kept.weight, kept.stands_for
    return LeftOutScores(
        ConformityScores.of(model.classes, posterior, *how),
        TypicalityScores.of(model.classes, RowLikelihoods(likelihood, size), *how),
        LeaveOneOutScores.of(posterior, *how),
    )


def leave_one_out(model: DropInModel, part: KeptPart) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of counted rows, each as if it had never been seen: log posterior, log likelihood, and size.

    The first two are (rows, classes), the last is (rows,).
    """
    y, weight = part.codes_among(model.classes), np.minimum(part.weight, 1.0)
    rows = model.encode(slice_rows(part.X, slice(0, len(y))))
    likelihood = model.parameters.leave_one_out(rows, y, weight)
    base, fallback = (np.tile(each, (len(y), 1)) for each in (model.log_prior, model.fallback))
    if model.prior_is_counted:
        base = fallback = prior.leave_one_out(model.counts.weight, y, weight)
    joint = np.ascontiguousarray(base + likelihood)
    impossible = np.isneginf(joint).all(axis=1)
    joint[impossible] = fallback[impossible]
    scores.normalise(joint, model.fallback, logarithm=True)
    if model.generative is not model.parameters:
        likelihood = model.generative.leave_one_out(rows, y, weight)
    return joint, likelihood, model.encoder.size(rows)
