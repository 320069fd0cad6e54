"""The Hessian of the rows' losses, by pairs of logits.

It is a square of blocks: for logits k and q, ``X' diag(a_kq) X`` with
``a_kq = w p_k ((k == q) - p_q)``. The blocks k, q and q, k are equal, so pairs are those
with q <= k, in the order of ``np.tril_indices``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def pair_weights(proba: FloatArray, weight: FloatArray | None) -> FloatArray:
    """``a_kq`` of every row, (n, pairs).

    >>> pair_weights(np.array([[0.25]]), None), pair_weights(np.array([[0.5, 0.5]]), None)
    (array([[0.1875]]), array([[ 0.25, -0.25,  0.25]]))
    """
    w = 1.0 if weight is None else weight[:, None]
    k, q = np.tril_indices(proba.shape[1])
    if proba.shape[1] == 1:
        return np.asarray(w * proba * (1 - proba))
    return np.asarray((w * proba).take(k, axis=1) * ((k == q) - proba.take(q, axis=1)))


def assemble(blocks: FloatArray, n_logits: int) -> FloatArray:
    """The Hessian over W's coefficients in C order from its blocks, (pairs, width, width).

    >>> assemble(np.array([[[1.0]], [[2.0]], [[3.0]]]), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    width = blocks.shape[1]
    out = np.empty((width, n_logits, width, n_logits))
    for block, k, q in zip(blocks, *np.tril_indices(n_logits), strict=True):
        out[:, k, :, q] = block
        out[:, q, :, k] = block
    return out.reshape(width * n_logits, width * n_logits)
