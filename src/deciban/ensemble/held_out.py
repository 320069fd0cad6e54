"""Rows held out in training, whose scores are put in order when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.logits import FloatArray
from deciban.ensemble.training_table import TrainingTable
from deciban.models import scores
from deciban.models.calibration import LeftOutScores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.novelty import (
    MAX_NOVELTY_ROWS,
    RowLikelihoods,
    TypicalityScores,
    sum_likelihoods,
)
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.batch import Batch

if TYPE_CHECKING:
    from deciban.ensemble.model import EnsembleModel


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The logits of rows when held out, (rows, classes), their classes and weights.

    Base learners give logits of rows that they were not fitted to; their weighted sum, of which
    the weights alone are fitted to the same rows, is how the model would have answered without
    each. ``judged`` are those by which novelty is judged, ``batch`` has them, and ``one`` is what
    each weighs in the counts; rows of groups or times need those beside them, and have their
    ``typicality`` already.
    """

    logits: FloatArray
    prior_logits: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    judged: NDArray[np.intp]
    batch: Batch
    one: FloatArray
    typicality: TypicalityScores | None

    @classmethod
    def of(cls, table: TrainingTable, logits: FloatArray) -> HeldOutRows:
        """The rows of a table in folds."""
        held = table.held_rows
        judged = held[:: max(1, -(-len(held) // MAX_NOVELTY_ROWS))]
        one, typicality = table.single_weight[judged], None
        if table.remaining is not None:
            typicality = _typicality_of_units(table, judged)
        rows = table.y, table.held_weight, judged, table.part.take(judged).batch, one
        return cls(logits, table.prior_logits, *rows, typicality)

    def scores(self, model: EnsembleModel) -> LeftOutScores:
        """Their scores under the model that they were held out of."""
        posterior = np.ascontiguousarray(self.logits).copy()
        scores.normalise(posterior, self.prior_logits, logarithm=True)
        conformity = ConformityScores.of(model.classes, posterior, self.y, self.weight)
        left_out = LeaveOneOutScores.of(posterior, self.y, self.weight)
        typicality = self.typicality
        if typicality is None:
            typicality = self._typicality(_counted(model.counted, model.words))
        return LeftOutScores(conformity, typicality, left_out)

    def _typicality(self, counted: list[NaiveBayesModel]) -> TypicalityScores | None:
        """How likely some rows are, each left out of the counts; None without columns."""
        if not counted:
            return None
        y, weight = self.y[self.judged], self.weight[self.judged]
        parts = [model.likelihoods.leave_one_out(self.batch, y, self.one) for model in counted]
        return TypicalityScores.of(counted[0].classes, sum_likelihoods(parts), y, weight)


def _counted(*models: NaiveBayesModel | None) -> list[NaiveBayesModel]:
    """The models that have columns, which are independent in a class: what they say adds up."""
    return [model for model in models if model and model.blocks]


def _typicality_of_units(table: TrainingTable, judged: NDArray[np.intp]) -> TypicalityScores | None:
    """How likely some rows are by what is left without their group, or by what came before."""
    counted, batch, remaining = (
        _counted(table.counted, table.words),
        table.part.batch,
        table.remaining,
    )
    if not counted or remaining is None:
        return None
    every = sum_likelihoods([model.likelihoods.leave_out(batch, remaining) for model in counted])
    rows = RowLikelihoods(every.log_likelihood[judged], every.size[judged])
    y, weight = table.y[judged], table.held_weight[judged]
    return TypicalityScores.of(table.counted.classes, rows, y, weight)
