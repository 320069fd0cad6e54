"""How likely a row is at all, by what the columns were in training.

Coefficients know nothing of that, but the summary of the columns does: where the values of each
class lie, and how far they spread. A column of marks, 0 or 1, has the share of ones of the class.
Any other is taken for a Student's t distribution around the mean of the class, since
a summary does not know the shape of its columns, and numbers may lie far out; its scale is the mean
distance from the centre. Both have a prior worth one row of the whole column. A column that had one
value alone says nothing of it, and of any other that it comes once in n + 1 rows.

Rows of amounts that are nearly all zero are bags, such as those of words: each unit of an amount is
one draw from the columns, as in :mod:`deciban.families.multinomial`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.families.bag_removal import Entries
from deciban.logistic.columns import ColumnSummary
from deciban.models.novelty import RowLikelihoods

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ColumnLikelihoods"]

FloatArray = NDArray[np.float64]

#: The degrees of freedom of a column of numbers.
DEGREES = 3.0
#: Densities of so many numbers are computed at a time.
CHUNK_NUMBERS = 1 << 20
#: Where more of the values are zero than this, and none is negative, a row is a bag.
BAG_ZEROS = 0.9
#: The pseudo-count of a column of a bag, as a share of the unit: that of words in naive Bayes.
BAG_SMOOTHING = 0.03
#: Differences that are less than this share of a number are those of rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ColumnLikelihoods:
    """The likelihood of rows under each class, from the summary of the columns.

    ``summary`` has the mean of each class, and mean distances from the common centre.
    """

    summary: ColumnSummary

    @cached_property
    def _n(self) -> float:
        return float(self.summary.weight.sum())

    @cached_property
    def _deviation(self) -> FloatArray:
        """The mean distance of all rows from the centre, (columns,)."""
        mean = self.summary.weight @ self.summary.deviation / self._n
        return np.where(mean > ROUNDING * np.abs(self.summary.centre), mean, 0.0)

    @cached_property
    def _is_mark(self) -> NDArray[np.bool_]:
        """Which columns hold 0 and 1: then their distances follow from their means, (columns,)."""
        of, c = self.summary, self.summary.centre
        expected = of.mean * (1 - c) + (1 - of.mean) * c
        between = (c > 0) & (c < 1) & ((of.mean >= 0) & (of.mean <= 1)).all(axis=0)
        near = np.abs(of.deviation - expected) <= ROUNDING * np.maximum(expected, ROUNDING)
        return np.asarray(between & near.all(axis=0))

    @cached_property
    def _unit(self) -> float:
        """What one draw of a bag is worth: the mean largest amount; 0 if rows are no bags."""
        values = self.summary.values
        between = values[1:-1]  # the ends are the least and the greatest
        is_bag = between.size and values.min() >= 0 and (between == 0).mean() > BAG_ZEROS
        return float(values.max(axis=0).mean()) if is_bag else 0.0

    def of_rows(self, X: FloatArray | csr_array) -> RowLikelihoods:
        """``log P(x | c)``, (rows, classes), and the number of columns, or draws, of each row."""
        if self._unit > 0:
            return self._bags(X)
        of = self.summary
        out = np.empty((X.shape[0], len(of.weight)))
        for rows in self._chunks(X.shape[0]):
            dense = _dense(X[rows])
            for c, class_summary in enumerate(zip(of.mean, of.deviation, of.weight, strict=True)):
                out[rows, c] = self._log_likelihood(dense, *class_summary)
        return RowLikelihoods(out, np.full(X.shape[0], float(X.shape[1])))

    def leave_one_out(
        self, X: FloatArray | csr_array, y: NDArray[np.intp], weight: FloatArray
    ) -> RowLikelihoods:
        """Those of rows that were summarised, each taken out of its class; the column's stay."""
        (out, size), of = self.of_rows(X), self.summary
        if self._unit > 0:
            return self._bags_without(X, y, weight, RowLikelihoods(out, size))
        for some in self._chunks(X.shape[0]):
            x, own, one = _dense(X[some]), y[some], weight[some, None]
            left = np.maximum(of.weight[own, None] - one, 0.0)
            share = np.divide(one, left, out=np.zeros_like(left), where=left > 0)
            mean = of.mean[own] + share * (of.mean[own] - x)
            far = np.abs(x - of.centre)
            deviation = np.maximum(of.deviation[own] + share * (of.deviation[own] - far), 0.0)
            log = self._log_likelihood(x, mean, deviation, left)
            out[np.arange(len(y))[some], own] = log
        return RowLikelihoods(out, size)

    @property
    def _amount(self) -> FloatArray:
        """The amounts of each class and column, in units and smoothed, (classes, columns)."""
        counted = self.summary.weight[:, None] * np.maximum(self.summary.mean, 0.0) / self._unit
        return np.asarray(counted + BAG_SMOOTHING)

    def _bags(self, X: FloatArray | csr_array) -> RowLikelihoods:
        amount = self._amount
        log = np.log(amount) - np.log(amount.sum(axis=1, keepdims=True))
        size = np.asarray(X.sum(axis=1)).ravel() / self._unit
        return RowLikelihoods(np.asarray(X @ log.T) / self._unit, np.maximum(size, 0.0))

    def _bags_without(
        self,
        X: FloatArray | csr_array,
        y: NDArray[np.intp],
        weight: FloatArray,
        rows: RowLikelihoods,
    ) -> RowLikelihoods:
        """Bags by the amounts of their own class without them."""
        bags, amount = Entries.of(X), self._amount
        draws = np.maximum(bags.amount, 0.0) / self._unit
        left = amount[y[bags.row], bags.column] - weight[bags.row] * draws
        total = amount.sum(axis=1)[y] - weight * bags.sum_rows(draws)
        least = BAG_SMOOTHING
        log = np.log(np.maximum(left, least)) - np.log(np.maximum(total, least))[bags.row]
        rows.log_likelihood[np.arange(len(y)), y] = bags.sum_rows(draws * log)
        return rows

    def _log_likelihood(
        self, X: FloatArray, mean: FloatArray, deviation: FloatArray, weight: FloatArray
    ) -> FloatArray:
        """The sum over the columns of dense rows in a class, but for a constant, (rows,)."""
        scale = (weight * deviation + self._deviation) / (weight + 1.0)
        varies = self._deviation > 0
        scale = np.where(varies, scale, 1.0)
        known = -np.log(scale)
        known = known - (DEGREES + 1) / 2 * np.log1p(((X - mean) / scale) ** 2 / DEGREES)
        new = -np.log1p(self._n)
        if self._is_mark.any():
            share = np.clip((weight * mean + self.summary.centre) / (weight + 1.0), 0.0, 1.0)
            with np.errstate(divide="ignore"):
                mark = np.where(X == 1, np.log(share), np.where(X == 0, np.log1p(-share), new))
            known = np.where(self._is_mark, np.maximum(mark, new), known)
        if not varies.all():
            one_value = np.where(np.abs(X - self.summary.centre) > self._rounding, new, 0.0)
            known = np.where(varies, known, one_value)
        return np.asarray(known.sum(axis=1))

    @property
    def _rounding(self) -> FloatArray:
        return ROUNDING * np.abs(self.summary.centre)

    def _chunks(self, n_rows: int) -> list[slice]:
        step = max(1, CHUNK_NUMBERS // max(1, len(self._deviation)))
        return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def _dense(X: FloatArray | csr_array) -> FloatArray:
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())
