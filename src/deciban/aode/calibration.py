"""Calibration of AODE: its strength and its temperature, as asked for or by leave-one-out loss.

Two numbers: the strength ``m``, how many rows a column's own shares are worth
beside those of a parent, and the discount of :mod:`deciban.models.calibration`, one
over the temperature. Both are those under which the training rows, each left
out of the counts, are likeliest. The summed losses under every pair of them are
a table that adds up over rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import checks, threads
from deciban.errors import ParameterError
from deciban.models.calibration import AT_ONE, DISCOUNT_GRID, Calibration
from deciban.models.leave_one_out_scores import KeptScores, pool

FloatArray = NDArray[np.float64]

#: The strengths that are tried, in rows.
STRENGTHS_IN_ROWS = (0.3, 1.0, 3.0, 10.0, 30.0)
#: The strength where none was tried, in rows.
DEFAULT_STRENGTH_IN_ROWS = 3.0


@dataclass(frozen=True)
class AODEOptions:
    """What the user asks for.

    ``smoothing`` is ``m``, how many rows the shares of a column are worth beside
    those of a parent, and smooths the shares as well; None leaves both to the
    data. A value is a parent from a weight of ``min_support`` on. ``calibrate`` is
    whether the evidence is discounted.
    """

    smoothing: float | None = None
    missing: str = "auto"
    min_support: float = 0.0
    calibrate: bool = True

    @classmethod
    def of(
        cls,
        smoothing: float | str = "auto",
        missing: str = "auto",
        support: float = 0.0,
        calibrate: bool = True,
    ) -> AODEOptions:
        """The options that the parameters of an estimator state, checked."""
        strength = None
        if not (isinstance(smoothing, str) and smoothing == "auto"):
            if not (checks.is_number(smoothing) and 1e-6 <= float(smoothing) <= 1e6):
                raise ParameterError(
                    f'smoothing must be a number from 1e-6 to 1e6 or "auto", got {smoothing!r}.',
                    hint="1 is what Weka takes; without any, most pairs of values are impossible",
                )
            strength = float(smoothing)
        checks.one_of("missing", missing, "auto", "skip", "value")
        hint = "30 is what the authors of AODE took, 0 lets every value be a parent"
        return cls(strength, missing, checks.number("support", support, hint), calibrate)

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths ``m`` among which calibration selects."""
        return STRENGTHS_IN_ROWS if self.smoothing is None else (self.smoothing,)


class LeftOutRows(NamedTuple):
    """Counted rows, each left out of the counts, under every strength.

    ``log_prior`` is (rows, classes), ``log_likelihood`` (strengths, rows, classes); ``size`` is
    how many values each row has.
    """

    strengths: tuple[float, ...]
    log_prior: FloatArray
    log_likelihood: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    size: FloatArray


@dataclass(frozen=True, eq=False)
class StrengthCalibration:
    """Summed leave-one-out loss, (strengths, discounts), and the rows behind it.

    ``left_out`` are the scores of left-out rows, None where none were kept.
    """

    strengths: tuple[float, ...]
    loss: FloatArray
    rows: float
    left_out: KeptScores | None = None

    @classmethod
    def of(cls, rows: LeftOutRows) -> StrengthCalibration:
        """The table of some rows."""

        def work(log_likelihood: FloatArray) -> FloatArray:
            return Calibration.of(rows.log_prior, log_likelihood, rows.y, rows.weight).loss

        loss = np.array(list(threads.run(work, rows.log_likelihood)))
        return cls(rows.strengths, loss, float(rows.weight.sum()))

    @classmethod
    def empty(cls, strengths: tuple[float, ...]) -> StrengthCalibration:
        """Of no rows: the middle strength, and no discount."""
        return cls(strengths, np.zeros((len(strengths), len(DISCOUNT_GRID))), 0.0)

    def best_strength(self, penalty: FloatArray | None) -> float:
        """The strength of least loss: under its best discount, given the penalty of each.

        None is without a discount.
        """
        if self.rows <= 0:
            return self.strengths[len(self.strengths) // 2]
        loss = self.loss[:, AT_ONE] if penalty is None else (self.loss + penalty).min(axis=1)
        return self.strengths[int(np.argmin(loss))]

    def at(self, strength: float) -> Calibration:
        """The calibration under one of the strengths."""
        return Calibration(self.loss[self.strengths.index(strength)], self.rows)

    def __add__(self, other: StrengthCalibration) -> StrengthCalibration:
        """The losses of both; where the other tried other strengths, those of the first."""
        left_out = pool(self.left_out, other.left_out)
        if self.strengths != other.strengths:
            return self.with_left_out(left_out)
        rows = self.rows + other.rows
        return StrengthCalibration(self.strengths, self.loss + other.loss, rows, left_out)

    def __mul__(self, factor: float) -> StrengthCalibration:
        left_out = None if self.left_out is None else self.left_out * factor
        return StrengthCalibration(self.strengths, self.loss * factor, self.rows * factor, left_out)

    def with_left_out(self, scores: KeptScores | None) -> StrengthCalibration:
        """The calibration with other scores of left-out rows."""
        return replace(self, left_out=scores)

    def for_other_rows(self) -> StrengthCalibration:
        """The calibration for a model of other rows, more or fewer."""
        return replace(self, left_out=self.left_out and self.left_out.without_posteriors())
