"""Counted rows of a sample, each left out of the counts, and what they give.

That is the calibration, and the scores among which those of new rows have a rank. The calibration
is needed by every answer; the scores are put in order when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.remaining import remaining_rows
from deciban.models import class_offsets, scores
from deciban.models.calibration import Calibration, ScoredRows
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import MAX_NOVELTY_ROWS, RowLikelihoods, TypicalityScores
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.naive_bayes.near_copies import warn_near_copies, with_labels_together
from deciban.naive_bayes.row_choices import choose_columns, choose_texts
from deciban.sources.labelled import LabelledBatch
from deciban.sources.sample import Part, Sample

FloatArray = NDArray[np.float64]
#: Rows that are left out at once.
BATCH_ROWS = 2048


#: No more scores than this are held, one for each row and class: 320 MB of each kind.
MAX_SCORES = 40_000_000
#: But no fewer rows than this, however many classes there are.
MIN_ROWS = 500


def max_rows(n_classes: int) -> int:
    """How many rows of a sample are left out one by one.

    >>> max_rows(10), max_rows(10_000)
    (4000000, 4000)
    """
    return max(MIN_ROWS, MAX_SCORES // max(1, n_classes))


def score_sample(model: NaiveBayesModel, sample: Sample) -> list[ScoredRows]:
    """The rows of a sample: a row of weight k is k rows, of which one is left out.

    Of rows that belong to groups, the whole group is left out; of rows that have a time, what
    did not come before.
    """
    classes = model.counts.classes

    def work(part: LabelledBatch) -> ScoredRows:
        y, weight = part.codes_among(classes), part.weights
        remaining = None if part.units is None else remaining_rows(part, classes)
        if remaining is not None:
            return ScoredRows(*model.leave_out(part.batch, remaining), y, weight)
        return ScoredRows(*model.leave_one_out(part.batch, y, np.minimum(weight, 1.0)), y, weight)

    return list(threads.run(work, sample.chunks(BATCH_ROWS)))


def judge_sample(
    model: NaiveBayesModel,
    sample: Sample,
    before: Calibration | None,
    calibrate: bool,
    in_units: bool,
) -> NaiveBayesModel:
    """The model with all that counted rows choose, and their scores.

    Rows ``in_units`` also select how columns are modelled. Where many texts have several labels,
    the rows of a text are left out together. Without ``calibrate``, nothing is put
    on the model.
    """
    sample.thin(max_rows(len(model.counts.classes)))
    if in_units and before is None:
        model = choose_columns(model, sample)
    elif not in_units and model.schema.texts:
        sample = with_labels_together(model, sample)
        warn_near_copies(model, sample)
    if calibrate:
        return judge(model, sample, before)
    return keep_scores(model, score_sample(model, sample), sample, sample.stands_for)


def judge(
    model: NaiveBayesModel, sample: Sample, before: Calibration | None = None
) -> NaiveBayesModel:
    """The model with what counted rows of a sample say of it.

    They select how texts are read, and give its calibration, added to that of rows ``before``,
    and the scores of rows left out.
    """
    if model.schema.texts:
        model = choose_texts(model, sample)
    rows, stands_for = score_sample(model, sample), sample.stands_for
    more = calibrate(model, rows, stands_for)
    model = model.with_calibration(more if before is None else before + more)
    return keep_scores(model, rows, sample, stands_for)


def calibrate(model: NaiveBayesModel, rows: list[ScoredRows], stands_for: float) -> Calibration:
    """The calibration of counted rows, each of which stands for so many times its weight.

    Texts have selected their own scale, and a stated prior is that of the answers: neither model
    has offsets.
    """
    if model.prior is not None or model.schema.texts:
        return Calibration.of_batches(rows) * stands_for
    return class_offsets.calibrate(rows, model.counts.classes, model.sizes, stands_for)


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Rows left out of a model, whose scores are put in order when they are asked for.

    ``log_joint``, (rows, classes), is discounted; ``log_likelihood`` is that of the first of them,
    which are in ``part``: as many as novelty is judged by. Each row stands for ``stands_for``.
    """

    log_joint: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    stands_for: float
    part: Part
    log_likelihood: FloatArray

    def scores(self, model: NaiveBayesModel) -> KeptScores:
        """Their scores under the model that they were left out of."""
        posterior = self.log_joint.copy()
        scores.normalise(posterior, model.log_prior, logarithm=True)
        left_out = LeaveOneOutScores.of(posterior, self.y, self.weight)
        conformity = ConformityScores.of(
            model.classes, left_out.log_posterior, left_out.codes, left_out.weight, self.stands_for
        )
        return KeptScores(conformity, self._typicality(model), left_out)

    def _typicality(self, model: NaiveBayesModel) -> TypicalityScores:
        """The typicality of some of the rows: those of least key, or of some groups."""
        part, some = self.part, self.part.rows.batch.n_rows
        if part.rows.units is not None:
            return _typicality_of_units(model, part)
        y, weight = self.y[:some], self.weight[:some]
        of_rows = part.rows.batch, y, np.minimum(weight, 1.0), self.log_likelihood
        likelihoods = model.likelihoods.leave_one_out(*of_rows)
        return TypicalityScores.of(model.classes, likelihoods, y, weight, part.stands_for)


def keep_scores(
    model: NaiveBayesModel, scored: list[ScoredRows], sample: Sample, stands_for: float
) -> NaiveBayesModel:
    """The model with those rows, whose scores come beside those that it has."""
    if not scored:
        return model
    joints = [model.joint(rows.log_prior, rows.log_likelihood) for rows in scored]
    likelihood, y, weight = (np.concatenate(part) for part in list(zip(*scored, strict=True))[1:])
    part = sample.part(-(-len(y) // MAX_NOVELTY_ROWS))
    some = likelihood[: part.rows.batch.n_rows].copy()
    about = np.concatenate(joints), y, weight, stands_for, part, some
    kept = model.with_left_out_rows(LeftOutRows(*about))
    # Rows of units need those beside them to be judged by, which are not held any longer.
    return kept if part.rows.units is None else kept.with_left_out(kept.left_out)


def _typicality_of_units(model: NaiveBayesModel, part: Part) -> TypicalityScores:
    """The typicality of rows by what is left without their group, or by what came before."""
    remaining = remaining_rows(part.rows, model.classes)
    if remaining is None:
        raise TypeError("these rows belong to no groups or times")
    every = model.likelihoods.leave_out(part.rows.batch, remaining)
    some = np.arange(part.rows.n_rows) if part.judged is None else part.judged
    rows = RowLikelihoods(every.log_likelihood[some], every.size[some])
    y, weight = remaining.y[some], remaining.weight[some]
    return TypicalityScores.of(model.classes, rows, y, weight, part.stands_for)
