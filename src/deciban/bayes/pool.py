"""How far each view is believed: shares that are positive and add up to one.

The shares minimise the log loss of the pooled margins on rows that the views
have not seen, less ``STIFFNESS`` times the mean logarithm of the shares: where
rows are few, all views are believed about as far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.bayes.margins import FloatArray, centred, losses, probabilities

#: As if this many rows, in nats, spoke for equal shares.
STIFFNESS = 15.0


def shares(views: Sequence[FloatArray], y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    """The share of each view, given its margins (rows, classes) of rows it has not seen.

    >>> y = np.arange(400) % 2
    >>> good, useless = np.eye(2)[y] * 3, np.zeros((400, 2))
    >>> shares([good, useless], y, np.ones(400)).round(1)
    array([0.9, 0.1])
    """
    from scipy.optimize import minimize

    stacked = np.stack([centred(view) for view in views])
    rows = np.arange(len(y))

    def objective(t: FloatArray) -> tuple[float, FloatArray]:
        share = _softmax(t)
        pooled = np.tensordot(share, stacked, 1)
        miss = probabilities(pooled)
        miss[rows, y] -= 1.0
        slope = np.tensordot(stacked, miss * weight[:, None], ((1, 2), (0, 1)))
        value = float(weight @ losses(pooled, y) - STIFFNESS * np.mean(np.log(share)))
        return value, share * (slope - share @ slope) + STIFFNESS * (share - 1 / len(share))

    found = minimize(objective, np.zeros(len(stacked)), jac=True, method="L-BFGS-B")
    return _softmax(found.x)


def _softmax(t: FloatArray) -> FloatArray:
    out = np.exp(t - t.max())
    return np.asarray(out / out.sum())
