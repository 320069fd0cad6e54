"""Keys of rows: numbers of 64 bits that are equal for rows that hold the same.

They depend on the values and the names of columns alone: not on the order of columns, nor on where
the rows come from. A whole number has the key of the float, and all zeros and all NaN are one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import keys as kernel
from deciban.kernels.texts import utf8
from deciban.labels import Labels
from deciban.sources.batch import Batch, LabelledBatch
from deciban.sources.columns import Booleans, Integers, Numbers, Strings, Times

__all__ = ["Keys", "content_keys", "label_keys", "mix", "row_keys", "seed_of"]

Keys = NDArray[np.uint64]
_Values = Numbers | Integers | Booleans | Times

#: Columns may be those of one matrix: so many of its rows stay in the cache.
BLOCK_ROWS = 4_096
#: The seed of labels: no column of a table is hashed by it.
_LABEL_SEED = 0x6465636962616E


def row_keys(batch: Batch, names: Iterable[str] | None = None) -> Keys:
    """A number of 64 bits for every row; two rows that differ share one once in 10**19 pairs.

    ``names`` are the columns by which rows are told apart; without them, all are.
    """
    return mix(hash_rows(batch, names))


def hash_rows(batch: Batch, names: Iterable[str] | None = None) -> Keys:
    """The exclusive or of the hashes of the values of every row, which are still to be mixed."""
    out = np.zeros(batch.n_rows, dtype=np.uint64)
    numbers: list[tuple[_Values, int]] = []
    for name in batch.columns if names is None else names:
        column, seed = batch.columns[name], seed_of(name)
        if isinstance(column, Strings):
            data, missing = np.ascontiguousarray(column.data), column.missing.view(np.uint8)
            kernel.add_texts(column.offsets, data, missing, seed, out)
        else:
            numbers.append((column, seed))
    for start in range(0, batch.n_rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, batch.n_rows)
        for values, seed in numbers:
            _add_values(values, slice(start, stop), seed, out[start:stop])
    return out


def label_keys(classes: Labels) -> Keys:
    """The hash of every class: equal for a whole number and the float that it is."""
    out = np.zeros(len(classes), dtype=np.uint64)
    if classes.dtype.kind in "biuf":
        kernel.add_numbers(classes.astype(np.float64), _LABEL_SEED, out)
        return out
    offsets, data, missing = utf8([str(value) for value in classes.tolist()])
    kernel.add_texts(offsets, data, missing.view(np.uint8), _LABEL_SEED, out)
    return out


@cache
def seed_of(name: str) -> int:
    """The seed by which the values of a column are hashed."""
    return int(kernel.hash_text(name.encode("utf-8", "surrogatepass"), 0))


def mix(keys: Keys) -> Keys:
    """Keys whose bits all depend on all bits of others."""
    out = np.array(keys)
    kernel.mix(out)
    return out


def _add_values(column: _Values, rows: slice, seed: int, out: Keys) -> None:
    if isinstance(column, Numbers):
        kernel.add_numbers(column.values[rows], seed, out)
        return
    values, missing = column.values[rows].astype(np.int64, copy=False), column.missing[rows]
    kernel.add_integers(values, missing.view(np.uint8), seed, out)


def content_keys(rows: LabelledBatch, names: Collection[str] | None = None) -> Keys:
    """The keys of labelled rows: of the columns that are named, or all, and of the label."""
    return mix(hash_rows(rows.batch, names) ^ label_keys(rows.classes)[rows.codes])
