"""Counts in shards: each has the values whose keys lie in its range, so that none is large.

The key of a value is a hash of what it is and of its column. Grids and moments are bounded however
many rows there are, and stay in the first shard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from deciban.sources.row_keys import label_keys, mix, seed_of
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.table import Table
from deciban.stats.words import WORDS

__all__ = ["add_cells", "join", "split"]

_DIVIDED = {CATEGORIES.name, WORDS.name}


def split(counts: Counts, n_shards: int) -> list[Counts]:
    """The counts in so many shards; all of them know the weight of the rows.

    >>> counts = Counts.of({"size": ["S", "M", "L", "S"]}, [1, 1, 2, 2])
    >>> join(split(counts, 3)) == counts
    True
    """
    shard_of = {
        name: _shards(table.cells, n_shards)
        for name, table in counts.tables.items()
        if table.statistic.name in _DIVIDED
    }
    return [
        replace(
            counts,
            tables={
                name: _some(table, shard_of[name] == shard) if name in shard_of else table
                for name, table in counts.tables.items()
                if name in shard_of or shard == 0
            },
        )
        for shard in range(n_shards)
    ]


def join(shards: Iterable[Counts]) -> Counts:
    """The counts of all shards together, in any order."""
    return reduce(add_cells, shards)


def add_cells(counts: Counts, more: Counts) -> Counts:
    """The counts with cells of the same rows that are not among them yet."""
    none = np.zeros(len(more.classes))
    tables = {
        name: replace(table, rows=none) if name in counts.tables else table
        for name, table in more.tables.items()
    }
    return counts + Counts(more.classes, none, tables)


def _some(table: Table, keep: NDArray[np.bool_]) -> Table:
    return table.select(np.ones(len(table.rows), dtype=bool), keep)


def _shards(cells: Cells, n_shards: int) -> NDArray[np.intp]:
    """The shard of every cell: in which of so many ranges its key lies."""
    if cells.values is None:
        keys = label_keys(cells.columns)
    else:
        columns = zip(cells.columns.tolist(), cells.values, strict=True)
        own = [label_keys(values) ^ np.uint64(seed_of(str(name))) for name, values in columns]
        keys = np.concatenate([np.empty(0, dtype=np.uint64), *own])
    high = mix(keys) >> np.uint64(32)
    return np.asarray(high * np.uint64(n_shards) >> np.uint64(32), dtype=np.intp)
