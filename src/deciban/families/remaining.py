"""What is left of counts for each of some counted rows, when more than the row is taken away.

A row that comes from the same patient, the same author or the same campaign as others is not
judged fairly by counts that hold those. So whole *units* of rows are taken away at once:

- :class:`WithoutGroup`: a row is judged by all rows but those of its group;
- :class:`BeforeTime`: a row is judged by the rows before its time; those of its own time and
  later ones are taken away.

Conventions
-----------
- All rows of a unit are there, with the weight that they were counted with; of times, all rows,
  unless others came before all of these.
- ``y`` are classes, ``unit`` the unit of every row, numbered from 0; times in their order.
- What is left is given for every row and class, (rows, classes).
- Counts that fractional weights leave as rounding are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Labels
from deciban.sources.labelled import LabelledBatch
from deciban.stats import rounding

__all__ = [
    "BeforeTime",
    "Remaining",
    "UnitLeft",
    "WithoutGroup",
    "left_by_unit",
    "remaining_rows",
]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Remaining(Protocol):
    """Counted rows, each judged by what is left without its unit."""

    @property
    def unit(self) -> NDArray[np.intp]:
        """The unit of every row."""

    @property
    def y(self) -> NDArray[np.intp]:
        """The class of every row."""

    @property
    def weight(self) -> FloatArray:
        """The weight of every row."""

    @property
    def n_classes(self) -> int:
        """How many classes there are."""

    @property
    def subtracts(self) -> bool:
        """Whether what is left is a difference of sums, in which digits may cancel."""

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Some rows, also more than once; what is left is then left of those."""

    def left(self, total: FloatArray, values: FloatArray | None = None) -> FloatArray:
        """What is left of the sum over all rows of their values: ``total``, (classes,)."""

    def left_alike(
        self, total: FloatArray, codes: Codes, values: FloatArray | None = None
    ) -> FloatArray:
        """What is left of sums over rows of the same code: ``total`` of each row, (rows, classes).

        A row without a code has a negative one.
        """

    def none_left_to(self, codes: Codes, weight: FloatArray) -> Mask:
        """Whether no row is left whose code is that of each row or a lesser one.

        ``weight`` is that of all counted rows of such a code.
        """

    def n_lost(self, rows: NDArray[np.intp], codes: Codes, stays: Mask) -> FloatArray:
        """How many different codes are lost for each row, of which a row may have many.

        Entry i is the code ``codes[i]`` of row ``rows[i]``, and ``stays[i]`` whether it is left.
        """

    def removed(self, unit: int) -> Mask:
        """The rows that are taken away where a unit is judged."""


@dataclass(frozen=True, eq=False)
class WithoutGroup:
    """Rows that are judged by all rows but those of their group.

    >>> rows = WithoutGroup(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), 2)
    >>> rows.left(np.array([5.0, 5.0]))
    array([[4., 4.],
           [4., 4.],
           [5., 4.]])
    """

    unit: NDArray[np.intp]
    y: NDArray[np.intp]
    weight: FloatArray
    n_classes: int

    subtracts = True

    def take(self, rows: NDArray[np.intp]) -> WithoutGroup:
        """Some rows, also more than once."""
        return replace(self, unit=self.unit[rows], y=self.y[rows], weight=self.weight[rows])

    def left(self, total: FloatArray, values: FloatArray | None = None) -> FloatArray:
        """The total less that of the row's group."""
        unit, n_units = self.unit, int(self.unit.max(initial=-1)) + 1
        gone = _sum(unit, self, values, n_units)
        return rounding.difference(np.broadcast_to(total, gone.shape), gone)[unit]

    def left_alike(
        self, total: FloatArray, codes: Codes, values: FloatArray | None = None
    ) -> FloatArray:
        """The totals less what rows of the group have of the same code."""
        _, pair = self._pairs(codes)
        gone = _sum(pair, self, values, int(pair.max(initial=-1)) + 1)[pair]
        return np.where(codes[:, None] >= 0, rounding.difference(total, gone), total)

    def none_left_to(self, codes: Codes, weight: FloatArray) -> Mask:
        """Whether all rows of such codes are of the group."""
        keys, pair = self._pairs(codes)
        by_pair = np.bincount(pair, self.weight, len(keys))
        total = np.concatenate([np.zeros(1), np.cumsum(by_pair)])
        unit = keys // _n_codes(codes)
        start = np.searchsorted(unit, unit, side="left")
        gone = rounding.difference(total[1:], total[start])
        return np.asarray(rounding.difference(weight, gone[pair]) <= 0)

    def n_lost(self, rows: NDArray[np.intp], codes: Codes, stays: Mask) -> FloatArray:
        """How many different codes only the group has."""
        lost = np.flatnonzero(~stays)
        keys = np.unique(self.unit[rows[lost]] * _n_codes(codes) + codes[lost])
        n_units = int(self.unit.max(initial=-1)) + 1
        return np.bincount(keys // _n_codes(codes), minlength=n_units).astype(float)[self.unit]

    def removed(self, unit: int) -> Mask:
        """The rows of the group."""
        return np.asarray(self.unit == unit)

    def _pairs(self, codes: Codes) -> tuple[Codes, NDArray[np.intp]]:
        """The different pairs of a group and a code, in their order, and the pair of each row."""
        return np.unique(
            self.unit * _n_codes(codes) + np.maximum(codes, -1) + 1, return_inverse=True
        )


@dataclass(frozen=True, eq=False)
class BeforeTime:
    """Rows that are judged by the rows before their time.

    What is counted besides these rows came before all of them.

    >>> rows = BeforeTime(np.array([1, 0, 2]), np.array([0, 1, 1]), np.ones(3), 2)
    >>> rows.left(np.array([1.0, 2.0]))
    array([[0., 1.],
           [0., 0.],
           [1., 1.]])
    """

    unit: NDArray[np.intp]
    y: NDArray[np.intp]
    weight: FloatArray
    n_classes: int

    subtracts = False

    def take(self, rows: NDArray[np.intp]) -> BeforeTime:
        """Some rows, also more than once."""
        return replace(self, unit=self.unit[rows], y=self.y[rows], weight=self.weight[rows])

    def left(self, total: FloatArray, values: FloatArray | None = None) -> FloatArray:
        """The sum of the rows before."""
        by_time = _sum(self.unit, self, values, self._n_times)
        left = _before(by_time) + rounding.difference(total, by_time.sum(axis=0))
        return np.asarray(left[self.unit])

    def left_alike(
        self, total: FloatArray, codes: Codes, values: FloatArray | None = None
    ) -> FloatArray:
        """The sums of the rows before of the same code."""
        code = np.maximum(codes, -1) + 1
        keys, pair = np.unique(code * self._n_times + self.unit, return_inverse=True)
        before = _before(_sum(pair, self, values, len(keys)))
        of = keys // max(self._n_times, 1)
        first = np.searchsorted(of, of, side="left")
        out = rounding.difference(before, before[first])[pair]
        all_rows = _sum(code, self, values, int(code.max(initial=-1)) + 1)[code]
        out += rounding.difference(total, all_rows)
        return np.where(codes[:, None] >= 0, out, total)

    def none_left_to(self, codes: Codes, weight: FloatArray) -> Mask:
        """Whether no row before has such a code."""
        least = np.full(self._n_times + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, self.unit + 1, codes)
        none = np.minimum.accumulate(least)[self.unit] > codes
        order = np.argsort(codes, kind="stable")
        total = np.cumsum(self.weight[order])
        mine = total[np.searchsorted(codes[order], codes, side="right") - 1]
        return np.asarray(none & (rounding.difference(weight, mine) <= 0))

    def n_lost(self, rows: NDArray[np.intp], codes: Codes, stays: Mask) -> FloatArray:
        """How many different codes no row before has."""
        first = np.full(_n_codes(codes), self._n_times)
        np.minimum.at(first, codes, self.unit[rows])
        # One that is left for the first row which has it was counted before all of these.
        old = np.unique(codes[stays & (first[codes] == self.unit[rows])])
        first[old] = self._n_times
        new = np.bincount(first[first < self._n_times], minlength=self._n_times)
        return np.asarray(new.sum() - (np.cumsum(new) - new), dtype=np.float64)[self.unit]

    def removed(self, unit: int) -> Mask:
        """The rows of that time and of later ones."""
        return np.asarray(self.unit >= unit)

    @cached_property
    def _n_times(self) -> int:
        return int(self.unit.max(initial=-1)) + 1


def _sum(at: NDArray[np.intp], rows: Remaining, values: FloatArray | None, size: int) -> FloatArray:
    """The weighted sum of values by place and class, (places, classes)."""
    weight = rows.weight if values is None else rows.weight * values
    table = np.bincount(at * rows.n_classes + rows.y, weight, size * rows.n_classes)
    return table.astype(np.float64, copy=False).reshape(size, rows.n_classes)


def _before(by_time: FloatArray) -> FloatArray:
    """The sum of all lines above each."""
    none = np.zeros((1, by_time.shape[1]))
    return np.concatenate([none, np.cumsum(by_time, axis=0)])[: len(by_time)]


def _n_codes(codes: Codes) -> int:
    """How many codes there are, with one for none of them."""
    return int(codes.max(initial=-1)) + 2


class UnitLeft(NamedTuple):
    """The rows of a unit, the entries that are theirs, and what is left, (classes, columns)."""

    rows: NDArray[np.intp]
    entries: NDArray[np.intp]
    left: FloatArray


def left_by_unit(
    remaining: Remaining,
    row: NDArray[np.intp],
    column: NDArray[np.integer[Any]],
    amount: FloatArray,
    total: FloatArray,
) -> Iterator[UnitLeft]:
    """What is left of ``total``, (classes, columns), for every unit in turn.

    Entry i is an amount of a row in a column; ``total`` are the weighted sums over all rows.
    """
    cell = remaining.y[row] * total.shape[1] + column
    added, flat = remaining.weight[row] * amount, total.ravel()
    rows, entries = _by_unit(remaining.unit), _by_unit(remaining.unit[row])
    empty = np.empty(0, dtype=np.intp)
    before = rounding.difference(flat, _sum_cells(cell, added, flat.size))
    for unit, mine in rows.items():
        own = entries.get(unit, empty)
        counted = _sum_cells(cell[own], added[own], flat.size)
        left = rounding.difference(flat, counted) if remaining.subtracts else before
        yield UnitLeft(mine, own, np.maximum(left, 0.0).reshape(total.shape))
        before = before + counted


def _sum_cells(cell: NDArray[np.intp], values: FloatArray, size: int) -> FloatArray:
    return np.bincount(cell, values, size).astype(np.float64, copy=False)


def _by_unit(unit: NDArray[np.intp]) -> dict[int, NDArray[np.intp]]:
    """The places of every unit, in their order."""
    order = np.argsort(unit, kind="stable")
    first = np.flatnonzero(np.diff(unit[order], prepend=-1))
    return dict(zip(unit[order[first]].tolist(), np.split(order, first[1:]), strict=False))


def remaining_rows(part: LabelledBatch, classes: Labels) -> Remaining | None:
    """What is left for rows that belong to groups or times; None where they do not.

    Of groups all rows must be there; of times all rows, in any order.
    """
    if part.units is None:
        return None
    of = WithoutGroup if part.units.kind == "group" else BeforeTime
    return of(part.units.codes(), part.codes_among(classes), part.weights, len(classes))
