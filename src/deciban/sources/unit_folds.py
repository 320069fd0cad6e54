"""Folds that leave rows together which belong together: whole groups, or what comes later.

- Groups are dealt out whole, the classes of the folds as even as that lets them be.
- Times give forward folds: the first half of the rows is always fitted to, and the rest is held
  out in turn, each part when all that came before it has been fitted to.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.sources.batch import Units
from deciban.sources.labelled import LabelledBatch
from deciban.sources.row_keys import Keys, mix
from deciban.sources.row_sample import RowSample

FloatArray = NDArray[np.float64]
RowIndices = NDArray[np.intp]
#: The rows that a fold is fitted to, and those it holds out.
Split = tuple[RowIndices, RowIndices]

#: The share of the rows, the first in time, that no forward fold holds out.
FIRST_SHARE = 0.5


class UnitDeal(NamedTuple):
    """Different rows of each unit, the weight of each, their units, and the splits."""

    rows: RowIndices
    weight: FloatArray
    units: Units
    splits: list[Split]


def deal_units(
    keys: Keys, y: RowIndices, weight: FloatArray, units: Units, seed: int, n_folds: int
) -> UnitDeal:
    """Rows by their keys, which are equal for equal rows: those of a unit are in one fold."""
    unit, mixed = units.codes(), mix(keys + np.uint64(seed))
    order = np.lexsort((mixed, y, unit))
    columns = (mixed[order], y[order], unit[order])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    first = np.flatnonzero(new)
    at, total = order[first], np.add.reduceat(weight[order], first)
    if units.kind == "group":
        hashes = mix(units.values[at] + np.uint64(seed))
        fold = _group_folds(unit[at], hashes, y[at], total, n_folds)
        # In no order: some of them are looked at.
        shuffled = np.lexsort((mixed[at], hashes))
        at, total, fold = at[shuffled], total[shuffled], fold[shuffled]
        return UnitDeal(at, total, units.take(at), _splits(fold, forward=False))
    fold = _time_folds(unit[at], total, n_folds)
    return UnitDeal(at, total, replace(units, values=fold), _splits(fold, forward=True))


def _group_folds(
    unit: RowIndices, hashes: Keys, y: RowIndices, weight: FloatArray, n_folds: int
) -> RowIndices:
    """The fold of every row: each group goes where the classes become most even.

    Groups that differ most in their classes go first; those that are equal, by their hash.
    """
    n_units, n_classes = int(unit.max()) + 1, int(y.max()) + 1
    by_class = np.zeros((n_units, n_classes))
    np.add.at(by_class, (unit, y), weight)
    order = np.lexsort(
        (_first(hashes, unit, n_units), -by_class.std(axis=1), -by_class.max(axis=1))
    )
    share = by_class / np.maximum(by_class.sum(axis=0), np.finfo(float).tiny)
    folds, out = np.zeros((n_folds, n_classes)), np.zeros(n_units, dtype=np.intp)
    for group in order.tolist():
        # What a group adds to the squares of a fold is least where there is most room.
        room = folds @ share[group]
        out[group] = np.lexsort((folds.sum(axis=1), room))[0]
        folds[out[group]] += share[group]
    return out[unit]


def _first(values: Keys, unit: RowIndices, n_units: int) -> Keys:
    out = np.zeros(n_units, dtype=np.uint64)
    out[unit] = values
    return out


def _time_folds(unit: RowIndices, weight: FloatArray, n_folds: int) -> RowIndices:
    """The part of every row in the order of time: 0 is always fitted to, the others held out.

    >>> _time_folds(np.arange(10), np.ones(10), n_folds=5)
    array([0, 0, 0, 0, 0, 1, 2, 3, 4, 5])
    """
    by_unit = np.bincount(unit, weight)
    before = np.cumsum(by_unit) - by_unit
    late = before / by_unit.sum() - FIRST_SHARE
    part = np.floor(late / (1 - FIRST_SHARE) * n_folds + 1e-9).astype(np.intp) + 1
    part = np.clip(part, 0, n_folds)
    if not part.any():
        part[-1] = 1  # more than half of all rows are of the last time
    return np.asarray(part[unit])


def _splits(fold: RowIndices, *, forward: bool) -> list[Split]:
    """The rows that each fold is fitted to, and those it holds out; none without both."""
    splits = [
        (np.flatnonzero(fold < k if forward else fold != k), np.flatnonzero(fold == k))
        for k in np.unique(fold)
    ]
    return [(inside, held) for inside, held in splits if len(inside)]


def some_rows(whole: LabelledBatch, max_rows: int, content: Collection[str]) -> LabelledBatch:
    """No more rows than this, if that can be: whole groups, or the last rows in time.

    ``content`` are the columns that tell rows apart.
    """
    units = whole.units
    if units is None:
        sample = RowSample(max_rows)
        sample.add(whole, content)
        return sample.batches[0]
    values = units.values
    order = np.argsort(values if units.kind == "group" else -units.codes(), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(units.codes()[order])) + 1, len(order))
    last = max(int(np.searchsorted(ends, max_rows, side="right")) - 1, min(1, len(ends) - 1))
    return whole.take(np.sort(order[: int(ends[last])]))
