"""Where to cut a column of numbers into bins, given each class's counts in order.

``counts`` is (classes, keys), the keys in the order of their values. A cut is
the position of the first key of a new bin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Cuts = NDArray[np.intp]

#: Every key a bin of its own; bins by minimum description length.
EACH, MDL = 0, -1


def cut_points(counts: FloatArray, bins: int) -> Cuts:
    """The cuts of a rule: a number of bins of equal frequency, ``EACH`` or ``MDL``.

    >>> counts = np.array([[5.0, 5, 0, 0], [0.0, 0, 5, 5]])
    >>> cut_points(counts, MDL), cut_points(counts, 4)
    (array([2]), array([1, 2, 3]))
    """
    n_keys = counts.shape[1]
    if n_keys < 2:
        return np.empty(0, dtype=np.intp)
    if bins == EACH:
        return np.arange(1, n_keys)
    return by_description(counts) if bins == MDL else equal_frequency(counts, bins)


def cut_columns(columns: Sequence[FloatArray], rules: Sequence[int]) -> list[Cuts]:
    """The cuts of each of some columns by its own rule."""
    return [cut_points(counts, rule) for counts, rule in zip(columns, rules, strict=True)]


def equal_frequency(counts: FloatArray, bins: int) -> Cuts:
    """At most ``bins`` bins of about the same weight; equal values stay together.

    >>> equal_frequency(np.array([[1.0, 1, 1, 1, 1, 1]]), 3)
    array([2, 4])
    """
    below = np.cumsum(counts.sum(axis=0))
    wanted = below[-1] * np.arange(1, bins) / bins
    cuts = np.searchsorted(below, wanted * (1 - 1e-12)) + 1
    cuts = cuts[cuts < counts.shape[1]]
    new = np.diff(cuts, prepend=0) > 0  # they are in order; np.unique would import numpy.ma
    return np.asarray(cuts[new])


def even(counts: FloatArray, bins: int) -> Cuts:
    """Cuts of equal frequency in which a value fills no more than one bin, however often it occurs.

    The other values are cut as if it were not there.

    >>> counts = np.array([[94.0, 1, 1, 1, 1, 1, 1]])
    >>> equal_frequency(counts, 4), even(counts, 4)
    (array([1]), array([1, 3, 5]))
    """
    total = counts.sum(axis=0)
    if np.count_nonzero(total) <= bins:
        return cut_points(counts, EACH)
    size, before = total.sum() / bins, np.inf
    while size < before * (1 - 1e-9):
        before, size = size, np.minimum(total, size).sum() / bins
    return equal_frequency(np.minimum(total, size)[None], bins)


def by_description(counts: FloatArray) -> Cuts:
    """Split where that shortens the description of the classes, and so on in both parts.

    >>> by_description(np.array([[9.0, 1, 9, 1], [1.0, 9, 1, 9]]))
    array([], dtype=int64)
    """
    below = np.concatenate([np.zeros((1, len(counts))), np.cumsum(counts.T, axis=0)])
    cuts: list[int] = []
    parts = [(0, counts.shape[1])]
    while parts:
        start, stop = parts.pop()
        cut = _split(below, start, stop)
        if cut is not None:
            cuts.append(cut)
            parts += [(start, cut), (cut, stop)]
    return np.array(sorted(cuts), dtype=np.intp)


def _split(below: FloatArray, start: int, stop: int) -> int | None:
    """The best cut of a part, if it pays for itself."""
    whole = below[stop] - below[start]
    total = whole.sum()
    if stop - start < 2 or total < 2:
        return None
    left = below[start + 1 : stop] - below[start]
    right = whole - left
    mixed = (left.sum(1) * _entropy(left) + right.sum(1) * _entropy(right)) / total
    best = int(np.argmin(mixed))
    sides = whole, left[best], right[best]
    k, k1, k2 = (int(np.count_nonzero(side)) for side in sides)
    e, e1, e2 = (float(_entropy(side)) for side in sides)
    labellings = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k)  # log2(3**k - 2)
    cost = np.log2(total - 1) + labellings - (k * e - k1 * e1 - k2 * e2)
    return start + 1 + best if e - mixed[best] > cost / total else None


def _entropy(counts: FloatArray) -> FloatArray:
    """In bits, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(total > 0, total, 1.0)
    return np.asarray(-np.sum(share * np.log2(np.where(share > 0, share, 1.0)), axis=-1))
