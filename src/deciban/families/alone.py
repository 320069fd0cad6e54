"""Columns of counts used alone: their smoothing by empirical Bayes, and their leave-one-out loss.

Many columns are worked on at once, their cells one after the other: a table may have thousands,
of a few values each. What is computed of a column does not depend on those beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.families.discrete import (
    MAX_ROW_LOSS,
    ROUNDED_SHARE,
    leave_out_unseen,
    log_shares,
    one_row,
    seen_once,
)
from deciban.stats.categories import sum_columns
from deciban.stats.sparse import SparseSum

FloatArray = NDArray[np.float64]
Offsets = NDArray[np.intp]

#: The smoothings that are tried, from next to nothing to a strong pull towards equal shares.
SMOOTHING_GRID = np.exp(np.linspace(np.log(0.02), np.log(20.0), 29))
#: Columns are worked on together while no matrix has more numbers than this.
MAX_BLOCK_SIZE = 1 << 17


def blocks(sizes: NDArray[np.intp], max_size: int = MAX_BLOCK_SIZE) -> Iterator[tuple[int, int]]:
    """The first column and the end of blocks of columns that together have no more than a size.

    >>> list(blocks(np.array([3, 4, 9, 1, 1]), 8))
    [(0, 2), (2, 3), (3, 5)]
    """
    start, below = 0, np.cumsum(sizes)
    while start < len(sizes):
        before = below[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(below, before + max_size, side="right")))
        yield start, stop
        start = stop


def empirical_smoothing(amount: FloatArray | SparseSum) -> float:
    """The ``lam`` under which the counts (classes, values) are likeliest; 1 if any is.

    Each class's shares are drawn from a symmetric Dirichlet(lam): empirical Bayes.

    >>> round(empirical_smoothing(np.array([[50.0, 50], [51, 49]])), 1)   # alike: pull hard
    20.0
    >>> round(empirical_smoothing(np.array([[99.0, 1], [1, 99]])), 1)     # apart: let them be
    0.2
    """
    size = amount.shape[1]
    if not isinstance(amount, SparseSum):
        return float(empirical_smoothings(amount, np.array([0, size]))[0])
    values, times = amount.distinct()
    some, sizes = np.array([len(values)]), np.array([size], dtype=np.intp)
    return float(_likeliest(values, times, some, amount.by_class[:, None], sizes)[0])


def empirical_smoothings(count: FloatArray, offsets: Offsets) -> FloatArray:
    """:func:`empirical_smoothing` of columns whose counts, (classes, cells), begin at offsets."""
    sizes, whole, out = np.diff(offsets), sum_columns(count, offsets), np.ones(len(offsets) - 1)
    for start, stop in blocks(sizes * max(1, len(count)), MAX_BLOCK_SIZE // 8):
        amount = count[:, offsets[start] : offsets[stop]]
        column = np.repeat(np.arange(stop - start), sizes[start:stop])
        # By different counts in their order: the order of the values cannot show.
        distinct, code = np.unique(amount, return_inverse=True)
        pairs = (column * max(1, len(distinct)) + code.reshape(amount.shape)).ravel()
        pair, times = np.unique(pairs, return_counts=True)
        of_column, at = np.divmod(pair, max(1, len(distinct)))
        n_values, about = np.bincount(of_column, minlength=stop - start), slice(start, stop)
        cells = distinct[at], times, n_values
        out[about] = _likeliest(*cells, whole[:, about], sizes[about])
    return out


def _likeliest(
    values: FloatArray,
    times: NDArray[np.intp],
    n_values: NDArray[np.intp],
    whole: FloatArray,
    sizes: NDArray[np.intp],
) -> FloatArray:
    """The likeliest smoothing of each column; 1 where any is.

    Each has ``n_values`` different counts, each of which so many ``times``; ``whole``, (classes,
    columns), are its rows and ``sizes`` how many values it has.
    """
    from scipy.special import gammaln

    distinct, code = np.unique(values, return_inverse=True)
    lam, size = SMOOTHING_GRID, sizes[:, None].astype(np.float64)
    each = gammaln(distinct[:, None] + lam) - gammaln(lam)
    cells = sum_columns((each[code] * times[:, None]).T, np.cumsum([0, *n_values]))
    with np.errstate(invalid="ignore"):  # columns without values
        totals = np.sum([gammaln(size * lam) - gammaln(rows[:, None] + size * lam)
                         for rows in whole], axis=0)  # fmt: skip
    best = SMOOTHING_GRID[np.argmax(cells.T + totals, axis=1)]
    return np.where((sizes > 1) & whole.any(axis=0), best, 1.0)


def smooth_columns(
    count: FloatArray, offsets: Offsets, smoothing: Sequence[float | None]
) -> FloatArray:
    """The smoothing of each column of counts: as stated, by empirical Bayes where it is None."""
    stated = np.array([np.nan if lam is None else lam for lam in smoothing], dtype=np.float64)
    free = np.isnan(stated)
    if not free.any():
        return stated
    return np.where(free, empirical_smoothings(count, offsets), stated)


def categorical_losses(
    count: FloatArray,
    offsets: Offsets,
    lam: FloatArray,
    class_weight: FloatArray,
    *,
    new_values: bool = False,
) -> FloatArray:
    """The leave-one-out loss, in nats a row, of each categorical column used alone.

    ``count``, (classes, cells), has the values of column j from ``offsets[j]`` on; ``lam`` is the
    smoothing of each column. With ``new_values``, a value of which nothing is left was never seen;
    there may be others than those that were seen, but no other bins.
    """
    n_classes, sizes = len(count), np.diff(offsets)
    out = np.empty(len(sizes))
    for start, stop in blocks(sizes * n_classes**2):
        amount = np.ascontiguousarray(count[:, offsets[start] : offsets[stop]].T)
        some = offsets[start : stop + 1] - offsets[start]
        log, column, own, times = _leave_out(amount, some, lam[start:stop], new_values)
        ends = np.searchsorted(column, np.arange(stop - start + 1))
        out[start:stop] = losses_alone(log, own, times, ends, class_weight)
    return out


def _leave_out(
    amount: FloatArray, offsets: Offsets, lam: FloatArray, new_values: bool
) -> tuple[FloatArray, NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """What one row of each value and class says, left out of the counts, (cells, classes).

    Log likelihoods, (rows, classes); the column, the class and the weight of each such row.
    """
    sizes = np.diff(offsets)
    of_cell = np.repeat(np.arange(len(sizes)), sizes)
    total = sum_columns(amount.T, offsets).T
    smoothed = total + (sizes * lam)[:, None]
    cell, own = np.nonzero(amount)
    column, times = of_cell[cell], amount[cell, own]
    one, size, extra = one_row(times), sizes[column], lam[column]
    rest = total[column, own] - one
    rest = np.where(rest > ROUNDED_SHARE * one, rest, 0.0)
    log = log_shares(amount + lam[of_cell][:, None], smoothed[of_cell], sizes[of_cell][:, None])
    log = log[cell]
    log[np.arange(len(own)), own] = log_shares(times - one + extra, rest + size * extra, size)
    if new_values:
        rows = amount.sum(axis=1)
        gone = np.flatnonzero(rows[cell] - one <= ROUNDED_SHARE * one)
        once, at = sum_columns(seen_once(amount.T), offsets).T, column[gone]
        about = lam[at][:, None], sizes[at][:, None]
        log[gone] = leave_out_unseen(total[at], once[at], own[gone], one[gone], *about)
    return log, column, own, times


def losses_alone(
    log_likelihood: FloatArray,
    own: NDArray[np.intp],
    times: FloatArray,
    offsets: Offsets,
    class_weight: FloatArray,
) -> FloatArray:
    """Mean negative log posterior of the true class, each row taken out of the prior as well.

    ``log_likelihood``, (values, classes), leaves one row of each value out of its ``own`` class;
    ``times`` are the rows that have the value, ``class_weight`` the rows of each class. The values
    of each column begin at its offset; without any, its loss is infinite.
    """
    rows = np.arange(len(own))
    joint = log_likelihood + np.log(class_weight + 1.0)
    left = np.maximum(class_weight[own] - one_row(times), 0.0)
    joint[rows, own] = log_likelihood[rows, own] + np.log(left + 1.0)
    top = joint.max(axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        loss = top + np.log(np.exp(joint - top[:, None]).sum(axis=1)) - joint[rows, own]
    loss = np.minimum(np.where(np.isnan(loss), np.inf, loss), MAX_ROW_LOSS)
    total, weight = sum_columns(np.stack([loss * times, times]), offsets)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.inf)


def missing_matters(missing: Sequence[FloatArray], class_weight: FloatArray) -> list[bool]:
    """Whether "missing or not" says more than the prior, by leave-one-out, of each column.

    ``missing`` are the rows of each class in which a column has no value.
    """
    holes = np.array([some.any() for some in missing], dtype=bool)
    if not holes.any():
        return [False] * len(missing)
    prior = categorical_losses(class_weight[:, None], np.array([0, 1]), np.ones(1), class_weight)
    gone = np.stack([some for some in missing if some.any()], axis=1)
    here = np.maximum(class_weight[:, None] - gone, 0.0)
    count = np.stack([here, gone], axis=2).reshape(len(gone), -1)
    offsets = 2 * np.arange(gone.shape[1] + 1)
    lam = empirical_smoothings(count, offsets)
    holes[holes] = categorical_losses(count, offsets, lam, class_weight) < prior
    return [bool(matters) for matters in holes]
