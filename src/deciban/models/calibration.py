"""Calibration: a temperature on the evidence of all columns together.

Naive Bayes counts evidence that columns share as often as they share it, and
so is mostly far too sure. A *discount* ``beta`` is put on the evidence,
not on the prior: ``log P(c | x) = log P(c) + beta * sum_j log P(x_j | c)`` up to
a constant; ``1 / beta`` is the temperature. It is the one under which the
training rows, each judged as if it had never been seen, are likeliest. Mostly it is below 1.
Where columns say more together than one by one, such as the arms and weights of a balance, it is
above 1, and the evidence is enlarged.

Columns may repeat each other for one class more than for another, and a discount on all evidence
does not mend that: one class is named too often. So each class has an *offset*, added to its log
prior, where left-out rows gain enough by it (:func:`find_offset`).

The summed loss under every discount of a fixed grid is itself a table that adds
up: models that are merged merge their tables. So do the offsets, by the rows behind them, and the
scores that left-out rows have under the discount that was selected.

A handful of rows says little about the discount, and a wrong one is dear. So it has a
prior: what tables of so many rows, columns and classes usually need
(:func:`discount_penalty`). From some hundred rows on it no longer matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.kernels import discounts as kernel
from deciban.labels import Labels
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import LeaveOneOutScores
from deciban.models.novelty import TypicalityScores
from deciban.schema import Schema

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
#: How far the offsets of classes stray from 0, in nats, and what left-out rows must gain by them.
#: Chosen on every second table of 46, and on 16, 64 and 256 rows of every second of 53.
OFFSET_SD, MIN_OFFSET_GAIN = 0.5, 1.0
#: Offsets are found on no more batches of rows than this, in no more rounds; a round that would
#: gain less than this, in nats, is the last.
OFFSET_BATCHES, OFFSET_ROUNDS, MIN_ROUND_GAIN = 2, 20, 0.1
#: In one round, an offset moves by this at most, and the discount by so many places of the grid.
MAX_OFFSET_STEP, DISCOUNTS_BESIDE = 1.0, 2
#: So none is larger than this, in nats.
MAX_OFFSET = OFFSET_ROUNDS * MAX_OFFSET_STEP
#: Offsets are whole multiples of this, in nats, in whatever order rows are added up.
OFFSET_UNIT = 1 / 256


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
class ClassOffsets:
    """What is added to the log prior of each class, times the rows behind it: so it adds up.

    >>> some = ClassOffsets(np.array(["a", "b"]), np.array([4.0, -2.0]))
    >>> (some + some * 0.5).for_classes(np.array(["b", "c"]))
    array([-3.,  0.])
    """

    classes: Labels
    amount: FloatArray

    def for_classes(self, classes: Labels) -> FloatArray:
        """The amounts of other classes; nothing is added for one that is new."""
        return np.append(self.amount, 0.0)[labels.positions(classes, self.classes)]

    def __add__(self, other: ClassOffsets) -> ClassOffsets:
        classes = labels.union(self.classes, other.classes)
        return ClassOffsets(classes, self.for_classes(classes) + other.for_classes(classes))

    def __mul__(self, factor: float) -> ClassOffsets:
        return ClassOffsets(self.classes, self.amount * factor)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Summed leave-one-out loss under every discount of the grid, and the rows behind it.

    ``left_out`` are the scores of left-out rows, None where none were kept; ``offsets`` what the
    loss has on the log prior of the classes, None where that is nothing.
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
        """The table of some rows, given as :class:`ScoredRows` has them."""
        rows = ScoredRows(log_prior, log_likelihood, y, weight)
        return cls(rows.losses(DISCOUNT_GRID), float(weight.sum()))

    @classmethod
    def of_batches(cls, batches: Iterable[ScoredRows]) -> Calibration:
        """The table of all rows of some batches."""
        return sum(threads.run(lambda batch: cls.of(*batch), batches), cls.empty())

    @classmethod
    def with_offsets(
        cls,
        batches: Sequence[ScoredRows],
        classes: Labels,
        sizes: tuple[float, int, int],
        stands_for: float,
    ) -> Calibration:
        """The table of all rows of some batches, with offsets of the classes where rows gain.

        ``sizes`` are those of the table, see :func:`discount_penalty`; each row stands for so many.
        The first batches choose the offsets.
        """
        first, rest = batches[:OFFSET_BATCHES], batches[OFFSET_BATCHES:]
        some = cls.of_batches(first)
        if some.rows <= 0:
            return some
        share = some.rows / (stands_for * sum(float(batch.weight.sum()) for batch in batches))
        offset = find_offset(first, some.loss, discount_penalty(*sizes) * share)
        if offset is None:
            return (some + cls.of_batches(rest) if rest else some) * stands_for
        moved = cls.of_batches([batch.with_offset(offset) for batch in batches]) * stands_for
        return replace(moved, offsets=ClassOffsets(classes, offset * moved.rows))

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

    def with_left_out(self, scores: LeftOutScores | None) -> Calibration:
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


def find_offset(
    rows: Sequence[ScoredRows], loss: FloatArray, penalty: FloatArray
) -> FloatArray | None:
    """The offset of each class, (classes,), under which rows are likeliest; None without a gain.

    ``loss`` is that of the rows under every discount without offsets, and ``penalty`` what each
    discount costs beforehand; offsets have a normal prior around 0. A round is a step of Newton's
    method for the offsets, then some places for the discount. Twice the variances stand for the
    Hessian, which is never more than that, and just that for two classes: no step goes too far. A
    class without rows has the offset 0.
    """
    n_classes = rows[0].log_prior.shape[1]
    seen = _sum(np.bincount(part.y, part.weight, n_classes).astype(float) for part in rows)
    at, precision, offset = int(np.argmin(loss + penalty)), 1 / OFFSET_SD**2, np.zeros(len(seen))
    least = before = float(loss[at] + penalty[at])
    moved = list(rows)
    for _ in range(OFFSET_ROUNDS):
        expected, variance = _sum(part.expected_rows(float(DISCOUNT_GRID[at])) for part in moved)
        slope = np.where(seen > 0, seen - expected, 0.0) - precision * offset
        step = np.clip(slope / (2 * variance + precision), -MAX_OFFSET_STEP, MAX_OFFSET_STEP)
        if slope @ step < 2 * MIN_ROUND_GAIN:
            break
        offset = OFFSET_UNIT * np.round((offset + step) / OFFSET_UNIT)
        moved = [part.with_offset(offset) for part in rows]
        near = slice(max(at - DISCOUNTS_BESIDE, 0), at + DISCOUNTS_BESIDE + 1)
        total = penalty[near] + _sum(part.losses(DISCOUNT_GRID[near]) for part in moved)
        at, least = near.start + int(np.argmin(total)), float(total.min())
    least += precision * float(offset @ offset) / 2
    return offset if before - least > MIN_OFFSET_GAIN else None


def _sum(parts: Iterable[FloatArray]) -> FloatArray:
    return np.asarray(sum(parts))


def add_offset(log_prior: FloatArray, offset: FloatArray | None) -> FloatArray:
    """Log priors, (classes,), with offsets of the classes; they sum to one.

    >>> np.exp(add_offset(np.log([0.5, 0.5]), np.log([1.0, 3.0]))).round(9)
    array([0.25, 0.75])
    """
    if offset is None:
        return log_prior
    moved = log_prior + offset
    return np.asarray(moved - np.logaddexp.reduce(moved))


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
