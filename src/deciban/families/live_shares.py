"""Log shares of categories and bins that follow rows as they are learned.

``log P(x_j = a | c) = log(N_caj + lam_j) - log(N_cj + S_j lam_j)``: the counts of a row's values
and of its class change with it, and the logarithms are taken of what is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import histogram as kernel
from deciban.kernels.categorical import sum_columns
from deciban.kernels.discrete import log_unseen_shares, seen_once
from deciban.stats.categories import count_of
from deciban.stats.statistic import FloatArray

if TYPE_CHECKING:
    from deciban.families.categorical import CategoricalParameters

Coded = NDArray[np.int64]
#: A column has room for this many values that are not known yet, and for as many as it has.
SPARE_CELLS = 4


class LiveShares:
    """Counts of the values of some columns by class, which grow.

    Column j has the lines ``start[j] ... start[j] + n_values[j]`` of ``count``, (cells, classes).
    """

    def __init__(self, parameters: CategoricalParameters) -> None:
        table = parameters.table
        self.lam, self.sizes = parameters.pseudo_counts, parameters.sizes
        self.unseen = parameters.unseen
        self.n_values = np.diff(table.cells.offsets).astype(np.int64)
        self.total = np.ascontiguousarray(sum_columns(count_of(table), table.cells.offsets).T)
        self._lay_out(count_of(table).T, table.cells.offsets[:-1])
        self.some_empty = bool((count_of(table).sum(axis=0) <= 0).any())
        self._log_total: FloatArray | None = None

    def _lay_out(self, count: FloatArray, start: NDArray[np.intp]) -> None:
        """Give every column its lines and as many to spare."""
        room = 2 * self.n_values + SPARE_CELLS
        ends = np.cumsum(room)
        out = np.zeros((int(ends[-1]) if len(ends) else 0, self.total.shape[1]))
        for j, (first, size) in enumerate(zip(start.tolist(), self.n_values.tolist(), strict=True)):
            out[ends[j] - room[j] : ends[j] - room[j] + size] = count[first : first + size]
        self.count, self.start, self.room = out, (ends - room).astype(np.int64), room

    def learn(self, X: Coded, own: int, weight: float) -> None:
        """Count the values of one row; the first code beyond those of a column is a new value."""
        codes = X[0]
        new = codes >= self.n_values
        if new.any():
            self.n_values = self.n_values + new
            if (self.n_values > self.room).any():
                self._lay_out(self.count, self.start)
        known = codes >= 0
        if known.all():
            self.count[self.start + codes, own] += weight
            self.total[:, own] += weight
        else:
            self.count[(self.start + codes)[known], own] += weight
            self.total[known, own] += weight
        self._log_total = None

    def decay(self, factor: float) -> None:
        """Scale all counts."""
        self.count *= factor
        self.total *= factor
        self._log_total = None

    def add(self, X: Coded, out: FloatArray) -> None:
        """Add ``sum_j log P(x_j | c)``."""
        if self._log_total is None:
            sizes = np.maximum(self.sizes, self.n_values)
            self._log_total = np.log(self.total + (sizes * self.lam)[:, None])
        seen = (X >= 0) & (self.n_values > X)
        whole = bool(seen.all())
        amount = self.count[self.start + (X if whole else np.where(seen, X, 0))]
        log = np.log(amount + self.lam[:, None]) - self._log_total
        if not whole:
            log[X < 0] = 0.0
            self._say_unseen(log, (X >= 0) & ~seen)
        if self.some_empty and self.unseen == "leave_one_out":
            self._say_unseen(log, seen & (amount.sum(axis=2) <= 0))
        out += log.sum(axis=1)

    def _say_unseen(self, log: FloatArray, where: NDArray[np.bool_]) -> None:
        """Put what a value never seen says where rows have one, (rows, columns)."""
        for j in np.flatnonzero(where.any(axis=0)).tolist():
            log[where[:, j], j] = self._log_unseen(j)

    def _log_unseen(self, column: int) -> FloatArray | float:
        """What a value never seen says in a column, (classes,)."""
        lam = float(self.lam[column])
        if self.unseen == "skip":
            return 0.0
        if self.unseen == "smooth" or self._log_total is None:
            return np.asarray(np.log(lam) - np.asarray(self._log_total)[column])
        start = int(self.start[column])
        size = int(self.n_values[column])
        once = seen_once(self.count[start : start + size].T).sum(axis=1)
        n_values = max(float(self.sizes[column]), float(size))
        return log_unseen_shares(self.total[column], once, lam, n_values)


class LiveBins:
    """Numbers in bins that stay where they are."""

    def __init__(self, edges: FloatArray, offsets: NDArray[np.intp], shares: LiveShares) -> None:
        self.edges, self.offsets, self.shares = edges, offsets, shares

    def learn(self, X: FloatArray, own: int, weight: float) -> None:
        """Count the bins of one row."""
        self.shares.learn(kernel.bins(X, self.edges, self.offsets), own, weight)

    def decay(self, factor: float) -> None:
        """Scale all counts."""
        self.shares.decay(factor)

    def add(self, X: FloatArray, out: FloatArray) -> None:
        """Add ``sum_j log P(bin of x_j | c)``."""
        self.shares.add(kernel.bins(X, self.edges, self.offsets), out)
