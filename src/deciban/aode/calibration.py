"""Calibration of AODE: its strength and its temperature, by leave-one-out loss.

Two numbers: the strength ``m``, how many rows a column's own shares are worth
beside those of a parent, and the discount of :mod:`deciban.models.calibration`, one
over the temperature. Both are those under which the training rows, each left
out of the counts, are likeliest. The summed losses under every pair of them are
a table that adds up over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.models.calibration import DISCOUNT_GRID, Calibration

FloatArray = NDArray[np.float64]

#: The strengths that are tried, in rows.
STRENGTHS_IN_ROWS = (0.3, 1.0, 3.0, 10.0, 30.0)
#: The strength where none was tried, in rows.
DEFAULT_STRENGTH_IN_ROWS = 3.0


@dataclass(frozen=True, eq=False)
class StrengthCalibration:
    """Summed leave-one-out loss, (strengths, discounts), and the rows behind it."""

    strengths: tuple[float, ...]
    loss: FloatArray
    rows: float

    @classmethod
    def of(cls, strengths: tuple[float, ...], each: list[Calibration]) -> StrengthCalibration:
        """The table of one calibration for each strength."""
        loss = np.array([calibration.loss for calibration in each])
        return cls(strengths, loss.reshape(len(strengths), len(DISCOUNT_GRID)), each[0].rows)

    def best_strength(self, *, discounted: bool) -> float:
        """The strength of least loss, under its best discount or without a discount."""
        if self.rows <= 0:
            return self.strengths[len(self.strengths) // 2]
        loss = self.loss.min(axis=1) if discounted else self.loss[:, -1]
        return self.strengths[int(np.argmin(loss))]

    def at(self, strength: float) -> Calibration:
        """The calibration under one of the strengths."""
        return Calibration(self.loss[self.strengths.index(strength)], self.rows)

    def __add__(self, other: StrengthCalibration) -> StrengthCalibration:
        """The losses of both; where the other tried other strengths, those of the first."""
        if self.strengths != other.strengths:
            return self
        return StrengthCalibration(self.strengths, self.loss + other.loss, self.rows + other.rows)

    def __mul__(self, factor: float) -> StrengthCalibration:
        return StrengthCalibration(self.strengths, self.loss * factor, self.rows * factor)
