"""From a tally to log-likelihoods: pure functions, nothing is fitted.

The share of a value in a class is smoothed, ``P(v | c) = (N_cv + lam) / (N_c + S lam)``;
given the value u of a parent, it is worth ``m`` rows beside those that have u::

    P(v | c, u) = (N_cuv + m P(v | c)) / (N_cu + m)

so a pair that is rare says what its child says alone, and AODE falls back on
naive Bayes where it knows no better. A missing value is skipped, as parent and
as child, unless it is a value of its own in that column. A value that was never
seen is nobody's parent, and has the share that smoothing leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.aode.layout import Layout
from deciban.aode.tally import VALUES, Tally
from deciban.kernels import pairs as kernel
from deciban.stats.categories import count_of

FloatArray = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Params:
    """What rows are scored with; V cells, d columns, K classes.

    ``amount`` is (V, K); ``total`` and ``share`` of each column's values, (d, K)
    and (V + d, K), the last d lines being values never seen; ``known`` is
    ``N_cu`` over the rows in which column j is known, (V, d, K), or (V, 1, K)
    where no value is skipped.
    """

    layout: Layout
    pairs: FloatArray
    amount: FloatArray
    total: FloatArray
    lam: FloatArray
    sizes: FloatArray
    share: FloatArray
    known: FloatArray
    support: FloatArray
    m: float
    least: float

    @property
    def table(self) -> kernel.Table:
        """The same for the compiled loops."""
        return kernel.Table(
            self.layout.start, self.pairs, self.share, self.known, self.support, self.least
        )


def estimate(
    tally: Tally, lam: FloatArray, m: float, missing: Sequence[bool], least: float = 0.0
) -> Params:
    """The parameters of a tally; ``missing`` says in which columns a hole is a value."""
    layout, table = tally.layout, tally.counts.tables[VALUES]
    holes = np.asarray(missing, dtype=bool)
    amount = amounts(count_of(table), table.rows, layout)
    sizes = np.array(layout.sizes, dtype=np.float64) + holes
    sizes = np.maximum(sizes, 1.0)
    used = np.ones(layout.n_cells, dtype=bool)
    used[layout.first[:-1]] = holes
    total = np.zeros((layout.n_columns, amount.shape[1]))
    np.add.at(total, layout.column[used], amount[used])
    share = _shares(amount, total, lam, sizes, layout)
    known = _known(tally.pairs, amount, layout, holes)
    support = np.where(used, amount.sum(axis=1), 0.0)
    return Params(layout, tally.pairs, amount, total, lam, sizes, share, known, support, m, least)


def amounts(count: FloatArray, rows: FloatArray, layout: Layout) -> FloatArray:
    """The weight of every cell and class, those of missing values included."""
    out = np.zeros((layout.n_cells, len(rows)))
    hole = layout.first[:-1]
    out[np.delete(np.arange(layout.n_cells), hole)] = count.T
    present = np.zeros((layout.n_columns, len(rows)))
    np.add.at(present, layout.column, out)
    out[hole] = np.maximum(rows - present, 0.0)
    return out


def _shares(
    amount: FloatArray, total: FloatArray, lam: FloatArray, sizes: FloatArray, layout: Layout
) -> FloatArray:
    """``P(v | c)`` of every cell, then of a value never seen in each column."""
    below = total + (sizes * lam)[:, None]
    seen = (amount + lam[layout.column, None]) / below[layout.column]
    return np.concatenate([seen, lam[:, None] / below])


def _known(
    pairs: FloatArray, amount: FloatArray, layout: Layout, holes: NDArray[np.bool_]
) -> FloatArray:
    """The weight of every cell u in rows in which column j has a value: (V, d, K).

    Where no value is skipped, that is the same for all columns: (V, 1, K).
    """
    skipped = ~holes & amount[layout.first[:-1]].any(axis=1)
    if not skipped.any():
        return amount[:, None, :].copy()
    out = np.repeat(amount[:, None, :], layout.n_columns, axis=1)
    for j in np.flatnonzero(skipped).tolist():
        hole = layout.first[j]
        before, after = np.arange(hole), np.arange(layout.first[j + 1], layout.n_cells)
        out[before, j] -= pairs[layout.start[before] + hole]
        out[after, j] -= pairs[layout.start[hole] + after]
    return np.maximum(out, 0.0)


def log_likelihood(params: Params, cells: Places) -> FloatArray:
    """``log P(x | c)`` of every row and class."""
    out = np.zeros((1, len(cells), params.share.shape[1]))
    kernel.score(params.table, cells, np.array([params.m]), out)
    return np.asarray(out[0])


def left_out(
    params: Params,
    cells: Places,
    y: NDArray[np.intp],
    weight: FloatArray,
    strengths: Sequence[float] | None = None,
) -> FloatArray:
    """The same of counted rows, as if each had never been counted, under each ``m``.

    (strengths, rows, classes); all of them cost little more than one, since
    what is slow is to fetch the counts.
    """
    tried = np.array((params.m,) if strengths is None else strengths, dtype=np.float64)
    out = np.zeros((len(tried), len(cells), params.share.shape[1]))
    own = _own_shares(params, cells, y, weight)
    kernel.score(params.table, cells, tried, out, y, weight, own)
    return out


def _own_shares(
    params: Params, cells: Places, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """``P(v | c)`` of each row's values in its own class without it, (rows, columns)."""
    V = params.layout.n_cells
    own, w = y[:, None], weight[:, None]
    known = (cells >= 0) & (cells < V)
    had = np.where(known, params.amount[np.where(known, cells, 0), own], 0.0)
    left = np.maximum(had - np.where(known, w, 0.0), 0.0)
    rest = np.maximum(params.total.T[y] - np.where(known, w, 0.0), 0.0)
    return np.ascontiguousarray((left + params.lam) / (rest + params.sizes * params.lam))


def explain(params: Params, cells: Places) -> FloatArray:
    """Each column's part of ``log P(x | c)``: (rows, columns, classes), summing to it."""
    out = np.zeros((*cells.shape, params.share.shape[1]))
    kernel.explain(params.table, cells, params.m, out)
    return out
