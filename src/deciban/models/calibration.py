"""Calibration: a temperature on the evidence of all columns together.

Naive Bayes counts evidence that columns share as often as they share it, and
so is far too sure. A *discount* ``beta`` between 0 and 1 is put on the evidence,
not on the prior: ``log P(c | x) = log P(c) + beta * sum_j log P(x_j | c)`` up to
a constant; ``1 / beta`` is the temperature. It is the one under which the
training rows, each judged as if it had never been seen, are likeliest.

The summed loss under every discount of a fixed grid is itself a table that adds
up: models that are merged merge their tables. So do the scores that left-out rows
have under the discount that was selected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.families.discrete import MAX_ROW_LOSS
from deciban.kernels import discounts as kernel
from deciban.models.left_out import LeftOutScores, pool

FloatArray = NDArray[np.float64]

#: The discounts that are tried.
DISCOUNT_GRID = np.exp(np.linspace(np.log(0.01), 0.0, 93))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Summed leave-one-out loss under every discount of the grid, and the rows behind it.

    ``left_out`` are the scores of left-out rows, None where none were kept.
    """

    loss: FloatArray
    rows: float
    left_out: LeftOutScores | None = None

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
        prior, evidence = np.ascontiguousarray(log_prior), np.ascontiguousarray(log_likelihood)
        loss = kernel.losses(prior, evidence, y, weight, DISCOUNT_GRID, MAX_ROW_LOSS)
        return cls(loss, float(weight.sum()))

    @cached_property
    def discount(self) -> float:
        """The discount of least loss, the largest of equals; 1 where nothing is known."""
        if self.rows <= 0:
            return 1.0
        last = len(DISCOUNT_GRID) - 1
        return float(DISCOUNT_GRID[last - int(np.argmin(self.loss[::-1]))])

    def with_left_out(self, scores: LeftOutScores | None) -> Calibration:
        """The calibration with other scores of left-out rows."""
        return replace(self, left_out=scores)

    def __add__(self, other: Calibration) -> Calibration:
        left_out = pool(self.left_out, other.left_out)
        return Calibration(self.loss + other.loss, self.rows + other.rows, left_out)

    def __mul__(self, factor: float) -> Calibration:
        left_out = None if self.left_out is None else self.left_out * factor
        return Calibration(self.loss * factor, self.rows * factor, left_out)


def discount_evidence(
    log_prior: FloatArray, log_likelihood: FloatArray, discount: float
) -> FloatArray:
    """``log_prior + discount * log_likelihood``; what is impossible stays so."""
    with np.errstate(invalid="ignore"):
        joint = log_prior + discount * log_likelihood
    joint[np.isnan(joint)] = -np.inf
    return joint
