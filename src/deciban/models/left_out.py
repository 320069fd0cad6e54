"""What is kept of the scores of left-out rows: their conformity, and their typicality.

Both are in order and bounded in size (:mod:`deciban.models.ranked_scores`), and add up as counts
do. When more rows are learned, those that were scored before keep the scores of the model
that they were left out of; when rows are forgotten, what is left weighs less.
"""

from __future__ import annotations

from dataclasses import dataclass

from deciban.labels import Labels
from deciban.models.conformal import ConformityScores
from deciban.models.novelty import TypicalityScores


@dataclass(frozen=True, eq=False)
class LeftOutScores:
    """The scores of rows that were left out of a model.

    ``typicality`` is None where a model does not know how likely a row is.
    """

    conformity: ConformityScores
    typicality: TypicalityScores | None = None

    def for_classes(self, classes: Labels) -> LeftOutScores:
        """The scores in the order of other classes; those of a class that is gone go with it."""
        typicality = None if self.typicality is None else self.typicality.for_classes(classes)
        return LeftOutScores(self.conformity.for_classes(classes), typicality)

    def __add__(self, other: LeftOutScores) -> LeftOutScores:
        mine, theirs = self.typicality, other.typicality
        both = mine + theirs if mine and theirs else mine or theirs
        return LeftOutScores(self.conformity + other.conformity, both)

    def __mul__(self, factor: float) -> LeftOutScores:
        typicality = None if self.typicality is None else self.typicality * factor
        return LeftOutScores(self.conformity * factor, typicality)


def pool(mine: LeftOutScores | None, theirs: LeftOutScores | None) -> LeftOutScores | None:
    """The scores of two models, either of which may have none."""
    return mine + theirs if mine and theirs else mine or theirs
