"""Margins: a number for every row and class, whose softmax is a view's probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def centred(margins: FloatArray) -> FloatArray:
    """The same probabilities, with a mean of zero over the classes.

    >>> centred(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    return np.asarray(margins - margins.mean(axis=-1, keepdims=True))


def probabilities(margins: FloatArray) -> FloatArray:
    """The softmax of each row.

    >>> probabilities(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    out = np.exp(margins - margins.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return np.asarray(out)


def losses(margins: FloatArray, y: NDArray[np.intp]) -> FloatArray:
    """Minus the log-probability of the truth, row by row."""
    top = margins.max(axis=1)
    total = np.log(np.exp(margins - top[:, None]).sum(axis=1))
    return np.asarray(top + total - margins[np.arange(len(y)), y])


def loss(margins: FloatArray, y: NDArray[np.intp], weight: FloatArray) -> float:
    """The mean loss of weighted rows.

    >>> bool(loss(np.zeros((2, 2)), np.array([0, 1]), np.ones(2)) == np.log(2))
    True
    """
    return float(weight @ losses(margins, y) / weight.sum())


def prior(y: NDArray[np.intp], weight: FloatArray, n_classes: int) -> FloatArray:
    """The margins of knowing only how frequent the classes are, one row more of each.

    >>> prior(np.array([0, 0, 0, 1]), np.ones(4), 2) * 2 / np.log(2)
    array([ 1., -1.])
    """
    return centred(np.log(np.bincount(y, weight, n_classes) + 1.0))


def one_score(margins: FloatArray) -> FloatArray:
    """As a logistic regression has them: of two classes, the second against the first."""
    return np.ascontiguousarray(
        margins[:, 1:] - margins[:, :1] if margins.shape[1] == 2 else margins
    )


def all_scores(scores: FloatArray) -> FloatArray:
    """One column a class, the inverse of :func:`one_score` up to a constant.

    >>> all_scores(np.array([[2.0]]))
    array([[-1.,  1.]])
    """
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[-1] == 1 else scores
