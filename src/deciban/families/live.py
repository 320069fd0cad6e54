"""Parameters that follow rows as they are learned, one after the other.

What was chosen stays: families, smoothing, bins. Estimated anew is only what a row touches, so
that learning a row and scoring one cost no more than the row is long.

Conventions
-----------
- ``learn`` takes one row, (1, columns), its class and its weight; ``decay`` multiplies the weight
  of all rows before. ``add`` scores rows as :class:`~deciban.families.protocol.Parameters` do, and
  as the family would if it were estimated from all rows learned: to rounding.
- They are the only objects here that change. Whoever shares them between threads locks them.
- Parameters that can be followed have a method ``live``. A family without one is followed
  by its statistic where its cells are the columns (:class:`LiveTable`); what cannot be followed
  at all is estimated anew from the counts.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from deciban.families.protocol import Family, Parameters
from deciban.families.settings import Settings
from deciban.stats.statistic import FloatArray, Matrix
from deciban.stats.table import Table

__all__ = ["Live", "LiveTable", "follow", "keep_choices"]


class Live(Protocol):
    """The likelihood of some columns, which learns."""

    def learn(self, X: Matrix, own: int, weight: float) -> None:
        """Count one row of the class ``own``."""

    def decay(self, factor: float) -> None:
        """Multiply the weight of all rows so far."""

    def add(self, X: Matrix, out: FloatArray) -> None:
        """Add the log likelihood of every row under each class to ``out``, (rows, classes)."""


@runtime_checkable
class CanLive(Protocol):
    """Parameters that can be followed."""

    def live(self) -> Live | None:
        """A likelihood that learns from here on; None where these settings cannot be followed."""


@runtime_checkable
class KeepsChoices(Protocol):
    """Parameters of which some were chosen by the counts, such as bins."""

    def keep_choices(self, settings: Settings) -> Settings:
        """Settings under which more rows are estimated with what was chosen."""


def keep_choices(parameters: Parameters, settings: Settings) -> Settings:
    """Settings under which more rows are estimated without choosing anew."""
    return parameters.keep_choices(settings) if isinstance(parameters, KeepsChoices) else settings


def follow(family: Family, table: Table, settings: Settings, parameters: Parameters) -> Live | None:
    """The likelihood of a table's columns, which learns; None where it cannot."""
    if isinstance(parameters, CanLive):
        return parameters.live()
    return LiveTable(family, table, settings) if table.cells.values is None else None


class LiveTable:
    """Any family whose statistic has one cell a column, such as moments: its table grows."""

    def __init__(self, family: Family, table: Table, settings: Settings) -> None:
        self.family, self.table, self.settings = family, table, settings
        self._parameters: Parameters | None = None

    def learn(self, X: Matrix, own: int, weight: float) -> None:
        """Add the sums of one row."""
        table, K = self.table, len(self.table.rows)
        y, weights = np.array([own], dtype=np.intp), np.array([weight])
        sums = table.statistic.count(X, y, K, weights, table.cells)
        rows = np.zeros(K)
        rows[own] = weight
        self.table = table + Table(table.statistic, table.cells, rows, sums)
        self._parameters = None

    def decay(self, factor: float) -> None:
        """Scale the sums."""
        self.table, self._parameters = self.table * factor, None

    def add(self, X: Matrix, out: FloatArray) -> None:
        """Estimate what changed, and score."""
        if self._parameters is None:
            self._parameters = self.family.estimate(self.table, self.settings)
        self._parameters.add(X, out)
