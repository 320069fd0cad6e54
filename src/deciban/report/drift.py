"""Drift: columns whose values come in other shares than in training.

The population stability index of a column is ``sum (p - q) ln(p / q)`` over its
cells, with p the share in training and q the share now. By habit, less than 0.1
is no change to speak of, and more than 0.25 a different population. Even without
any change it is not zero: about ``(1/n + 1/m)`` times a chi-squared variable
with one degree of freedom less than there are cells. What chance alone would
give is not called drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.report.distributions import ColumnDistribution

#: The stability index above which a column has moved, and has moved far.
MOVED_INDEX, FAR_INDEX = 0.1, 0.25
#: What chance exceeds less often than this is not chance.
CHANCE_LEVEL = 0.001


@dataclass(frozen=True)
class Drift:
    """How far a column has moved, and the cell that moved most: its shares before and now."""

    column: str
    index: float
    by_chance: float
    cell: str
    before: float
    now: float

    @property
    def verdict(self) -> str:
        """In words."""
        if self.index <= max(self.by_chance, MOVED_INDEX):
            return "the same"
        return "moved" if self.index <= FAR_INDEX else "moved far"


def drifts(columns: Sequence[ColumnDistribution]) -> list[Drift]:
    """All columns, those that moved most first."""
    moved = [_drift(column) for column in columns if column.before.sum() and column.now.sum()]
    return sorted(moved, key=lambda drift: (-drift.index, drift.column))


def _drift(column: ColumnDistribution) -> Drift:
    """Half a row more in every cell keeps the logarithm finite.

    >>> before, now = np.array([50.0, 50.0]), np.array([90.0, 10.0])
    >>> _drift(ColumnDistribution("x", ("a", "b"), before, now)).verdict
    'moved far'
    """
    from scipy.stats import chi2

    some = (column.before > 0) | (column.now > 0)
    names = [name for name, there in zip(column.cells, some.tolist(), strict=True) if there]
    before, now = column.before[some], column.now[some]
    p, q = ((side + 0.5) / (side + 0.5).sum() for side in (before, now))
    terms = (p - q) * np.log(p / q)
    least = 1.0 / before.sum() + 1.0 / now.sum()
    chance = least * float(chi2.ppf(1.0 - CHANCE_LEVEL, len(p) - 1)) if len(p) > 1 else 0.0
    most = int(terms.argmax())
    return Drift(
        column.name,
        float(terms.sum()),
        chance,
        names[most],
        float(before[most] / before.sum()),
        float(now[most] / now.sum()),
    )
