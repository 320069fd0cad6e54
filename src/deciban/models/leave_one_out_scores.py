"""What is kept of training rows that were left out: how classes conform, how usual rows are, and
the log posteriors that an evaluation needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels
from deciban.models.conformal import ConformityScores
from deciban.models.novelty import TypicalityScores

__all__ = [
    "MAX_STORED_SCORES",
    "MIN_STORED_ROWS",
    "KeptScores",
    "LeaveOneOutScores",
    "pool",
    "with_conformity",
]

FloatArray = NDArray[np.float64]

#: No more scores than this are written to a file, one for each row and class: 1.6 MB.
MAX_STORED_SCORES = 200_000
#: Of so many classes that fewer rows than these were left, none are written.
MIN_STORED_ROWS = 100


@dataclass(frozen=True, eq=False)
class LeaveOneOutScores:
    """Log posteriors, (rows, classes), of training rows, each taken out of what was learned.

    ``codes`` are the positions of their true classes. Models of counts leave each row out of the
    counts, a regression out of its optimum, and models that are fitted in folds hold it out.
    """

    log_posterior: FloatArray
    codes: NDArray[np.intp]
    weight: FloatArray

    @classmethod
    def of(
        cls,
        log_posterior: FloatArray,
        codes: NDArray[np.intp],
        weight: FloatArray,
        stands_for: FloatArray | float = 1.0,
    ) -> LeaveOneOutScores:
        """Those of the rows that weigh anything.

        Where some rows stand for more than others, they weigh more, in the mean what they weighed.
        """
        each = np.broadcast_to(stands_for, weight.shape)
        if np.ptp(each) > 0:
            weight = weight * (each / np.average(each, weights=weight))
        there = np.flatnonzero(weight > 0)
        return cls(log_posterior[there], codes[there], weight[there])

    def thin(self) -> LeaveOneOutScores | None:
        """Evenly spaced rows, as many as a file holds; None where that would be too few.

        >>> scores = LeaveOneOutScores(np.zeros((6, 90_000)), np.zeros(6, int), np.ones(6))
        >>> scores.thin() is None
        True
        """
        n_rows, n_classes = self.log_posterior.shape
        most = MAX_STORED_SCORES // n_classes
        if n_rows <= most:
            return self
        if most < MIN_STORED_ROWS:
            return None
        some = slice(None, None, -(-n_rows // most))
        return LeaveOneOutScores(self.log_posterior[some], self.codes[some], self.weight[some])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeaveOneOutScores) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in vars(self)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class KeptScores:
    """What is kept of the scores of rows left out of a model: their conformity and typicality.

    Both are in order and bounded in size, and add up as counts do. When more rows are learned,
    those that were scored before keep the scores of the model that they were left out of; when
    rows are forgotten, what is left weighs less.
    ``typicality`` is None where a model does not know how likely a row is.

    ``posteriors`` are what an evaluation needs of the rows. They are those of this model alone:
    when rows are learned, forgotten or merged, there are none until it is calibrated anew.
    """

    conformity: ConformityScores
    typicality: TypicalityScores | None = None
    posteriors: LeaveOneOutScores | None = None

    def without_posteriors(self) -> KeptScores:
        """The scores for a model of other rows."""
        return replace(self, posteriors=None)

    def for_classes(self, classes: Labels) -> KeptScores:
        """The scores in the order of other classes; those of a class that is gone go with it."""
        if labels.same(self.conformity.classes, classes):
            return self
        typicality = None if self.typicality is None else self.typicality.for_classes(classes)
        return KeptScores(self.conformity.for_classes(classes), typicality)

    def __add__(self, other: KeptScores) -> KeptScores:
        mine, theirs = self.typicality, other.typicality
        both = mine + theirs if mine and theirs else mine or theirs
        return KeptScores(self.conformity + other.conformity, both)

    def __mul__(self, factor: float) -> KeptScores:
        typicality = None if self.typicality is None else self.typicality * factor
        return KeptScores(self.conformity * factor, typicality)


def with_conformity(scores: KeptScores | None, conformity: ConformityScores) -> KeptScores:
    """Scores, if there are any, by which other rows say how classes conform."""
    return KeptScores(conformity) if scores is None else replace(scores, conformity=conformity)


def pool(mine: KeptScores | None, theirs: KeptScores | None) -> KeptScores | None:
    """The scores of two models, either of which may have none."""
    return mine + theirs if mine and theirs else mine or theirs
