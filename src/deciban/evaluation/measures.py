"""The figures of rows that were judged.

scikit-learn computes what it has; what is summed over rows is written as sums over
rows as well (:class:`Terms`), so that resampled rows are matrix products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.evaluation.areas import areas
from deciban.evaluation.rows import Judged

FloatArray = NDArray[np.float64]
Key = str | tuple[str, Any]

#: What every class has.
MEASURES = ("precision", "recall", "f1")


class PerClass(float):
    """A measure of every class: a float, the mean over the classes that occur, with the rest.

    >>> precision = PerClass({"ham": 0.5, "spam": 1.0}, 0.75, 0.8, 0.9)
    >>> precision, precision["spam"], precision.micro, precision.weighted
    (0.75, 1.0, 0.8, 0.9)
    """

    by_class: Mapping[Any, float]
    micro: float
    weighted: float

    def __new__(
        cls, by_class: Mapping[Any, float], macro: float, micro: float, weighted: float
    ) -> PerClass:
        """The mean, and where it comes from."""
        found = super().__new__(cls, macro)
        found.by_class, found.micro, found.weighted = dict(by_class), micro, weighted
        return found

    def __getnewargs__(self) -> tuple[Mapping[Any, float], float, float, float]:  # type: ignore[override]
        return self.by_class, float(self), self.micro, self.weighted

    @property
    def macro(self) -> float:
        """The mean over the classes that occur among truths or answers."""
        return float(self)

    def __getitem__(self, label: Any) -> float:
        return self.by_class[label]


@dataclass(frozen=True, eq=False)
class Terms:
    """What is added up over the rows, and what follows from the sums."""

    judged: Judged
    bins: int

    @cached_property
    def sums(self) -> FloatArray:
        """Terms of the plain means, (rows, 4): log loss, Brier, expected and realised cost."""
        row = self.judged
        return np.stack([row.log_loss, brier(row), row.expected, row.realised], axis=1)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.judged.said.classes)

    @cached_property
    def confidence(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """A probability that was stated for each row, and whether it came true.

        Of the second of two classes; of the likeliest of more.
        """
        said = self.judged.said
        if said.known == self.n_classes == 2:
            return said.posterior[:, 1], said.codes == 1
        likeliest = said.posterior.argmax(axis=1)
        return said.posterior.max(axis=1), said.codes == likeliest

    @cached_property
    def bin(self) -> NDArray[np.intp]:
        """The bin of that probability; all are equally wide."""
        found = (self.confidence[0] * self.bins).astype(np.intp)
        return np.clip(found, 0, self.bins - 1)

    @cached_property
    def occurring(self) -> NDArray[np.intp]:
        """The classes that are some row's truth or answer."""
        found = np.union1d(self.judged.said.codes, self.judged.answers)
        return np.asarray(found[found >= 0])


def brier(judged: Judged) -> FloatArray:
    """The squared error of all probabilities of every row; for two classes, of one of them."""
    posterior, codes = judged.said.posterior, judged.said.codes
    rows = np.arange(len(codes))
    error = posterior.copy()
    error[rows, codes] -= 1.0
    total = (error**2).sum(axis=1)
    return np.asarray(total / 2 if posterior.shape[1] == 2 else total)


def from_counts(
    right: FloatArray, truth: FloatArray, told: FloatArray, total: FloatArray, some: Any
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Accuracy, coverage and averages over ``some`` classes; and (3, ..., classes) of them.

    ``right``, ``truth`` and ``told`` are (..., classes): the weight of rows answered right,
    of those of the class, and of those answered with it. What divides by nothing is 0 for
    a class, as in scikit-learn, and NaN for all rows.
    """
    answered, hits = told.sum(axis=-1), right.sum(axis=-1)
    per_class = np.stack([share(right, told), share(right, truth), share(2 * right, told + truth)])
    found = {
        "accuracy": share(hits, answered, np.nan),
        "coverage": share(answered, total, np.nan),
    }
    micro = share(hits, answered), share(hits, total), share(2 * hits, answered + total)
    for name, values, whole in zip(MEASURES, per_class, micro, strict=True):
        found[name] = values[..., some].mean(axis=-1)
        found[f"{name}_micro"] = whole
        found[f"{name}_weighted"] = share((values * truth).sum(axis=-1), total)
    return found, per_class


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


def bin_sums(terms: Terms, weight: FloatArray) -> FloatArray:
    """Those sums of the rows, (bins, 3)."""
    stated, true = terms.confidence
    sides = (weight, weight * stated, weight * true)
    parts = [np.bincount(terms.bin, side, terms.bins) for side in sides]
    return np.stack(parts, axis=-1)


def class_areas(terms: Terms) -> FloatArray:
    """Both areas of each class against the rest, (classes, 2)."""
    said = terms.judged.said
    return np.stack(
        [areas(said.codes == c, said.scores[:, c], said.weight) for c in range(terms.n_classes)]
    )


def scored_classes(terms: Terms) -> NDArray[np.intp]:
    """The classes whose areas count: the second of two, or all of more that the rows have."""
    if terms.n_classes == 2:
        return np.array([1])
    return np.unique(terms.judged.said.codes)


def losses(judged: Judged) -> tuple[float, float]:
    """Log loss and Brier score of all rows, by scikit-learn; it knows no single class."""
    said = judged.said
    n_classes = said.posterior.shape[1]
    if n_classes == 1:
        return 0.0, 0.0
    from sklearn.metrics import brier_score_loss, log_loss

    posterior = said.posterior / said.posterior.sum(axis=1, keepdims=True)
    how = {"sample_weight": said.weight, "labels": np.arange(n_classes)}
    loss = log_loss(said.codes, posterior, **how)
    two = {"pos_label": 1} if n_classes == 2 else {}
    stated = posterior[:, 1] if n_classes == 2 else posterior
    return float(loss), float(brier_score_loss(said.codes, stated, **how, **two))


def confusion(judged: Judged) -> FloatArray:
    """The weight of rows by truth and answer, by scikit-learn; without those that got none."""
    from sklearn.metrics import confusion_matrix

    said, told = judged.said, judged.answers >= 0
    n_classes = len(said.classes)
    if not told.any() or n_classes == 1:
        return np.full((n_classes, n_classes), said.weight[told].sum())
    found = confusion_matrix(
        said.codes[told],
        judged.answers[told],
        labels=np.arange(n_classes),
        sample_weight=said.weight[told],
    )
    return np.asarray(found, dtype=np.float64)
