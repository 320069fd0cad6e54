"""How good a model that has just been fitted is, by the rows that it learned, each left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deciban.cli.reading import WatchedTable

if TYPE_CHECKING:
    from deciban.cli.recipes import Learner


@dataclass(frozen=True)
class Quality:
    """Accuracy and log loss (nats a row), and those of always guessing the same.

    ``rows`` is the weight of the rows that were judged: a row and its copies may be one.
    """

    rows: float
    accuracy: float
    log_loss: float
    commonest: str
    guessing_accuracy: float
    guessing_log_loss: float

    @classmethod
    def of(cls, model: Learner, rows: WatchedTable, target: str) -> Quality:
        """On rows of training, each judged as if it, or what belongs to it, had never been seen."""
        if model.training_scores_ is not None:  # the rows judged while it was fitted
            e = model.evaluate(bootstrap=0)
        else:
            e = model.evaluate(rows.scan(), target=target, leave_one_out=True, bootstrap=0)
        base = e.baseline
        guess = (str(e.guess), base.accuracy, base.log_loss) if base is not None else ("", 0.0, 0.0)
        return cls(e.weight, e.accuracy, e.log_loss, *guess)
