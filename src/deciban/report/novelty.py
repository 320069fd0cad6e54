"""New rows: how many are as unlikely as few rows of training were.

Of rows like those of training, one in a hundred has a novelty of 0.01 or less. If many more have,
the rows have moved, whichever column it is in, or are of a class that the model never saw.
"""

from __future__ import annotations

from dataclasses import dataclass

from deciban.errors import InputError
from deciban.evaluation.classifier import Classifier, HasModel
from deciban.models.novelty import novelty, require_typicality
from deciban.report.drift import CHANCE_LEVEL
from deciban.report.rows import LabelledRows

#: Rows of no more novelty than this are called new.
NOVEL_LEVEL = 0.01


@dataclass(frozen=True)
class NewRows:
    """How many of some rows are new, and the most that chance alone would make so."""

    rows: int
    new: int
    by_chance: int

    @property
    def moved(self) -> bool:
        """Whether there are more than chance explains."""
        return self.new > self.by_chance


def count_new_rows(model: Classifier, rows: LabelledRows) -> NewRows | None:
    """The new ones among some rows; None where the model does not know what is new."""
    from scipy.stats import betabinom

    if not isinstance(model, HasModel):
        return None
    try:
        typicality = require_typicality(model.model_)[1]
    except InputError:
        return None
    each = novelty(model.model_, rows.batch)
    scored = typicality.ranked.rows
    usual = NOVEL_LEVEL * (1.0 + scored)
    chance = betabinom(len(each), usual, 1.0 + scored - usual).ppf(1.0 - CHANCE_LEVEL)
    return NewRows(len(each), int((each <= NOVEL_LEVEL).sum()), int(chance))
