"""How good a model that has just been fitted is, by the rows that it learned, each left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deciban.cli.reading import WatchedTable

if TYPE_CHECKING:
    from deciban.evaluation import Evaluation


@dataclass(frozen=True)
class Quality:
    """Accuracy and log loss (nats a row), and those of always guessing the same.

    A model that is fitted in folds says its log loss on the rows that each holds out alone.
    """

    rows: int
    accuracy: float | None
    log_loss: float
    commonest: str
    guessing_accuracy: float | None
    guessing_log_loss: float

    @classmethod
    def of(cls, model: Any, rows: WatchedTable, target: str) -> Quality:
        """On counted rows, each judged as if it, or what belongs to it, had never been seen."""
        from deciban.ensemble import BayesClassifier
        from deciban.evaluation import evaluate
        from deciban.evaluation.classifier import HasTrainingScores

        if isinstance(model, BayesClassifier):
            of, weight = model.report_, model.model_.counts.weight
            commonest = str(model.classes_.tolist()[int(weight.argmax())])
            return cls(of.learned_rows, None, of.loss, commonest, None, of.prior_loss)
        kept = model.training_scores_ if isinstance(model, HasTrainingScores) else None
        if kept is not None:  # the rows judged while it was fitted
            return cls._of(evaluate(model, bootstrap=0))
        return cls._of(evaluate(model, rows.scan(), target=target, leave_one_out=True, bootstrap=0))

    @classmethod
    def _of(cls, e: Evaluation) -> Quality:
        base = e.baseline
        guess = (str(e.guess), base.accuracy, base.log_loss) if base is not None else ("", 0.0, 0.0)
        return cls(e.rows, e.accuracy, e.log_loss, *guess)
