"""Folds: which rows are held out together.

Rows that are alike are one row of more weight, and a row of weight k is k rows:
both are dealt out in the same way, so that weights are worth copies. Which fold
a row falls into depends on what it holds and on the seed, not on its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Labels
from deciban.sources.columns import Strings

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]
Keys = NDArray[np.uint64]

#: How many folds there are.
FOLDS = 5
#: No row is dealt out in more parts: floats must tell them apart.
MOST_COPIES = 1e6
#: Odd numbers that stir all bits (the finaliser of splitmix64).
_STIR = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class Dealt:
    """Different rows, the weight of each, and its fold; one may be in several folds."""

    rows: Rows
    weight: FloatArray
    fold: Rows


def deal(
    keys: Keys, y: NDArray[np.intp], weight: FloatArray, seed: int, n_folds: int = FOLDS
) -> Dealt:
    """Rows by their keys, which are equal for equal rows: shuffled, each class dealt out evenly.

    >>> keys, y = np.array([7, 8, 7, 7], dtype=np.uint64), np.zeros(4, dtype=np.intp)
    >>> dealt = deal(keys, y, np.ones(4), seed=0, n_folds=2)
    >>> sorted(zip(keys[dealt.rows].tolist(), dealt.weight.tolist()))
    [(7, 1.0), (7, 2.0), (8, 1.0)]
    """
    stirred = _stirred(keys + np.uint64(seed))
    order = np.lexsort((stirred, y))
    new = np.diff(stirred[order], prepend=stirred[order][:1]) != 0
    new |= np.diff(y[order], prepend=-1) != 0
    first = np.flatnonzero(new)
    total = np.add.reduceat(weight[order], first)
    copies = np.clip(np.ceil(total), 1.0, MOST_COPIES)
    end = np.cumsum(copies)
    ends = np.stack([end - copies, end])[:, :, None] + np.arange(n_folds)
    parts = np.diff(np.floor(ends / n_folds), axis=0)[0]  # copies in each fold
    at, fold = np.nonzero(parts)
    return Dealt(order[first][at], parts[at, fold] * (total / copies)[at], fold)


def split(folds: Rows) -> list[tuple[Rows, Rows]]:
    """The rows that each fold learns from, and those it holds out; none without both.

    >>> split(np.array([0, 1, 0]))
    [(array([1]), array([0, 2])), (array([0, 2]), array([1]))]
    """
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))
        for fold in np.unique(folds)
        if np.any(folds != fold)
    ]


# ---------------------------------------------------------------------- what a row holds


def keys(
    numbers: FloatArray,
    codes: NDArray[np.int64],
    values: Sequence[Labels],
    texts: Sequence[Strings],
) -> Keys:
    """A number of 64 bits for every row; two rows that differ share one once in 10**19 pairs."""
    out = np.zeros(len(numbers), dtype=np.uint64)
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, one zero
    for column in plain.T:
        out = _stirred(out + np.ascontiguousarray(column).view(np.uint64))
    for j, known in enumerate(values):
        # By their names: codes depend on the order in which values were seen.
        names = _digests(str(value).encode() for value in [*known.tolist(), ""])
        out = _stirred(out + names[codes[:, j]])
    for text in texts:
        data = text.data.tobytes()
        ends = zip(text.offsets[:-1].tolist(), text.offsets[1:].tolist(), strict=True)
        out = _stirred(out + _digests(data[start:end] for start, end in ends))
    return out


def _digests(values: Iterable[bytes]) -> Keys:
    found = [int.from_bytes(blake2b(value, digest_size=8).digest(), "little") for value in values]
    return np.array(found, dtype=np.uint64)


def _stirred(of: Keys) -> Keys:
    out = of + np.uint64(0x9E3779B97F4A7C15)
    for factor, shift in zip(_STIR, (30, 27), strict=True):
        out = (out ^ (out >> np.uint64(shift))) * factor
    return np.asarray(out ^ (out >> np.uint64(31)))
