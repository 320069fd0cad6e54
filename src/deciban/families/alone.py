"""Columns of counts used alone: their smoothing by empirical Bayes, and their leave-one-out loss.

Many columns are worked on at once, their cells one after the other: a table may have thousands,
of a few values each. What is computed of a column does not depend on those beside it. Numbers are
judged on the values that their histograms hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.families.discrete import MAX_ROW_LOSS
from deciban.families.protocol import Candidate, CountedColumns
from deciban.kernels.categorical import sum_columns
from deciban.kernels.discrete import leave_out_cells
from deciban.stats.cells import Grid
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.sparse import SparseSum
from deciban.stats.statistic import Codes, FloatArray

Offsets = NDArray[np.intp]
Tried = TypeVar("Tried")

#: The smoothings that are tried, from next to nothing to a strong pull towards equal shares.
SMOOTHING_GRID = np.exp(np.linspace(np.log(0.02), np.log(20.0), 29))
#: Columns are worked on together while no matrix has more numbers than this.
MAX_BLOCK_SIZE = 1 << 17
#: The loss of a column alone is measured on fewer than so many values, and values times classes.
MAX_VALUES_TRIED, MAX_LIKELIHOODS_TRIED = 1 << 14, 1 << 23
#: Losses that differ by less than this share are equal: processors may round them otherwise.
TIE_SHARE = 1e-9


def best_candidates(offered: list[list[tuple[str, Candidate]]]) -> list[tuple[str, Candidate]]:
    """The family and the candidate of least loss of each column."""
    return [least(column, lambda pair: pair[1].loss) for column in offered]


def least(tried: Iterable[Tried], loss: Callable[[Tried], float]) -> Tried:
    """The one of least loss; of those that differ by rounding alone, the first."""
    best, *others = tried
    for one in others:
        if loss(one) + TIE_SHARE * abs(loss(one)) < loss(best):
            best = one
    return best


def blocks(sizes: NDArray[np.intp], max_size: int = MAX_BLOCK_SIZE) -> list[tuple[int, int]]:
    """The first column and the end of blocks of columns that together have no more than a size.

    >>> blocks(np.array([3, 4, 9, 1, 1]), 8)
    [(0, 2), (2, 3), (3, 5)]
    """
    out, start, below = [], 0, np.cumsum(sizes)
    while start < len(sizes):
        before = below[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(below, before + max_size, side="right")))
        out.append((start, stop))
        start = stop
    return out


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


def smooth_and_judge(
    count: FloatArray,
    offsets: Offsets,
    smoothing: Sequence[float | None],
    class_weight: FloatArray,
    *,
    new_values: bool = False,
) -> list[tuple[float, float]]:
    """The smoothing of each column, stated or by empirical Bayes, and its loss when used alone."""
    lam = smooth_columns(count, offsets, smoothing)
    loss = categorical_losses(count, offsets, lam, class_weight, new_values=new_values)
    return list(zip(lam.tolist(), loss.tolist(), strict=True))


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
        log, column, own, times = leave_out_cells(amount, some, lam[start:stop], new_values)
        ends = np.searchsorted(column, np.arange(stop - start + 1))
        out[start:stop] = losses_alone(log, own, times, ends, class_weight)
    return out


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


def one_row(times: FloatArray) -> FloatArray:
    """The weight of one row of many that are alike: 1, or all there is."""
    return np.minimum(times, 1.0)


def missing_matters(missing: Sequence[FloatArray], class_weight: FloatArray) -> list[bool]:
    """Whether "missing or not" says more than the prior, by leave-one-out, of each column.

    ``missing`` are the rows of each class in which a column has no value.
    """
    holes = np.array([some.any() for some in missing], dtype=bool)
    if not holes.any():
        return [False] * len(missing)
    gone = np.stack([some for some in missing if some.any()], axis=1)
    here = np.maximum(class_weight[:, None] - gone, 0.0)
    pairs = np.stack([here, gone], axis=2).reshape(len(gone), -1)
    # A column of one value says nothing: its loss is that of the prior.
    count = np.column_stack([class_weight, pairs])
    offsets = np.append(0, 1 + 2 * np.arange(gone.shape[1] + 1))
    lam = empirical_smoothings(count, offsets)
    prior, *losses = categorical_losses(count, offsets, lam, class_weight)
    holes[holes] = np.array(losses) < prior
    return [bool(matters) for matters in holes]


# ---------------------------------------------------------------------- numbers


class CountedValues(NamedTuple):
    """Values of some ``columns``: the class and the weight of the rows that have each.

    Those of the i-th column begin at ``offsets[i]``.
    """

    columns: NDArray[np.intp]
    offsets: NDArray[np.intp]
    own: Codes
    value: FloatArray
    times: FloatArray

    @property
    def position(self) -> NDArray[np.intp]:
        """Which of the columns each value is of."""
        return np.repeat(np.arange(len(self.columns)), np.diff(self.offsets))

    @property
    def column(self) -> NDArray[np.intp]:
        """The column of each value."""
        return np.asarray(self.columns[self.position])

    def select(self, keep: NDArray[np.bool_]) -> CountedValues:
        """Those of some of the columns."""
        sizes, kept = np.diff(self.offsets)[keep], keep[self.position]
        return self._where(kept, self.columns[keep], sizes)

    def thin(self, max_values: int) -> CountedValues:
        """Every k-th value of each column, so that none has more than so many, or twice that."""
        sizes = np.diff(self.offsets)
        step = 1 + sizes // max_values
        place = np.arange(len(self.own)) - np.repeat(self.offsets[:-1], sizes)
        kept = place % np.repeat(step, sizes) == 0
        return self._where(kept, self.columns, -(-sizes // step))

    def _where(
        self, kept: NDArray[np.bool_], columns: NDArray[np.intp], sizes: NDArray[np.intp]
    ) -> CountedValues:
        """The values that are kept: so many of each of some columns."""
        own, value, times = self.own[kept], self.value[kept], self.times[kept]
        return CountedValues(columns, np.cumsum([0, *sizes], dtype=np.intp), own, value, times)


def _value_blocks(columns: CountedColumns, at: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Some columns in blocks: no matrix of their values and classes is large, but for one alone."""
    n_classes, sizes = max(1, len(columns.class_weight)), np.diff(columns.offsets)
    return [at[first:stop] for first, stop in blocks(sizes[at] * n_classes**2)]


def counted_values(columns: CountedColumns, at: NDArray[np.intp]) -> CountedValues:
    """The values of some columns of numbers; of many values some."""
    n_classes = max(1, len(columns.class_weight))
    max_values = min(MAX_VALUES_TRIED, MAX_LIKELIHOODS_TRIED // n_classes)
    return _values_of(columns, at).thin(max_values)


def _values_of(columns: CountedColumns, at: NDArray[np.intp]) -> CountedValues:
    """The values of columns of histograms: class by class, in their order."""
    grid = cast("Grid", columns.tables[HISTOGRAM.name].cells)
    amount = np.concatenate([columns.counts[j] for j in at.tolist()], axis=1)
    values = np.concatenate(grid.all_middles(at.tolist()))
    own, key = np.nonzero(amount)
    position = np.repeat(np.arange(len(at)), np.diff(columns.offsets)[at])[key]
    order = np.argsort(position, kind="stable")
    own, key = own[order], key[order]
    ends = np.cumsum(np.bincount(position, minlength=len(at)))
    return CountedValues(at, np.append(0, ends), own, values[key], amount[own, key])


def judge_values(
    columns: CountedColumns,
    at: NDArray[np.intp],
    leave_out: Callable[[NDArray[np.intp], FloatArray, Codes, FloatArray], FloatArray],
    applies: Callable[[CountedValues], NDArray[np.bool_]] | None = None,
) -> dict[int, float]:
    """The leave-one-out loss of columns of numbers used alone, on the values of each.

    ``leave_out`` is given the column, the value, the class and the weight of rows, and has their
    log likelihoods, (rows, classes), each taken out of its class. ``applies`` says which columns
    are tried at all, by their values.
    """

    def judge(block: NDArray[np.intp]) -> dict[int, float]:
        some = counted_values(columns, block)
        tried = some if applies is None else some.select(applies(some))
        log = leave_out(tried.column, tried.value, tried.own, one_row(tried.times))
        rows = tried.own, tried.times, tried.offsets
        alone = losses_alone(log, *rows, columns.class_weight)
        return dict(zip(tried.columns.tolist(), alone.tolist(), strict=True))

    losses: dict[int, float] = {}
    for part in threads.run(judge, _value_blocks(columns, at), ahead=_blocks_ahead(columns, at)):
        losses |= part
    return losses


def _blocks_ahead(columns: CountedColumns, at: NDArray[np.intp]) -> int:
    """How many blocks may be judged at once beside one: few where a column alone needs much."""
    largest = int(np.diff(columns.offsets)[at].max(initial=1)) * len(columns.class_weight) ** 2
    return max(1, MAX_LIKELIHOODS_TRIED // max(largest, MAX_BLOCK_SIZE))
