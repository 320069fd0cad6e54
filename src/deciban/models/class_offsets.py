"""Offsets of classes: what is added to their log priors beside a temperature on all evidence.

Columns may repeat each other for one class more than for another, and a temperature on all
evidence does not mend that: one class is named too often. So each class has an *offset*, added to
its log prior, where left-out rows gain enough by it (:func:`find_offset`). Offsets of models that
are merged add up by the rows behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.labels import Labels
from deciban.models.calibration import DISCOUNT_GRID, Calibration, ScoredRows, discount_penalty

FloatArray = NDArray[np.float64]

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


def calibrate(
    batches: Sequence[ScoredRows],
    classes: Labels,
    sizes: tuple[float, int, int],
    stands_for: float,
) -> Calibration:
    """The calibration of all rows of some batches, with offsets of the classes where rows gain.

    ``sizes`` are those of the table, see :func:`discount_penalty`; each row stands for so many.
    The first batches choose the offsets.
    """
    first, rest = batches[:OFFSET_BATCHES], batches[OFFSET_BATCHES:]
    some = Calibration.of_batches(first)
    if some.rows <= 0:
        return some
    share = some.rows / (stands_for * sum(float(batch.weight.sum()) for batch in batches))
    offset = find_offset(first, some.loss, discount_penalty(*sizes) * share)
    if offset is None:
        return (some + Calibration.of_batches(rest) if rest else some) * stands_for
    moved = Calibration.of_batches([batch.with_offset(offset) for batch in batches]) * stands_for
    return replace(moved, offsets=ClassOffsets(classes, offset * moved.rows))


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
