"""The curvature of the rows' losses, by pairs of scores.

The Hessian is a square of blocks: for scores k and q, ``X' diag(a_kq) X`` with
``a_kq = w p_k ((k == q) - p_q)``. Blocks of k, q and of q, k are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def weights(proba: FloatArray, weight: FloatArray | None) -> FloatArray:
    """``a_kq`` of every row, (rows, pairs), for q up to k.

    >>> weights(np.array([[0.25]]), None), weights(np.array([[0.5, 0.5]]), None)
    (array([[0.1875]]), array([[ 0.25, -0.25,  0.25]]))
    """
    w = 1.0 if weight is None else weight[:, None]
    k, q = np.tril_indices(proba.shape[1])
    if proba.shape[1] == 1:
        return np.asarray(w * proba * (1 - proba))
    return np.asarray((w * proba).take(k, axis=1) * ((k == q) - proba.take(q, axis=1)))


def assembled(blocks: FloatArray, n_scores: int) -> FloatArray:
    """The square over (width, scores) from its blocks, (pairs, width, width).

    >>> assembled(np.array([[[1.0]], [[2.0]], [[3.0]]]), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    size = blocks.shape[1]
    out = np.empty((size, n_scores, size, n_scores))
    for block, k, q in zip(blocks, *np.tril_indices(n_scores), strict=True):
        out[:, k, :, q] = block
        out[:, q, :, k] = block
    return out.reshape(size * n_scores, size * n_scores)
