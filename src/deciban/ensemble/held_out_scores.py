"""The scores of held-out rows: how they conform with their class, and how typical they are.

Base learners give logits of rows that they were not fitted to; their weighted sum, of which the
weights alone are fitted to the same rows, is how the model would have answered without each.
"""

from __future__ import annotations

import numpy as np

from deciban.ensemble.logits import FloatArray
from deciban.ensemble.training_table import TrainingTable
from deciban.models import scores
from deciban.models.calibration import LeftOutScores
from deciban.models.conformal import ConformityScores
from deciban.models.novelty import MAX_NOVELTY_ROWS, RowLikelihoods, TypicalityScores


def score_held_out(table: TrainingTable, logits: FloatArray) -> LeftOutScores:
    """The scores of the rows of the table, from their logits when held out, (rows, classes)."""
    classes, y, weight = table.counted.classes, table.y, table.held_weight
    posterior = np.ascontiguousarray(logits).copy()
    scores.normalise(posterior, table.prior_logits, logarithm=True)
    conformity = ConformityScores.of(classes, posterior, y, weight)
    if not table.counted.blocks:
        return LeftOutScores(conformity)
    some = np.arange(0, len(y), -(-len(y) // MAX_NOVELTY_ROWS))
    likelihoods = table.counted.likelihoods
    if table.remaining is None:
        batch, one = table.part.take(some).batch, table.single_weight[some]
        rows = likelihoods.leave_one_out(batch, y[some], one)
    else:
        every = likelihoods.leave_out(table.part.batch, table.remaining)
        rows = RowLikelihoods(every.log_likelihood[some], every.size[some])
    typicality = TypicalityScores.of(classes, rows, y[some], weight[some])
    return LeftOutScores(conformity, typicality)
