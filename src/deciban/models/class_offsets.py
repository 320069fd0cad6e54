"""Class offsets: what is added to the log prior, so that classes come as often as is said.

Columns that repeat each other may do so for one class more than for another, and a discount on all
evidence does not mend that: the class is named too often. So each class has an *offset*. It is
found by iterative scaling: a class that left-out rows are expected to have ten times, and that
twenty of them have, gains ``log 2``; and again, with what is expected then. A few rounds go most
of the way and leave classes of few rows near where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.kernels import discounts as kernel
from deciban.labels import Labels
from deciban.models import scores

FloatArray = NDArray[np.float64]
#: Log prior and log likelihood of left-out rows, (rows, classes), their classes and weights.
ScoredRows = tuple[FloatArray, FloatArray, NDArray[np.intp], FloatArray]

#: How often the rows that are expected of each class are brought nearer to those that there are.
SCALING_ROUNDS = 10
#: Rows of every class, expected and seen, before any is judged: few rows move an offset little.
ROWS_BEFORE = 1.0
#: How many discounts to each side are tried when offsets have changed.
NEARBY_DISCOUNTS = 2
#: Offsets are whole multiples of this, in nats, whatever order rows are added up in.
OFFSET_UNIT = 1 / 256


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


def add_offset(log_prior: FloatArray, offset: FloatArray) -> FloatArray:
    """Log priors, (classes,) or (rows, classes), with offsets of the classes; they sum to one.

    >>> np.exp(add_offset(np.log([0.5, 0.5]), np.log([1.0, 3.0]))).round(9)
    array([0.25, 0.75])
    """
    if not offset.any():
        return log_prior
    moved = log_prior + offset
    return np.asarray(moved - np.logaddexp.reduce(moved, axis=-1, keepdims=True))


def find_offsets(
    rows: Sequence[ScoredRows], discounts: FloatArray, penalty: FloatArray, start: int
) -> tuple[FloatArray, float]:
    """The offset of each class, (classes,), and the loss with the best discount near the start.

    ``penalty`` is what each discount costs beforehand, ``start`` the position of the best one
    without offsets.
    """
    n_classes = rows[0][1].shape[1]
    seen = sum((np.bincount(y, w, n_classes) for *_, y, w in rows), np.zeros(n_classes))
    before, offset, at, loss = np.log(seen + ROWS_BEFORE), np.zeros(n_classes), start, np.inf
    for _ in range(SCALING_ROUNDS):
        expected = _expected_rows(rows, offset, float(discounts[at]), before)
        step = before - np.log(expected + ROWS_BEFORE)
        if np.abs(step).max() < OFFSET_UNIT and np.isfinite(loss):
            break
        offset = OFFSET_UNIT * np.round((offset + step) / OFFSET_UNIT)
        near = slice(max(at - NEARBY_DISCOUNTS, 0), at + NEARBY_DISCOUNTS + 1)
        losses = sum_losses(shift(rows, offset), discounts[near]) + penalty[near]
        at, loss = near.start + int(np.argmin(losses)), float(losses.min())
    return offset, loss


def shift(rows: Sequence[ScoredRows], offset: FloatArray) -> list[ScoredRows]:
    """Rows whose log prior has the offsets added to it."""
    return [(prior + offset, log, y, weight) for prior, log, y, weight in rows]


def sum_losses(rows: Sequence[ScoredRows], discounts: FloatArray) -> FloatArray:
    """The summed log loss of rows under each discount; one costs ``MAX_ROW_LOSS`` at most."""

    def work(part: ScoredRows) -> FloatArray:
        prior, log, y, weight = part
        contiguous = np.ascontiguousarray(prior), np.ascontiguousarray(log)
        return kernel.losses(*contiguous, y, weight, discounts, MAX_ROW_LOSS)

    return np.asarray(sum(threads.run(work, rows), np.zeros(len(discounts))))


def _expected_rows(
    rows: Sequence[ScoredRows], offset: FloatArray, discount: float, prior: FloatArray
) -> FloatArray:
    """How many rows are expected to be of each class; of an impossible one, the prior says it."""
    unlikely = prior - np.logaddexp.reduce(prior)

    def work(part: ScoredRows) -> FloatArray:
        log_prior, log_likelihood, _, weight = part
        joint = np.array(log_likelihood, order="C")
        scores.weigh(joint, np.zeros(len(offset)), discount)
        joint += log_prior + offset
        scores.normalise(joint, unlikely)
        return np.asarray(weight @ joint)

    return np.asarray(sum(threads.run(work, rows), np.zeros(len(offset))))
