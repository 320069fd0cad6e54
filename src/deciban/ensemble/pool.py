"""How far each view is believed: shares that are positive and add up to one.

The shares minimise the log loss of the pooled margins on rows that the views
have not seen, less ``STIFFNESS`` times the mean logarithm of the shares: where
rows are few, all views are believed about as far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble.margins import FloatArray, centred, losses, probabilities

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


def strengths(
    said: FloatArray, start: FloatArray, y: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """How far each of several voices is believed beside the others, never below zero.

    ``said`` is what each adds to margins ``start`` of rows it has not seen,
    (voices, rows, classes). Unlike shares, strengths do not add up to one: what
    two columns know of a row is added.

    >>> y = np.arange(400) % 2
    >>> said = np.stack([np.eye(2)[(y + (np.arange(400) % 10 == 0)) % 2], np.zeros((400, 2))])
    >>> strengths(said, np.zeros((400, 2)), y, np.ones(400)).round(1)
    array([2.2, 0.5])
    """
    from scipy.optimize import minimize

    rows = np.arange(len(y))
    usual = 1 / len(said)

    def objective(b: FloatArray) -> tuple[float, FloatArray]:
        margins = start + np.tensordot(b, said, 1)
        miss = probabilities(margins)
        miss[rows, y] -= 1.0
        slope = np.tensordot(said, miss * weight[:, None], ((1, 2), (0, 1)))
        value = float(weight @ losses(margins, y) + 0.5 * np.sum((b - usual) ** 2))
        return value, slope + b - usual

    bounds = [(0.0, None)] * len(said)
    found = minimize(objective, np.full(len(said), usual), jac=True, bounds=bounds)
    return np.asarray(found.x)


def _softmax(t: FloatArray) -> FloatArray:
    out = np.exp(t - t.max())
    return np.asarray(out / out.sum())
