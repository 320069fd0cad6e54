"""From pair counts to log likelihoods: pure functions, nothing is fitted.

The share of a value in a class is smoothed, ``P(v | c) = (N_cv + lam) / (N_c + S lam)``;
given the value u of a parent, it is worth ``m`` rows beside those that have u::

    P(v | c, u) = (N_cuv + m P(v | c)) / (N_cu + m)

so a rare pair falls back on the share of its child alone, and AODE on naive
Bayes. A missing value is skipped, as parent and as child, unless it is a value
of its own in that column. A value that was never seen is nobody's parent, and
beside any parent as likely as by itself
(``log_unseen_shares`` of ``kernels/discrete.pyx``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.aode.pair_counts import VALUES, PairCounts, PairLayout
from deciban.kernels import pairs as kernel
from deciban.kernels.discrete import ROUNDED_SHARE, leave_out_unseen, log_unseen_shares
from deciban.stats.categories import count_of

FloatArray = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AODEParameters:
    """What rows are scored with; V cells, d columns, K classes.

    ``weight`` is ``N_cv``, (V, K), and ``total`` its sum over each column, (d, K); ``once`` is that
    of the values which one row alone has. ``open`` are the cells that are no bins, (V,): such a
    value may be one that no row has, and those are ``empty``, (V,), or None where there is none.
    ``share`` is ``P(v | c)``, (V + d, K), the last d lines being values never seen.
    ``parent_weight`` is ``N_cu`` over the rows in which column j is known,
    (V, d, K), or (V, 1, K) where no value is skipped. ``support`` is the weight of
    each cell as a parent, of all classes.
    """

    layout: PairLayout
    pairs: FloatArray
    weight: FloatArray
    total: FloatArray
    once: FloatArray
    open: NDArray[np.bool_]
    empty: NDArray[np.bool_] | None
    lam: FloatArray
    n_values: FloatArray
    share: FloatArray
    parent_weight: FloatArray
    support: FloatArray
    m: float
    min_support: float

    @cached_property
    def rows_by_cell(self) -> FloatArray:
        """The rows of all classes that have each value, (V,)."""
        return np.asarray(self.weight.sum(axis=1))

    def kernel_table(self, more: FloatArray | None = None) -> kernel.Table:
        """What the compiled loops need; ``more`` are shares of further values never seen."""
        return kernel.Table(
            self.layout.start,
            self.pairs,
            self.share if more is None else np.concatenate([self.share, more]),
            self.parent_weight,
            self.support,
            self.min_support,
            self.layout.n_columns,
        )


def estimate(
    pair_counts: PairCounts,
    lam: FloatArray,
    m: float,
    missing: Sequence[bool],
    min_support: float = 0.0,
) -> AODEParameters:
    """The parameters; ``missing`` is whether "missing" is a value of its own, by column."""
    layout, table = pair_counts.layout, pair_counts.counts.tables[VALUES]
    weight = cell_weights(count_of(table), table.rows, layout)
    bins = [name in pair_counts.cut_points for name in table.cells.columns.tolist()]
    opened = ~np.array(bins, dtype=bool)[layout.column]
    opened[layout.first[:-1]] = np.asarray(missing, dtype=bool)
    return estimate_cells(layout, pair_counts.pairs, weight, opened, lam, m, missing, min_support)


def estimate_cells(
    layout: PairLayout,
    pairs: FloatArray,
    weight: FloatArray,
    opened: NDArray[np.bool_],
    lam: FloatArray,
    m: float,
    missing: Sequence[bool],
    min_support: float = 0.0,
) -> AODEParameters:
    """The parameters that the weights of pairs and of cells, (V, K), give.

    ``opened`` are the cells that are no bins, (V,).
    """
    holes = np.asarray(missing, dtype=bool)
    n_values = np.maximum(np.array(layout.sizes, dtype=np.float64) + holes, 1.0)
    used = np.ones(layout.n_cells, dtype=bool)
    used[layout.first[:-1]] = holes
    once = np.where(weight.sum(axis=1, keepdims=True) <= 1.0, weight, 0.0)
    empty = opened & ~weight.any(axis=1)
    total, once = (_sum_columns(some, used, layout) for some in (weight, once))
    return AODEParameters(
        layout=layout,
        pairs=pairs,
        weight=weight,
        total=total,
        once=once,
        open=opened,
        empty=empty if empty.any() else None,
        lam=lam,
        n_values=n_values,
        share=_shares(weight, total, once, lam, n_values, layout),
        parent_weight=_parent_weights(pairs, weight, layout, holes),
        support=np.where(used, weight.sum(axis=1), 0.0),
        m=m,
        min_support=min_support,
    )


def cell_weights(count: FloatArray, rows: FloatArray, layout: PairLayout) -> FloatArray:
    """The weight of every cell and class, (V, K), missing values included."""
    out = np.zeros((layout.n_cells, len(rows)))
    hole = layout.first[:-1]
    out[np.delete(np.arange(layout.n_cells), hole)] = count.T
    present = np.zeros((layout.n_columns, len(rows)))
    np.add.at(present, layout.column, out)
    out[hole] = np.maximum(rows - present, 0.0)
    return out


def _sum_columns(weight: FloatArray, used: NDArray[np.bool_], layout: PairLayout) -> FloatArray:
    """The sum over some cells of each column, (d, K)."""
    out = np.zeros((layout.n_columns, weight.shape[1]))
    np.add.at(out, layout.column[used], weight[used])
    return out


def _shares(
    weight: FloatArray,
    total: FloatArray,
    once: FloatArray,
    lam: FloatArray,
    n_values: FloatArray,
    layout: PairLayout,
) -> FloatArray:
    """``P(v | c)`` of every cell, then of a value never seen in each column."""
    below = total + (n_values * lam)[:, None]
    counted = (weight + lam[layout.column, None]) / below[layout.column]
    unseen = log_unseen_shares(total, once, lam[:, None], n_values[:, None])
    return np.concatenate([counted, np.exp(unseen)])


def _parent_weights(
    pairs: FloatArray, weight: FloatArray, layout: PairLayout, holes: NDArray[np.bool_]
) -> FloatArray:
    """The weight of every cell u in rows in which column j has a value: (V, d, K).

    Where no value is skipped, it does not depend on the column: (V, 1, K).
    """
    skipped = ~holes & weight[layout.first[:-1]].any(axis=1)
    if not skipped.any():
        return weight[:, None, :].copy()
    out = np.repeat(weight[:, None, :], layout.n_columns, axis=1)
    for j in np.flatnonzero(skipped).tolist():
        hole = layout.first[j]
        before, after = np.arange(hole), np.arange(layout.first[j + 1], layout.n_cells)
        out[before, j] -= pairs[layout.start[before] + hole]
        out[after, j] -= pairs[layout.start[hole] + after]
    return np.maximum(out, 0.0)


def as_unseen(params: AODEParameters, cells: Places) -> Places:
    """The cells, those that no row has being values never seen."""
    if params.empty is None:
        return cells
    known = (cells >= 0) & (cells < params.layout.n_cells)
    new = known & params.empty[np.where(known, cells, 0)]
    return np.where(new, params.layout.n_cells + np.arange(params.layout.n_columns), cells)


def log_likelihood(params: AODEParameters, cells: Places) -> FloatArray:
    """``log P(x | c)`` of every row and class."""
    out = np.zeros((1, len(cells), params.share.shape[1]))
    cells = as_unseen(params, cells)
    kernel.score(params.kernel_table(), cells, np.array([params.m]), out)
    return np.asarray(out[0])


def leave_one_out(
    params: AODEParameters,
    cells: Places,
    y: NDArray[np.intp],
    weight: FloatArray,
    strengths: Sequence[float] | None = None,
) -> FloatArray:
    """``log P(x | c)`` with each row taken out of the counts: (strengths, rows, classes).

    A value that the row alone had was never seen then, by any class.
    All strengths ``m`` cost little more than one, since what is slow is to fetch the counts.
    """
    tried = np.array((params.m,) if strengths is None else strengths, dtype=np.float64)
    out = np.zeros((len(tried), len(cells), params.share.shape[1]))
    cells = as_unseen(params, cells)
    own = _own_shares(params, cells, y, weight)
    row, column = np.nonzero(_alone(params, cells, weight))
    new = _left_unseen(params, column, y[row], weight[row])
    own[row, column] = new[np.arange(len(row)), y[row]]
    cells = cells.copy()
    cells[row, column] = len(params.share) + np.arange(len(row))
    kernel.score(params.kernel_table(new), cells, tried, out, y, weight, own)
    return out


def _alone(params: AODEParameters, cells: Places, weight: FloatArray) -> NDArray[np.bool_]:
    """Whether no row but this one has its value, (rows, columns)."""
    known = (cells >= 0) & (cells < params.layout.n_cells)
    at = np.where(known, cells, 0)
    left = params.rows_by_cell[at] - weight[:, None]
    return np.asarray(known & params.open[at] & (left <= ROUNDED_SHARE * weight[:, None]))


def _left_unseen(
    params: AODEParameters, column: Places, own: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """The shares of values that one row alone had, (values, classes), without the row."""
    sums = params.total[column], params.once[column]
    smoothing = params.lam[column, None], params.n_values[column, None]
    return np.exp(leave_out_unseen(*sums, own, weight, *smoothing))


def _own_shares(
    params: AODEParameters, cells: Places, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """``P(v | c)`` of each row's values in its own class without it, (rows, columns)."""
    own, w = y[:, None], weight[:, None]
    known = (cells >= 0) & (cells < params.layout.n_cells)
    with_row = np.where(known, params.weight[np.where(known, cells, 0), own], 0.0)
    without = np.maximum(with_row - np.where(known, w, 0.0), 0.0)
    total = np.maximum(params.total.T[y] - np.where(known, w, 0.0), 0.0)
    shares = (without + params.lam) / (total + params.n_values * params.lam)
    unseen = params.share[params.layout.n_cells :].T[y]
    return np.ascontiguousarray(np.where(cells < params.layout.n_cells, shares, unseen))


def contributions(params: AODEParameters, cells: Places) -> FloatArray:
    """Each column's part of ``log P(x | c)``: (rows, columns, classes), summing to it."""
    out = np.zeros((*cells.shape, params.share.shape[1]))
    kernel.explain(params.kernel_table(), as_unseen(params, cells), params.m, out)
    return out
