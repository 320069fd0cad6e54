"""Bell curves that follow rows as they are learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deciban.stats.moments import MeanAndSpread, exact_sums
from deciban.stats.running import Dyadic, RunningMoments, exact_numbers
from deciban.stats.statistic import FloatArray, Sums

if TYPE_CHECKING:
    from deciban.families.gaussian import GaussianParameters

__all__ = ["LiveBells"]


class LiveBells:
    """The exact moments of some columns in each class and in all of them, (classes, columns)."""

    def __init__(self, parameters: GaussianParameters) -> None:
        self.parameters = parameters
        self.classes = _running(parameters.classes.exact)
        self.whole = _running(parameters.whole.exact)
        self._estimate: GaussianParameters | None = None

    def learn(self, X: FloatArray, own: int, weight: float) -> None:
        """Count the numbers of one row."""
        times = Dyadic.of(weight)
        for x, mine, of_all in zip(X[0].tolist(), self.classes[own], self.whole[0], strict=True):
            if x == x:
                number = Dyadic.of(x)
                mine.add(number, times)
                of_all.add(number, times)
        self._estimate = None

    def decay(self, factor: float) -> None:
        """Scale the sums."""
        share = Dyadic.of(factor)
        for line in (*self.classes, *self.whole):
            for moments in line:
                moments.decay(share)
        self._estimate = None

    def add(self, X: FloatArray, out: FloatArray) -> None:
        """Add the log density of every row; a missing value adds nothing."""
        if self._estimate is None:
            moments = _floats(self.classes), _floats(self.whole)
            self._estimate = self.parameters.with_moments(*moments)
        self._estimate.add(X, out)


def _running(sums: Sums) -> list[list[RunningMoments]]:
    parts = [exact_numbers(part) for part in exact_sums(sums)]
    return [
        [RunningMoments(*three) for three in zip(*lines, strict=True)]
        for lines in zip(*parts, strict=True)
    ]


def _floats(lines: list[list[RunningMoments]]) -> MeanAndSpread:
    each = np.array([[moments.mean_and_spread() for moments in line] for line in lines])
    return MeanAndSpread(*np.moveaxis(each.reshape(len(lines), -1, 3), 2, 0))
