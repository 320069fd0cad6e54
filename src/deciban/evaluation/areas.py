"""Areas under the ROC and the precision-recall curve, of one class against the rest.

Both are sums over the different scores ``s``, from the highest down, with the weight
of positive and negative rows that have it: ``p_s``, ``n_s``, and ``P_s``, ``N_s`` summed so far::

    ROC  1 - sum_s p_s (N_s - n_s / 2) / (P N)       rows in the right order; a tie is half
    PR   sum_s (p_s / P) P_s / (P_s + N_s)           average precision, as scikit-learn has it

scikit-learn computes them for the rows; for resampled rows, only the weights differ, so
the scores are sorted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def areas(positive: NDArray[np.bool_], score: FloatArray, weight: FloatArray) -> FloatArray:
    """The area under the ROC curve and the average precision; NaN with one class only.

    >>> areas(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]), np.ones(3)).round(3)
    array([0.5  , 0.833])
    """
    if positive.all() or not positive.any():
        return np.full(2, np.nan)
    from sklearn.metrics import average_precision_score, roc_auc_score

    return np.array(
        [
            roc_auc_score(positive, score, sample_weight=weight),
            average_precision_score(positive, score, sample_weight=weight),
        ]
    )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows in the order of their scores, the highest first."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    positive: NDArray[np.bool_]

    @classmethod
    def of(cls, positive: NDArray[np.bool_], score: FloatArray) -> Ranking:
        """Sort once."""
        order = np.argsort(-score, kind="stable")
        starts = np.append(0, 1 + np.flatnonzero(np.diff(score[order])))
        return cls(order, starts, positive[order])

    def sum_ties(self, weight: FloatArray) -> FloatArray:
        """Sums of (..., rows in order) over those with the same score."""
        if len(self.starts) == len(self.order):
            return weight
        return np.add.reduceat(weight, self.starts, axis=-1)

    def cumulative(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """True and false positives if all rows down to each score are called positive.

        >>> rows = Ranking.of(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]))
        >>> rows.cumulative(np.ones(3))
        (array([1., 1., 2.]), array([0., 1., 1.]))
        """
        ordered = weight[self.order]
        hits = np.cumsum(self.sum_ties(ordered * self.positive))
        return hits, np.cumsum(self.sum_ties(ordered * ~self.positive))

    def areas(self, weights: FloatArray) -> FloatArray:
        """Both areas under each of some (resamples, rows) weights, (resamples, 2).

        >>> rows = Ranking.of(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]))
        >>> rows.areas(np.ones((1, 3))).round(3)
        array([[0.5  , 0.833]])
        """
        weight = weights[:, self.order]
        p, w = self.sum_ties(weight * self.positive), self.sum_ties(weight)
        positive, so_far = np.cumsum(p, axis=1), np.cumsum(w, axis=1)
        total = positive[:, -1] * (so_far[:, -1] - positive[:, -1])
        with np.errstate(invalid="ignore", divide="ignore"):
            wrong = np.einsum("ij,ij->i", p, so_far - positive - (w - p) / 2)
            precision = np.divide(positive, so_far, out=positive, where=so_far > 0)
            right = np.einsum("ij,ij->i", p, precision)
            both = np.stack([1.0 - wrong / total, right / p.sum(axis=1)], axis=1)
        both[total <= 0] = np.nan
        return both
