"""From pair counts to log likelihoods: pure functions, nothing is fitted.

The share of a value in a class is smoothed, ``P(v | c) = (N_cv + lam) / (N_c + S lam)``;
given the value u of a parent, it is worth ``m`` rows beside those that have u::

    P(v | c, u) = (N_cuv + m P(v | c)) / (N_cu + m)

so a rare pair falls back on the share of its child alone, and AODE on naive
Bayes. A missing value is skipped, as parent and as child, unless it is a value
of its own in that column. A value that was never seen is nobody's parent, and
has the share that smoothing leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.aode.pair_counts import VALUES, PairCounts, PairLayout
from deciban.kernels import pairs as kernel
from deciban.stats.categories import count_of

FloatArray = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AODEParameters:
    """What rows are scored with; V cells, d columns, K classes.

    ``weight`` is ``N_cv``, (V, K), and ``total`` its sum over each column, (d, K).
    ``share`` is ``P(v | c)``, (V + d, K), the last d lines being values never seen.
    ``parent_weight`` is ``N_cu`` over the rows in which column j is known,
    (V, d, K), or (V, 1, K) where no value is skipped. ``support`` is the weight of
    each cell as a parent, of all classes.
    """

    layout: PairLayout
    pairs: FloatArray
    weight: FloatArray
    total: FloatArray
    lam: FloatArray
    n_values: FloatArray
    share: FloatArray
    parent_weight: FloatArray
    support: FloatArray
    m: float
    min_support: float

    @property
    def kernel_table(self) -> kernel.Table:
        """What the compiled loops need of it."""
        return kernel.Table(
            self.layout.start,
            self.pairs,
            self.share,
            self.parent_weight,
            self.support,
            self.min_support,
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
    return estimate_cells(layout, pair_counts.pairs, weight, lam, m, missing, min_support)


def estimate_cells(
    layout: PairLayout,
    pairs: FloatArray,
    weight: FloatArray,
    lam: FloatArray,
    m: float,
    missing: Sequence[bool],
    min_support: float = 0.0,
) -> AODEParameters:
    """The parameters that the weights of pairs and of cells, (V, K), give."""
    holes = np.asarray(missing, dtype=bool)
    n_values = np.maximum(np.array(layout.sizes, dtype=np.float64) + holes, 1.0)
    used = np.ones(layout.n_cells, dtype=bool)
    used[layout.first[:-1]] = holes
    total = np.zeros((layout.n_columns, weight.shape[1]))
    np.add.at(total, layout.column[used], weight[used])
    return AODEParameters(
        layout=layout,
        pairs=pairs,
        weight=weight,
        total=total,
        lam=lam,
        n_values=n_values,
        share=_shares(weight, total, lam, n_values, layout),
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


def _shares(
    weight: FloatArray,
    total: FloatArray,
    lam: FloatArray,
    n_values: FloatArray,
    layout: PairLayout,
) -> FloatArray:
    """``P(v | c)`` of every cell, then of a value never seen in each column."""
    below = total + (n_values * lam)[:, None]
    counted = (weight + lam[layout.column, None]) / below[layout.column]
    return np.concatenate([counted, lam[:, None] / below])


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


def log_likelihood(params: AODEParameters, cells: Places) -> FloatArray:
    """``log P(x | c)`` of every row and class."""
    out = np.zeros((1, len(cells), params.share.shape[1]))
    kernel.score(params.kernel_table, cells, np.array([params.m]), out)
    return np.asarray(out[0])


def leave_one_out(
    params: AODEParameters,
    cells: Places,
    y: NDArray[np.intp],
    weight: FloatArray,
    strengths: Sequence[float] | None = None,
) -> FloatArray:
    """``log P(x | c)`` with each row taken out of the counts: (strengths, rows, classes).

    All strengths ``m`` cost little more than one, since what is slow is to fetch the counts.
    """
    tried = np.array((params.m,) if strengths is None else strengths, dtype=np.float64)
    out = np.zeros((len(tried), len(cells), params.share.shape[1]))
    own = _own_shares(params, cells, y, weight)
    kernel.score(params.kernel_table, cells, tried, out, y, weight, own)
    return out


def _own_shares(
    params: AODEParameters, cells: Places, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """``P(v | c)`` of each row's values in its own class without it, (rows, columns)."""
    own, w = y[:, None], weight[:, None]
    known = (cells >= 0) & (cells < params.layout.n_cells)
    with_row = np.where(known, params.weight[np.where(known, cells, 0), own], 0.0)
    without = np.maximum(with_row - np.where(known, w, 0.0), 0.0)
    total = np.maximum(params.total.T[y] - np.where(known, w, 0.0), 0.0)
    return np.ascontiguousarray((without + params.lam) / (total + params.n_values * params.lam))


def contributions(params: AODEParameters, cells: Places) -> FloatArray:
    """Each column's part of ``log P(x | c)``: (rows, columns, classes), summing to it."""
    out = np.zeros((*cells.shape, params.share.shape[1]))
    kernel.explain(params.kernel_table, cells, params.m, out)
    return out
