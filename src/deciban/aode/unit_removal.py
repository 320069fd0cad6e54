"""Rows scored by the pair counts that are left when whole groups of rows are taken away.

Each unit of rows is taken out of one table of pairs, scored, and put back, if it is a group; units
of time are taken out from the last one on, and stay out. Weights that are not whole round when
they are put back: then a new copy of the table is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.aode.one_dependence import AODEParameters, Places, as_unseen, estimate_cells
from deciban.families.remaining import Remaining
from deciban.kernels import pairs as kernel
from deciban.stats import rounding

FloatArray = NDArray[np.float64]
RowIndices = NDArray[np.intp]


def leave_out(
    params: AODEParameters,
    missing: Sequence[bool],
    cells: Places,
    remaining: Remaining,
    strengths: Sequence[float],
    scored: RowIndices,
) -> FloatArray:
    """``log P(x | c)`` of the ``scored`` rows by what is left: (strengths, rows, classes).

    ``missing`` is whether "missing" is a value of its own, by column.
    """
    tried = np.array(strengths, dtype=np.float64)
    place = np.full(len(cells), -1)
    place[scored] = np.arange(len(scored))
    out = np.zeros((len(tried), len(scored), params.share.shape[1]))
    for rows, left in _units(params, cells, remaining):
        some = rows[place[rows] >= 0]
        if not len(some):
            continue
        part = np.zeros((len(tried), len(some), out.shape[2]))
        parameters = left.estimate(missing)
        places = np.ascontiguousarray(as_unseen(parameters, cells[some]))
        kernel.score(parameters.kernel_table(), places, tried, part)
        out[:, place[some]] = part
    return out


@dataclass(eq=False)
class _Counts:
    """The weights of pairs and of cells, (V, K), from which rows are taken away in place."""

    params: AODEParameters
    pairs: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, params: AODEParameters) -> _Counts:
        return cls(params, params.pairs.copy(), params.weight.copy())

    def add(self, cells: NDArray[np.int32], y: RowIndices, weight: FloatArray) -> None:
        """Add rows of some weights, below zero to take them away."""
        layout = self.params.layout
        kernel.count(cells, y, weight, layout.start, 0, cells.shape[1], self.pairs)
        np.add.at(self.weight, (cells, y[:, None]), weight[:, None])

    def drop_rounding(self) -> None:
        """What fractional weights leave of nothing is nothing."""
        for mine, whole in ((self.pairs, self.params.pairs), (self.weight, self.params.weight)):
            mine[np.abs(mine) <= rounding.ROUNDING * whole] = 0.0

    def estimate(self, missing: Sequence[bool]) -> AODEParameters:
        """The parameters of what is left; smoothing and the values of columns stay."""
        known = self.params
        return estimate_cells(
            known.layout,
            self.pairs,
            self.weight,
            known.open,
            known.lam,
            known.m,
            missing,
            known.min_support,
        )


def _units(
    params: AODEParameters, cells: Places, remaining: Remaining
) -> Iterator[tuple[RowIndices, _Counts]]:
    """The rows of every unit, and the counts that are left for them at that moment."""
    hole = params.layout.first[:-1]
    counted = np.ascontiguousarray(np.where(cells < 0, hole, cells), dtype=np.int32)
    order = np.argsort(remaining.unit, kind="stable")
    ends = np.flatnonzero(np.diff(remaining.unit[order])) + 1
    whole = bool(np.all(remaining.weight == np.floor(remaining.weight)))
    counts = _Counts.of(params)
    for rows in reversed(np.split(order, ends)):
        taken = counted[rows], remaining.y[rows], remaining.weight[rows]
        counts.add(*taken[:2], -taken[2])
        if not whole:
            counts.drop_rounding()
        yield rows, counts
        if remaining.subtracts and whole:
            counts.add(*taken)
        elif remaining.subtracts:
            counts = _Counts.of(params)
