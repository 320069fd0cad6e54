"""Metrics of decisions about labelled rows.

scikit-learn computes what it has; what is summed over rows is written as sums over
rows as well (:class:`RowTerms`), so that resampled rows are matrix products.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.evaluation.areas import areas
from deciban.evaluation.decisions import Decisions
from deciban.evaluation.predictions import Predictions
from deciban.evaluation.reliability import bin_numbers, bin_sums

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
Key = str | tuple[str, Hashable]

#: The metrics that every class has.
CLASS_METRICS = ("precision", "recall", "f1")


class PerClass(float):
    """A measure of every class: a float, the mean over the classes that occur, with the rest.

    >>> precision = PerClass({"ham": 0.5, "spam": 1.0}, 0.75, 0.8, 0.9)
    >>> precision, precision["spam"], precision.micro, precision.weighted
    (0.75, 1.0, 0.8, 0.9)
    """

    by_class: Mapping[Hashable, float]
    micro: float
    weighted: float

    def __new__(
        cls, by_class: Mapping[Hashable, float], macro: float, micro: float, weighted: float
    ) -> PerClass:
        """The mean, and where it comes from."""
        metric = super().__new__(cls, macro)
        metric.by_class, metric.micro, metric.weighted = dict(by_class), micro, weighted
        return metric

    def __getnewargs__(self) -> tuple[Mapping[Hashable, float], float, float, float]:  # type: ignore[override]
        return self.by_class, float(self), self.micro, self.weighted

    @property
    def macro(self) -> float:
        """The mean over the classes that occur among truths or answers."""
        return float(self)

    def __getitem__(self, label: Hashable) -> float:
        return self.by_class[label]


@dataclass(frozen=True, eq=False)
class RowTerms:
    """What each row adds to the metrics that are sums over rows."""

    decisions: Decisions
    n_bins: int

    @cached_property
    def sums(self) -> FloatArray:
        """Terms of the plain means, (rows, 4): log loss, Brier, expected and realised cost."""
        row = self.decisions
        columns = [row.log_loss, brier(row), row.expected_cost, row.realised_cost]
        return np.stack(columns, axis=1)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.decisions.predictions.classes)

    @cached_property
    def confidence(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """A probability that was stated for each row, and whether it came true.

        Of the second of two classes; of the likeliest of more.
        """
        rows = self.decisions.predictions
        if rows.n_known == self.n_classes == 2:
            return rows.posterior[:, 1], rows.codes == 1
        likeliest = rows.posterior.argmax(axis=1)
        return rows.posterior.max(axis=1), rows.codes == likeliest

    @cached_property
    def bin(self) -> Codes:
        """The bin of that probability; all are equally wide."""
        return bin_numbers(self.confidence[0], self.n_bins)

    @cached_property
    def bin_sums(self) -> FloatArray:
        """Weight, stated probability and what came true in each bin, (bins, 3)."""
        return bin_sums(*self.confidence, self.decisions.predictions.weight, self.n_bins)

    @cached_property
    def occurring(self) -> Codes:
        """The classes that are some row's truth or answer."""
        codes = np.union1d(self.decisions.predictions.codes, self.decisions.answers)
        return np.asarray(codes[codes >= 0])


def brier(decisions: Decisions) -> FloatArray:
    """The squared error of all probabilities of every row; for two classes, of one of them."""
    posterior, codes = decisions.predictions.posterior, decisions.predictions.codes
    rows = np.arange(len(codes))
    error = posterior.copy()
    error[rows, codes] -= 1.0
    total = (error**2).sum(axis=1)
    return np.asarray(total / 2 if posterior.shape[1] == 2 else total)


def from_counts(
    right: FloatArray, truth: FloatArray, answered: FloatArray, total: FloatArray, some: Codes
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Accuracy, coverage and averages over ``some`` classes; and (3, ..., classes) of them.

    ``right``, ``truth`` and ``answered`` are (..., classes): the weight of rows answered right,
    of those of the class, and of those answered with it. What divides by nothing is 0 for
    a class, as in scikit-learn, and NaN for all rows.
    """
    answers, hits = answered.sum(axis=-1), right.sum(axis=-1)
    per_class = np.stack(
        [share(right, answered), share(right, truth), share(2 * right, answered + truth)]
    )
    averages = {
        "accuracy": share(hits, answers, np.nan),
        "coverage": share(answers, total, np.nan),
    }
    micro = share(hits, answers), share(hits, total), share(2 * hits, answers + total)
    for name, values, whole in zip(CLASS_METRICS, per_class, micro, strict=True):
        averages[name] = values[..., some].mean(axis=-1)
        averages[f"{name}_micro"] = whole
        averages[f"{name}_weighted"] = share((values * truth).sum(axis=-1), total)
    return averages, per_class


def share(part: FloatArray, whole: FloatArray, otherwise: float = 0.0) -> FloatArray:
    """A quotient that is defined where nothing is divided by nothing.

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    out = np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise)
    return np.asarray(np.divide(part, whole, out=out, where=np.asarray(whole) > 0))


def calibration_error(bins: FloatArray) -> FloatArray:
    """The mean distance of what was stated from what came true, from (..., bins, 3) sums.

    The sums are the weight, the stated probability, and what came true.
    """
    return share(
        np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1), bins[..., 0].sum(axis=-1), np.nan
    )


def class_areas(rows: Predictions) -> FloatArray:
    """Both areas of each class against the rest, (classes, 2)."""
    return np.stack(
        [areas(rows.codes == c, rows.scores[:, c], rows.weight) for c in range(len(rows.classes))]
    )


def scored_classes(rows: Predictions) -> Codes:
    """The classes whose areas count: the second of two, or all of more that the rows have."""
    return np.array([1]) if len(rows.classes) == 2 else np.unique(rows.codes)


def losses(rows: Predictions) -> tuple[float, float]:
    """Log loss and Brier score of all rows, by scikit-learn; it knows no single class."""
    n_classes = rows.posterior.shape[1]
    if n_classes == 1:
        return 0.0, 0.0
    from sklearn.metrics import brier_score_loss, log_loss

    posterior = rows.posterior / rows.posterior.sum(axis=1, keepdims=True)
    how = {"sample_weight": rows.weight, "labels": np.arange(n_classes)}
    loss = log_loss(rows.codes, posterior, **how)
    two = {"pos_label": 1} if n_classes == 2 else {}
    stated = posterior[:, 1] if n_classes == 2 else posterior
    return float(loss), float(brier_score_loss(rows.codes, stated, **how, **two))


def confusion(decisions: Decisions) -> FloatArray:
    """The weight of rows by truth and answer, by scikit-learn; without those that got none."""
    from sklearn.metrics import confusion_matrix

    rows, answered = decisions.predictions, decisions.answers >= 0
    n_classes = len(rows.classes)
    if not answered.any() or n_classes == 1:
        return np.full((n_classes, n_classes), rows.weight[answered].sum())
    matrix = confusion_matrix(
        rows.codes[answered],
        decisions.answers[answered],
        labels=np.arange(n_classes),
        sample_weight=rows.weight[answered],
    )
    return np.asarray(matrix, dtype=np.float64)
