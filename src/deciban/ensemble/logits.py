"""Logits: a number for every row and class, whose softmax is a model's probabilities.

A constant added to all classes of a row changes nothing. A logistic regression
of two classes has one *score* a row, the logit of the second class less that of
the first; of more classes, scores are logits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: So few classes are added up one by one: short rows are slow to reduce.
MAX_SEPARATE_CLASSES = 7


def centre(logits: FloatArray) -> FloatArray:
    """Logits less their mean over the classes: the probabilities stay.

    >>> centre(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    n_classes = logits.shape[-1]
    if n_classes > MAX_SEPARATE_CLASSES:
        return np.asarray(logits - logits.mean(axis=-1, keepdims=True))
    mean = sum(logits[..., k] for k in range(n_classes)) / n_classes
    return np.asarray(logits - np.asarray(mean)[..., None])


def softmax(logits: FloatArray) -> FloatArray:
    """The probabilities of each row.

    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    out = np.exp(logits - logits.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return np.asarray(out)


def log_losses(logits: FloatArray, y: NDArray[np.intp]) -> FloatArray:
    """The log loss of each row: minus the log-probability of its class, in nats."""
    top = logits.max(axis=1)
    total = np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return np.asarray(top + total - logits[np.arange(len(y)), y])


def mean_log_loss(logits: FloatArray, y: NDArray[np.intp], weight: FloatArray) -> float:
    """The mean log loss of weighted rows, in nats.

    >>> bool(mean_log_loss(np.zeros((2, 2)), np.array([0, 1]), np.ones(2)) == np.log(2))
    True
    """
    return float(weight @ log_losses(logits, y) / weight.sum())


def prior_logits(y: NDArray[np.intp], weight: FloatArray, n_classes: int) -> FloatArray:
    """The logits of the class frequencies alone, (classes,), with one row more of each.

    >>> prior_logits(np.array([0, 0, 0, 1]), np.ones(4), 2) * 2 / np.log(2)
    array([ 1., -1.])
    """
    return centre(np.log(np.bincount(y, weight, n_classes) + 1.0))


def to_scores(logits: FloatArray) -> FloatArray:
    """The scores of a logistic regression that gives these logits."""
    return np.ascontiguousarray(logits[:, 1:] - logits[:, :1] if logits.shape[1] == 2 else logits)


def to_logits(scores: FloatArray) -> FloatArray:
    """One column a class, the inverse of :func:`to_scores` up to a constant.

    >>> to_logits(np.array([[2.0]]))
    array([[-1.,  1.]])
    """
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[-1] == 1 else scores
