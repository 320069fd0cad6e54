"""Folds: which rows are held out together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]

#: How many folds there are.
FOLDS = 5


def assign(y: NDArray[np.intp], seed: int, n_folds: int = FOLDS) -> Rows:
    """The fold of every row: shuffled, each class dealt out evenly.

    >>> folds = assign(np.array([0] * 10 + [1] * 5), seed=0)
    >>> np.bincount(folds), np.bincount(folds[10:])
    (array([3, 3, 3, 3, 3]), array([1, 1, 1, 1, 1]))
    """
    shuffled = np.random.default_rng(seed).permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    out = np.empty(len(y), dtype=np.intp)
    out[by_class] = np.arange(len(y)) % n_folds
    return out


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
