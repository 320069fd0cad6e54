"""Calibration: a temperature on the evidence of all columns together.

Naive Bayes counts evidence that columns share as often as they share it, and
so is mostly far too sure. A *discount* ``beta`` is put on the evidence,
not on the prior: ``log P(c | x) = log P(c) + beta * sum_j log P(x_j | c)`` up to
a constant; ``1 / beta`` is the temperature. It is the one under which the
training rows, each judged as if it had never been seen, are likeliest. Mostly it is below 1.
Where columns say more together than one by one, such as the arms and weights of a balance, it is
above 1, and the evidence is enlarged.

The summed loss under every discount of a fixed grid is itself a table that adds
up: models that are merged merge their tables. So do the offsets of classes
(:mod:`deciban.models.class_offsets`), by the rows behind them, and the scores that left-out rows
have under the discount that was selected.

A handful of rows says little about the discount, and a wrong one is dear. So it has a
prior: what tables of so many rows, columns and classes usually need
(:func:`discount_penalty`). From some hundred rows on it no longer matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.kernels import discounts as kernel
from deciban.labels import Labels
from deciban.models.leave_one_out_scores import KeptScores, pool
from deciban.schema import Schema

if TYPE_CHECKING:
    from deciban.models.class_offsets import ClassOffsets

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


class ScoredRows(NamedTuple):
    """Counted rows left out: log prior and log likelihood, (rows, classes), classes and weights."""

    log_prior: FloatArray
    log_likelihood: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray

    def losses(self, discounts: FloatArray) -> FloatArray:
        """The summed loss under each discount; a row costs ``MAX_ROW_LOSS`` at most."""
        prior, evidence = map(np.ascontiguousarray, (self.log_prior, self.log_likelihood))
        return kernel.losses(prior, evidence, self.y, self.weight, discounts, MAX_ROW_LOSS)

    def expected_rows(self, discount: float) -> FloatArray:
        """How many rows are expected to be of each class, and the variance, (2, classes)."""
        prior, evidence = map(np.ascontiguousarray, (self.log_prior, self.log_likelihood))
        return kernel.expected_rows(prior, evidence, self.weight, discount)

    def with_offset(self, offset: FloatArray) -> ScoredRows:
        """The rows with an offset of each class on the log prior."""
        return self._replace(log_prior=self.log_prior + offset)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Summed leave-one-out loss under every discount of the grid, and the rows behind it.

    ``left_out`` are the scores of left-out rows, None where none were kept; ``offsets`` what the
    loss has on the log prior of the classes, None where that is nothing.
    """

    loss: FloatArray
    rows: float
    left_out: KeptScores | None = None
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
        """The table of some rows, given as :class:`ScoredRows` has them."""
        rows = ScoredRows(log_prior, log_likelihood, y, weight)
        return cls(rows.losses(DISCOUNT_GRID), float(weight.sum()))

    @classmethod
    def of_batches(cls, batches: Sequence[ScoredRows]) -> Calibration:
        """The table of all rows of some batches."""
        losses = threads.run(lambda batch: batch.losses(DISCOUNT_GRID), batches)
        rows = sum(float(batch.weight.sum()) for batch in batches)
        return cls(sum(losses, np.zeros(len(DISCOUNT_GRID))), rows)

    def offset(self, classes: Labels) -> FloatArray | None:
        """What is added to the log prior of each class, (classes,); None is nothing."""
        if self.offsets is None or self.rows <= 0:
            return None
        return self.offsets.for_classes(classes) / self.rows

    def discount(self, penalty: FloatArray | float = 0.0) -> float:
        """The discount of least loss and penalty, of equals that nearest to 1.

        ``penalty`` is what each discount costs beforehand, see :func:`discount_penalty`.
        """
        if self.rows <= 0:
            return 1.0
        total = (self.loss + penalty)[_NEAREST_TO_ONE]
        return float(DISCOUNT_GRID[_NEAREST_TO_ONE[int(np.argmin(total))]])

    def with_left_out(self, scores: KeptScores | None) -> Calibration:
        """The calibration with other scores of left-out rows."""
        return replace(self, left_out=scores)

    def for_other_rows(self) -> Calibration:
        """The calibration for a model of other rows, more or fewer."""
        return replace(self, left_out=self.left_out and self.left_out.without_posteriors())

    def __add__(self, other: Calibration) -> Calibration:
        mine, theirs = self.offsets, other.offsets
        both = mine + theirs if mine and theirs else mine or theirs
        left_out = pool(self.left_out, other.left_out)
        return Calibration(self.loss + other.loss, self.rows + other.rows, left_out, both)

    def __mul__(self, factor: float) -> Calibration:
        left_out = None if self.left_out is None else self.left_out * factor
        offsets = None if self.offsets is None else self.offsets * factor
        return Calibration(self.loss * factor, self.rows * factor, left_out, offsets)


class Calibrated:
    """What a model of counts has from its calibration: a discount, and perhaps offsets."""

    schema: Schema
    prior: FloatArray | None
    calibration: Calibration | None

    @property
    def classes(self) -> Labels:
        """The classes, in order."""
        raise NotImplementedError

    @property
    def sizes(self) -> tuple[float, int, int]:
        """How many rows, columns and classes there are."""
        raise NotImplementedError

    @cached_property
    def discount(self) -> float:
        """What the evidence is multiplied by; where texts have selected their scale, 1 at most."""
        if self.calibration is None:
            return 1.0
        penalty = discount_penalty(*self.sizes, enlarge=not self.schema.texts)
        return self.calibration.discount(penalty)

    @property
    def temperature(self) -> float:
        """One over the discount: 1 is the pure model."""
        return 1.0 / self.discount

    @cached_property
    def class_offset(self) -> FloatArray | None:
        """What is added to the log prior of each class; nothing to a stated one."""
        if self.calibration is None or self.prior is not None:
            return None
        return self.calibration.offset(self.classes)

    def joint(self, log_prior: FloatArray, log_likelihood: FloatArray) -> FloatArray:
        """The log joint, calibrated, of a log prior and a log likelihood, (rows, classes)."""
        offset = self.class_offset
        moved = log_prior if offset is None else log_prior + offset
        return discount_evidence(moved, log_likelihood, self.discount)


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
