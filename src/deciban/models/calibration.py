"""Calibration: a temperature on the evidence of all columns together.

Naive Bayes counts evidence that columns share as often as they share it, and
so is mostly far too sure. A *discount* ``beta`` is put on the evidence,
not on the prior: ``log P(c | x) = log P(c) + beta * sum_j log P(x_j | c)`` up to
a constant; ``1 / beta`` is the temperature. It is the one under which the
training rows, each judged as if it had never been seen, are likeliest. Mostly it is below 1.
Where columns say more together than one by one, such as the arms and weights of a balance, it is
above 1, and the evidence is enlarged.

Where left-out rows gain enough by it, each class has an offset beside the prior
(:mod:`deciban.models.class_offsets`).

The summed loss under every discount of a fixed grid is itself a table that adds
up: models that are merged merge their tables. So do the offsets, weighted by rows, and the scores
that left-out rows have under the discount that was selected.

A handful of rows says little about the discount, and a wrong one is dear. So it has a
prior: what tables of so many rows, columns and classes usually need
(:func:`discount_penalty`). From some hundred rows on it no longer matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels
from deciban.models.class_offsets import ClassOffsets, ScoredRows, find_offsets, shift, sum_losses
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.novelty import TypicalityScores

FloatArray = NDArray[np.float64]

#: The discounts that are tried: 92 steps below 1, from 0.01 on, and 28 as large ones above it.
DISCOUNT_GRID = np.exp(np.arange(-92, 29) * (np.log(100.0) / 92))
#: Where the discount 1 is among them: the evidence as it is.
AT_ONE = 92
#: Their places, those nearest to 1 first.
_NEAREST_TO_ONE = np.argsort(np.abs(np.arange(len(DISCOUNT_GRID)) - AT_ONE), kind="stable")
#: The logarithm of the usual discount: of one row of one column and one class, and what the
#: logarithm of the rows, columns and classes adds to it; and how far tables stray from it.
#: Fitted on the discounts that were best for held-out rows of 15 tables, 4 to 128 rows each.
USUAL_LOG_DISCOUNT, BY_ROWS, BY_COLUMNS, BY_CLASSES = -3.1, 0.5, -0.4, 0.5
LOG_DISCOUNT_SD = 0.5
#: Evidence is enlarged only where left-out rows gain more than this, in nats: few tables need it.
MIN_ENLARGING_GAIN = 3.0
#: Classes have offsets only where left-out rows gain more than this, in nats.
MIN_OFFSET_GAIN = 3.0


@dataclass(frozen=True, eq=False)
class LeftOutScores:
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

    def without_posteriors(self) -> LeftOutScores:
        """The scores for a model of other rows."""
        return replace(self, posteriors=None)

    def for_classes(self, classes: Labels) -> LeftOutScores:
        """The scores in the order of other classes; those of a class that is gone go with it."""
        if labels.same(self.conformity.classes, classes):
            return self
        typicality = None if self.typicality is None else self.typicality.for_classes(classes)
        return LeftOutScores(self.conformity.for_classes(classes), typicality)

    def __add__(self, other: LeftOutScores) -> LeftOutScores:
        mine, theirs = self.typicality, other.typicality
        both = mine + theirs if mine and theirs else mine or theirs
        return LeftOutScores(self.conformity + other.conformity, both)

    def __mul__(self, factor: float) -> LeftOutScores:
        typicality = None if self.typicality is None else self.typicality * factor
        return LeftOutScores(self.conformity * factor, typicality)


def with_conformity(scores: LeftOutScores | None, conformity: ConformityScores) -> LeftOutScores:
    """Scores, if there are any, by which other rows say how classes conform."""
    return LeftOutScores(conformity) if scores is None else replace(scores, conformity=conformity)


def pool(mine: LeftOutScores | None, theirs: LeftOutScores | None) -> LeftOutScores | None:
    """The scores of two models, either of which may have none."""
    return mine + theirs if mine and theirs else mine or theirs


@dataclass(frozen=True, eq=False)
class Calibration:
    """Summed leave-one-out loss under every discount of the grid, and the rows behind it.

    ``left_out`` are the scores of left-out rows, None where none were kept; ``offsets`` what was
    added to the log prior of the classes, None where nothing was.
    """

    loss: FloatArray
    rows: float
    left_out: LeftOutScores | None = None
    offsets: ClassOffsets | None = None

    @classmethod
    def empty(cls) -> Calibration:
        """Of no rows: the evidence is not discounted."""
        return cls(np.zeros(len(DISCOUNT_GRID)), 0.0)

    @classmethod
    def of(
        cls,
        log_prior: FloatArray,
        log_likelihood: FloatArray,
        y: NDArray[np.intp],
        weight: FloatArray,
    ) -> Calibration:
        """The table of some rows, from their log prior and log likelihood, (rows, classes)."""
        return cls.of_batches([(log_prior, log_likelihood, y, weight)])

    @classmethod
    def of_batches(cls, batches: Sequence[ScoredRows]) -> Calibration:
        """The table of all rows of some batches, each as :meth:`of` takes them."""
        rows = sum(float(weight.sum()) for *_, weight in batches)
        return cls(sum_losses(batches, DISCOUNT_GRID), rows)

    @classmethod
    def with_offsets(
        cls, rows: Sequence[ScoredRows], classes: Labels, penalty: FloatArray, stands_for: float
    ) -> Calibration:
        """The table of some rows, with offsets of the classes where they gain enough by them.

        Each row stands for ``stands_for`` rows; ``penalty`` is what each discount costs.
        """
        plain = cls.of_batches(rows) * stands_for
        if plain.rows <= 0:
            return plain
        total = plain.loss + penalty
        start = int(np.argmin(total))
        offset, loss = find_offsets(rows, DISCOUNT_GRID, penalty / stands_for, start)
        if total[start] - stands_for * loss <= MIN_OFFSET_GAIN:
            return plain
        shifted = cls.of_batches(shift(rows, offset)) * stands_for
        return replace(shifted, offsets=ClassOffsets(classes, offset * shifted.rows))

    def offset(self, classes: Labels) -> FloatArray:
        """What is added to the log prior of each class, (classes,)."""
        if self.offsets is None or self.rows <= 0:
            return np.zeros(len(classes))
        return self.offsets.for_classes(classes) / self.rows

    def discount(self, penalty: FloatArray | float = 0.0) -> float:
        """The discount of least loss and penalty, of equals that nearest to 1.

        ``penalty`` is what each discount costs beforehand, see :func:`discount_penalty`.
        """
        if self.rows <= 0:
            return 1.0
        total = (self.loss + penalty)[_NEAREST_TO_ONE]
        return float(DISCOUNT_GRID[_NEAREST_TO_ONE[int(np.argmin(total))]])

    def with_left_out(self, scores: LeftOutScores | None) -> Calibration:
        """The calibration with other scores of left-out rows."""
        return replace(self, left_out=scores)

    def for_other_rows(self) -> Calibration:
        """The calibration for a model of other rows, more or fewer."""
        return replace(self, left_out=self.left_out and self.left_out.without_posteriors())

    def __add__(self, other: Calibration) -> Calibration:
        loss, rows = self.loss + other.loss, self.rows + other.rows
        offsets = self.offsets or other.offsets
        if self.offsets and other.offsets:
            offsets = self.offsets + other.offsets
        return Calibration(loss, rows, pool(self.left_out, other.left_out), offsets)

    def __mul__(self, factor: float) -> Calibration:
        left_out = None if self.left_out is None else self.left_out * factor
        offsets = None if self.offsets is None else self.offsets * factor
        return Calibration(self.loss * factor, self.rows * factor, left_out, offsets)


def discount_penalty(
    n_rows: float, n_columns: int, n_classes: int, *, enlarge: bool = True
) -> FloatArray:
    """What each discount of the grid costs before any row is judged, in nats.

    It is the negative logarithm of a log-normal prior around what such tables usually need:
    little trust where rows are few or columns many, since those repeat each other. Discounts that
    enlarge evidence cost ``MIN_ENLARGING_GAIN`` more, and are infinitely dear unless ``enlarge``.

    >>> few, many = discount_penalty(4, 10, 2), discount_penalty(10_000, 10, 2)
    >>> DISCOUNT_GRID[[few.argmin(), many.argmin()]].round(2)
    array([0.05, 1.  ])
    """
    usual = np.log(usual_discount(n_rows, n_columns, n_classes))
    penalty: FloatArray = ((np.log(DISCOUNT_GRID) - usual) / LOG_DISCOUNT_SD) ** 2 / 2
    penalty[AT_ONE + 1 :] += MIN_ENLARGING_GAIN if enlarge else np.inf
    return penalty


def usual_discount(n_rows: float, n_columns: int, n_classes: int) -> float:
    """The discount that tables of so many rows, columns and classes usually need.

    >>> round(usual_discount(4, 10, 2), 2), round(usual_discount(10_000, 10, 2), 2)
    (0.05, 1.0)
    """
    sizes = np.log(np.maximum([n_rows, n_columns, n_classes], 1.0))
    usual = float(USUAL_LOG_DISCOUNT + sizes @ [BY_ROWS, BY_COLUMNS, BY_CLASSES])
    return float(np.exp(min(usual, 0.0)))


def discount_evidence(
    log_prior: FloatArray, log_likelihood: FloatArray, discount: float
) -> FloatArray:
    """``log_prior + discount * log_likelihood``; what is impossible stays so."""
    with np.errstate(invalid="ignore"):
        joint = log_prior + discount * log_likelihood
    joint[np.isnan(joint)] = -np.inf
    return joint
