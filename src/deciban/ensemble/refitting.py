"""Few rows, each judged by a model that was learned anew without its fold.

Base learners choose penalties and rounds by the rows that their folds hold out, and are weighed by
them. Of a hundred rows such choices flatter: of sets that were to hold the class of 80 % of new
rows, those by 20 training rows held 70 %, by 60 rows 78 %. So where rows are few, all that is said
of left-out rows comes from models that chose nothing by them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.engines.local.count import count_batch
from deciban.engines.protocol import Plan
from deciban.ensemble.model import EnsembleModel
from deciban.ensemble.training import Tokenizers, TrainingOptions, train
from deciban.ensemble.training_table import HeldOutRows, TrainingTable
from deciban.models import scores
from deciban.models.leave_one_out_scores import KeptScores
from deciban.models.options import Options
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.labelled import LabelledBatch

FloatArray = NDArray[np.float64]

#: More rows than this, or values of them, are judged by the folds of the base learners.
MAX_ROWS, MAX_VALUES = 200, 20_000


@dataclass(frozen=True, eq=False)
class RefittedRows:
    """All rows of training, held out, and what it takes to learn anew without each fold.

    That is done when scores are asked for. ``tokenizers`` read the texts.
    """

    held_out: HeldOutRows
    tokenizers: Tokenizers
    options: TrainingOptions

    def scores(self, model: EnsembleModel) -> KeptScores:
        """Their scores, each under a model of the other folds."""
        rows = self.held_out
        part = LabelledBatch(rows.batch, model.classes, rows.y, rows.weight)
        table = TrainingTable.of(model.counted, part, self.options.seed)
        with threads.serial_blas():
            logits = self._logits(model, table)
        return replace(rows, logits=logits).scores(model)

    def _logits(self, model: EnsembleModel, table: TrainingTable) -> FloatArray:
        """The log posteriors of the rows of a table; of classes a fold alone has, their shares."""
        shares = table.prior_logits - np.logaddexp.reduce(table.prior_logits)
        logits = np.tile(shares, (len(table.y), 1))
        for inside, held in table.splits:
            other = self._train(model, table.part.take(inside).drop_unused_classes())
            posterior = np.empty((len(held), len(other.classes)))
            other.log_joint(table.part.take(held).batch, posterior)
            scores.normalise(posterior, other.log_prior, logarithm=True)
            known = labels.positions(other.classes, model.classes)
            logits[held[:, None], known] = posterior + np.logaddexp.reduce(shares[known])
        return logits

    def _train(self, model: EnsembleModel, part: LabelledBatch) -> EnsembleModel:
        """The model of other rows, learned in the same way."""
        plan = Plan(model.counted.schema)
        counts = plan.empty(part.classes) + count_batch(plan, part)
        counted = NaiveBayesModel.of(plan.schema, counts, Options())
        how = counted, None, part, self.options, lambda: None
        return train(model.schema, self.tokenizers, *how)


def refit_few(
    model: EnsembleModel, part: LabelledBatch, tokenizers: Tokenizers, options: TrainingOptions
) -> EnsembleModel:
    """The model of a part, whose rows are held out by refitting where few differ, in no units."""
    rows, n_rows, n_columns = model.held_out, part.batch.n_rows, len(part.batch.columns)
    if not isinstance(rows, HeldOutRows) or len(model.classes) == 1:
        return model
    few = len(rows.judged) == len(rows.y) <= min(MAX_ROWS, MAX_VALUES // n_columns)
    if few and n_rows <= options.max_rows and part.units is None:
        return replace(model, held_out=RefittedRows(rows, tokenizers, options))
    return model
