"""What the counts of phrases in the texts of each class say.

``counts``, (phrases, classes), are how much of the texts of each class each phrase is.
"""

from __future__ import annotations

import numpy as np

from deciban.ensemble.logits import FloatArray, centre

#: What is added to the texts of a class that have a phrase.
COUNT_SMOOTHING = 1.0


def log_count_ratios(counts: FloatArray) -> FloatArray:
    """``log P(w | c) - log P(w | not c)``, (phrases, scores): of two classes, one score.

    >>> counts = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> np.exp(log_count_ratios(counts)).round(3).ravel()                    # 1/4 / 2/3, ...
    array([0.375, 2.25 ])
    """
    own, rest = counts + COUNT_SMOOTHING, _of_the_rest(counts)
    size = np.log(own.sum(axis=0)) - np.log(rest.sum(axis=0))
    np.divide(own, rest, out=own)
    np.log(own, out=own)
    own -= size
    return np.ascontiguousarray(own[:, 1:] if counts.shape[1] == 2 else own)


def complements(counts: FloatArray) -> FloatArray:
    """``-log P(w | not c)``, centred, (phrases, classes), of one mean size for all classes.

    Of two classes it is the naive Bayes model. Of more it is better than that
    (Rennie et al., 2003): the texts of all other classes are many, and of even number.

    >>> complements(np.array([[1.0, 0.0], [0.0, 1.0]])).round(3)         # log(2/3 / 1/3) / 2
    array([[ 0.347, -0.347],
           [-0.347,  0.347]])
    """
    rest = _of_the_rest(counts)
    size = np.log(rest.sum(axis=0))
    np.log(rest, out=rest)
    rest -= size
    weights = -centre(rest)
    size = np.abs(weights).sum(axis=0)
    weights *= size.mean() / np.maximum(size, np.finfo(float).tiny)
    return weights


def _of_the_rest(counts: FloatArray) -> FloatArray:
    """What all other classes have of each phrase, smoothed."""
    rest = np.subtract(counts.sum(axis=1, keepdims=True), counts)
    rest += COUNT_SMOOTHING
    return np.asarray(rest)
