"""Moments of numbers: ``n``, ``sum x`` and ``sum x**2`` per class and column, exactly.

The sums never round (:mod:`deciban.stats.exact`), so that mean and variance are computed
from them without cancellation, at any offset and scale. Missing values (NaN) are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from deciban import labels
from deciban.errors import InputError
from deciban.kernels import moments as kernel
from deciban.labels import Labels
from deciban.stats.categories import exceeds
from deciban.stats.cells import Cells
from deciban.stats.exact import (
    DECAY_ROUNDING,
    ExactSum,
    carry_all,
    contradictions,
    measure_and_pool,
)
from deciban.stats.exact import mean_and_spread as exact_moments
from deciban.stats.rounding import ROUNDING
from deciban.stats.statistic import Codes, FloatArray, Sums, number_matrix, refuse_infinity
from deciban.stats.table import Mask, Stored, Sum

#: With more classes, the faster way of counting would need too much memory.
MAX_UNWEIGHTED_CLASSES = 1 << 12
#: The kernel counts no more rows at once: its sums of squares would not fit.
MAX_KERNEL_ROWS = 1 << 22
NAMES = ("n", "total", "squares")


class Moments:
    """``n``, ``sum x`` and ``sum x**2`` of the values of each class and column."""

    name = "moments"
    cells: type[Cells] = Cells
    by_value = False

    def encode(self, names: Sequence[object], columns: Sequence[Any]) -> tuple[Cells, FloatArray]:
        """One cell a column, and the numbers."""
        return Cells(labels.label_array(list(names))), number_matrix(columns)

    def check(self, X: FloatArray, columns: Labels) -> None:
        """Numbers are finite, or NaN for a missing value."""
        refuse_infinity(X, columns)

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """Columns in which nothing is counted."""
        zero = ExactSum(np.zeros((n_classes, len(columns), 1), dtype=np.int64), 0)
        return Cells(columns), dict.fromkeys(NAMES, zero)

    def count(
        self, X: FloatArray, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
    ) -> dict[str, Sum]:
        """The sums of all rows; NaN is skipped, infinity is refused."""
        if len(X) <= MAX_KERNEL_ROWS:
            return _count(X, y, n_classes, weight, cells)
        cuts = range(0, len(X), MAX_KERNEL_ROWS)
        slices = [slice(start, start + MAX_KERNEL_ROWS) for start in cuts]
        total: dict[str, Sum] = {}
        for rows in slices:
            some = None if weight is None else weight[rows]
            more = _count(X[rows], y[rows], n_classes, some, cells)
            total = {name: total[name] + more[name] for name in total} or more
        return total

    def subtract(self, whole: Sums, part: Sums) -> dict[str, Sum]:
        """The sums that are left; all are zero where only the rounding of weights is left of n."""
        left = {name: whole[name].subtract(part[name]) for name in whole}
        dust = _is_rounding(left, whole)
        if not dust.any():
            return left
        return {name: cast("ExactSum", some).zero_where(dust) for name, some in left.items()}

    def equals(self, a: Sums, b: Sums) -> bool:
        """Whether the sums are equal: exactly for whole weights, up to rounding otherwise."""
        difference = {name: a[name].subtract(b[name]) for name in NAMES}
        some = np.any([part.nonzero() for part in exact_sums(difference)], axis=0)
        return not some.any() or not np.any(some & ~_is_rounding(difference, a))

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """Less than no data, more than the rows, or squares that no data with this sum can have."""
        sums = exact_sums(left)
        amount, contradictory = contradictions(sums, None if whole is None else exact_sums(whole))
        return np.asarray(contradictory | exceeds(amount, rows))

    def from_arrays(self, arrays: Stored, shape: tuple[int, int]) -> dict[str, Sum]:
        """The three sums of a file."""
        return {
            name: ExactSum.from_arrays(arrays, f"sum.{name}", shape, signed=name == "total")
            for name in NAMES
        }


MOMENTS = Moments()


def exact_sums(sums: Sums) -> tuple[ExactSum, ExactSum, ExactSum]:
    """``n``, ``sum x`` and ``sum x**2``."""
    n, total, squares = (cast("ExactSum", sums[name]) for name in NAMES)
    return n, total, squares


def _count(
    X: FloatArray, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
) -> dict[str, Sum]:
    if weight is None and n_classes > MAX_UNWEIGHTED_CLASSES:
        weight = np.ones(len(y))
    digits_and_bases: list[Any]
    if weight is None:
        infinite, *digits_and_bases = kernel.count(X, y, n_classes)
    else:
        infinite, *digits_and_bases = kernel.count_weighted(X, y, weight, n_classes)
    if infinite >= 0:
        refuse_infinity(X, cells.columns)
    pairs = zip(digits_and_bases[::2], digits_and_bases[1::2], strict=True)
    return dict(zip(NAMES, carry_all(pairs), strict=True))


def _is_rounding(difference: Sums, whole: Sums) -> Mask:
    """Where a difference of all three sums is not nothing, but no more than rounding.

    Whole weights leave nothing at all; fractional ones may leave the last bits.
    """
    sums = exact_sums(difference)
    some = np.any([part.nonzero() for part in sums], axis=0)
    some &= ~(exact_sums(whole)[0].whole() & sums[0].whole())
    if not some.any():
        return np.asarray(some)
    n, total, squares = (np.abs(part.floats()) for part in sums)
    all_n, all_total, scale = (np.abs(part.floats()) for part in exact_sums(whole))
    share = np.where(sums[0].nonzero(), ROUNDING, DECAY_ROUNDING)
    size = np.where(np.isfinite(scale), scale, 0.0)
    small = total <= share * np.maximum(all_total, np.sqrt(all_n) * np.sqrt(size))
    return np.asarray(some & small & (squares <= share * size) & (n <= share * all_n))


class MeanAndSpread(NamedTuple):
    """How many values, their mean, and the sum of squared deviations from it."""

    n: FloatArray
    mean: FloatArray
    spread: FloatArray

    @property
    def variance(self) -> FloatArray:
        """The mean squared deviation; zero where there is no value."""
        return self.spread / np.where(self.n > 0, self.n, 1.0)


class ColumnSums(NamedTuple):
    """The exact sums of columns, (classes, columns), and their moments as floats."""

    exact: Sums
    moments: MeanAndSpread


def mean_and_spread(sums: Sums) -> MeanAndSpread:
    """``n``, mean and sum of squared deviations from the mean; zeros where n is 0."""
    moments = MeanAndSpread(*exact_moments(*exact_sums(sums)))
    check_moments(moments)
    return moments


def check_moments(*all_moments: MeanAndSpread) -> None:
    """Refuse values whose squares fit no float."""
    if not all(np.all(np.isfinite([m.mean, m.spread])) for m in all_moments):
        raise InputError(
            "the squares of the values do not fit a float.", hint="divide the column by 1e150"
        )


def classes_and_whole(sums: Sums) -> tuple[ColumnSums, ColumnSums]:
    """The sums and moments of each class, and those of whole columns, (1, columns).

    Moments are not finite where squares fit no float.
    """
    classes, whole, pooled = measure_and_pool(*exact_sums(sums))
    together = ColumnSums(dict(zip(NAMES, pooled, strict=True)), MeanAndSpread(*whole))
    return ColumnSums(sums, MeanAndSpread(*classes)), together


def pool_classes(sums: Sums) -> MeanAndSpread:
    """The moments of each column over all classes, (1, columns)."""
    _, whole = classes_and_whole(sums)
    check_moments(whole.moments)
    return whole.moments


def share_variance(of: MeanAndSpread) -> MeanAndSpread:
    """Moments with one variance per column, within classes, for all of them."""
    n = of.n.sum(axis=0)
    var = of.spread.sum(axis=0) / np.where(n > 0, n, 1.0)
    return MeanAndSpread(of.n, of.mean, of.n * var)
