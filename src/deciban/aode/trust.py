"""How far pairs of values, and all evidence together, are to be believed.

Two numbers: ``m``, how many rows a column's own shares are worth beside those
of a parent, and the discount of :mod:`deciban.models.calibration`. Both are those
under which the training rows, each judged as if it had never been seen, are
likeliest. The summed losses under every pair of them are a table that adds up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.models.calibration import DISCOUNT_GRID, Calibration

FloatArray = NDArray[np.float64]

#: The strengths that are tried.
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)
#: The strength where nothing was tried.
STRENGTH = 3.0


@dataclass(frozen=True, eq=False)
class Trust:
    """Summed leave-one-out loss, (strengths, discounts), and the rows behind it."""

    strengths: tuple[float, ...]
    loss: FloatArray
    rows: float

    @classmethod
    def of(cls, strengths: tuple[float, ...], found: list[Calibration]) -> Trust:
        """The table of a calibration for each strength."""
        loss = np.array([part.loss for part in found]).reshape(len(strengths), len(DISCOUNT_GRID))
        return cls(strengths, loss, found[0].rows)

    def m(self, *, discounted: bool) -> float:
        """The strength of least loss; without a discount, that of the pure model."""
        if self.rows <= 0:
            return self.strengths[len(self.strengths) // 2]
        loss = self.loss.min(axis=1) if discounted else self.loss[:, -1]
        return self.strengths[int(np.argmin(loss))]

    def calibration(self, m: float) -> Calibration:
        """The calibration under one of the strengths."""
        return Calibration(self.loss[self.strengths.index(m)], self.rows)

    def __add__(self, other: Trust) -> Trust:
        """Of both; where other strengths were tried, the first."""
        if self.strengths != other.strengths:
            return self
        return Trust(self.strengths, self.loss + other.loss, self.rows + other.rows)

    def __mul__(self, factor: float) -> Trust:
        return Trust(self.strengths, self.loss * factor, self.rows * factor)
