"""What the columns were in training: where they lie, how far they spread, by class.

A slope says nothing without the values it is applied to. Their means are what explanations
are measured from, their deviations what a column says on average, and their range what a curve
spans. All are taken from evenly spaced rows, without making a sparse matrix dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]

#: Means are those of no more rows than this, and of fewer where they hold more numbers, though
#: not of fewer than the least.
MAX_ROWS, MAX_NUMBERS, MIN_ROWS = 4_096, 1 << 16, 256
#: Of so many of these rows, dense or sparse, the values of columns are put in order.
MAX_SORTED_ROWS, MAX_SORTED_SPARSE_ROWS = 512, 64
#: The values kept of a column, the least and the greatest among them: fewer of many columns.
MAX_VALUES, MIN_VALUES, MAX_KEPT_NUMBERS = 33, 3, 1 << 16


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Means, deviations and values of the columns.

    ``weight``, (classes,), is that of all rows of a class, ``mean``, (classes, columns), the mean
    of some of them, ``deviation`` their mean distance from :attr:`centre`, and ``values``,
    (values, columns), some of what was seen in each column, in order and evenly spaced by rank.
    """

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    values: FloatArray

    @property
    def centre(self) -> FloatArray:
        """The mean row, (columns,)."""
        return np.asarray(self.weight @ self.mean / self.weight.sum())

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        """The summary of the rows of both; each deviation is from the centre of its own rows."""
        weight = self.weight + other.weight
        share = (self.weight / np.where(weight > 0, weight, 1.0))[:, None]
        n = self.weight.sum(), other.weight.sum()
        return ColumnSummary(
            weight,
            share * self.mean + (1 - share) * other.mean,
            share * self.deviation + (1 - share) * other.deviation,
            _merge_values(self.values, other.values, n[0] / (n[0] + n[1])),
        )


def summarize(
    X: FloatArray | csr_array,
    codes: NDArray[np.intp],
    weight: FloatArray | None,
    n_classes: int,
) -> ColumnSummary:
    """The summary of labelled rows, dense or sparse.

    >>> X = np.array([[0.0], [2.0], [4.0], [10.0]])
    >>> of = summarize(X, np.array([0, 0, 1, 1]), None, 2)
    >>> of.mean[:, 0], of.centre, of.deviation[:, 0]
    (array([1., 7.]), array([4.]), array([3., 3.]))
    """
    total = np.bincount(codes, weight, n_classes).astype(np.float64)
    used = None if weight is None else np.flatnonzero(weight > 0)
    n_used = len(codes) if used is None else len(used)
    at = np.arange(0, n_used, max(1, -(-n_used // _n_rows(X))))
    at = at if used is None else used[at]
    some, of = (X, codes) if len(at) == len(codes) else (X[at], codes[at])
    member = np.zeros((n_classes, len(at)))
    member[of, np.arange(len(at))] = 1.0 if weight is None else weight[at]
    sums = member.sum(axis=1)
    member /= np.where(sums > 0, sums, 1.0)[:, None]
    mean = np.asarray(member @ some)
    seen = np.where(sums > 0, total, 0.0)
    centre = seen @ mean / seen.sum()
    if (sums == 0).any():
        mean[sums == 0] = centre  # nothing is known of these: they say nothing
    if isinstance(some, np.ndarray):
        return ColumnSummary(total, mean, _deviations(some, member, centre), _values(some))
    return ColumnSummary(
        total, mean, _sparse_deviations(some, member, centre), _sparse_values(some)
    )


def summarises_all(X: FloatArray | csr_array) -> bool:
    """Whether the summary of a matrix is that of all its rows."""
    return bool(X.shape[0] <= _n_rows(X))


def _n_rows(X: FloatArray | csr_array) -> int:
    """Of how many rows the summary is."""
    numbers = X.shape[1] if isinstance(X, np.ndarray) else max(1, X.nnz // max(1, X.shape[0]))
    return int(min(MAX_ROWS, max(MIN_ROWS, MAX_NUMBERS // max(1, numbers))))


def _n_values(n_columns: int) -> int:
    return int(min(MAX_VALUES, max(MIN_VALUES, MAX_KEPT_NUMBERS // max(1, n_columns))))


def _deviations(X: FloatArray, member: FloatArray, centre: FloatArray) -> FloatArray:
    return np.asarray(member @ np.abs(X - centre))


def _sparse_deviations(X: csr_array, member: FloatArray, centre: FloatArray) -> FloatArray:
    """A number that is not stored is as far from the centre as zero is."""
    far, zero = X.copy(), np.abs(centre)
    far.data = np.abs(X.data - centre[X.indices]) - zero[X.indices]
    return np.asarray(member @ far + member.sum(axis=1)[:, None] * zero)


# ---------------------------------------------------------------------- values


def _values(X: FloatArray) -> FloatArray:
    """Values of every column by rank."""
    few = X[:: max(1, -(-len(X) // MAX_SORTED_ROWS))]
    return np.asarray(np.sort(few, axis=0)[_ranks(*few.shape)])


def _sparse_values(X: csr_array) -> FloatArray:
    """Values of every column by rank; those that are not stored are zeros between the others."""
    few = X[:: max(1, -(-X.shape[0] // MAX_SORTED_SPARSE_ROWS))]
    n_rows, n_columns = few.shape
    order = np.lexsort((few.data, few.indices))
    data, column = few.data[order], few.indices[order]
    first = np.searchsorted(column, np.arange(n_columns + 1))
    negative = np.bincount(column[data < 0], minlength=n_columns)
    zeros = n_rows - np.diff(first)
    rank = _ranks(n_rows, n_columns)[:, None]
    place = first[:-1] + np.where(rank < negative, rank, rank - zeros)
    stored = (rank < negative) | (rank >= negative + zeros)
    out = np.append(data, 0.0)[np.where(stored, place, -1)]
    np.minimum.at(out[0], X.indices, X.data)
    np.maximum.at(out[-1], X.indices, X.data)
    return out


def _ranks(n_rows: int, n_columns: int) -> NDArray[np.intp]:
    """Places from the first to the last of so many rows, evenly spaced."""
    n = _n_values(n_columns)
    return np.arange(n) * (n_rows - 1) // (n - 1)


def _merge_values(mine: FloatArray, theirs: FloatArray, share: float) -> FloatArray:
    """Values by rank among those of both, of which the first have a share of all rows."""
    both = np.concatenate([mine, theirs])
    weight = np.repeat([share / len(mine), (1 - share) / len(theirs)], [len(mine), len(theirs)])
    order = np.argsort(both, axis=0, kind="stable")
    middle = np.cumsum(weight[order], axis=0) - weight[order] / 2
    ends = middle[:1], middle[-1:]
    place = np.linspace(0.0, 1.0, len(mine))[:, None] * (ends[1] - ends[0]) + ends[0]
    at = np.stack([np.count_nonzero(middle < p * (1 - 1e-12), axis=0) for p in place])
    return np.asarray(np.take_along_axis(np.take_along_axis(both, order, 0), at, 0))
