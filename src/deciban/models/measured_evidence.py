"""What the columns of a model said in rows whose class is known: sums that add up over rows.

``W_j(c, x)`` is the evidence of column j for class c in a row x, in decibans, as ``evidence``
gives it. Its mean over the rows of a class, for that class, is what the column says for the truth;
the mean of its absolute value is how much it says either way. By this definition the importance
of columns can be compared between models of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.families.piece import Piece
from deciban.labels import Labels

FloatArray = NDArray[np.float64]

#: Evidence that excludes a class is infinite: in means it is taken for this many decibans.
EXCLUDING_DECIBANS = 100.0


def finite(decibans: FloatArray) -> FloatArray:
    """Evidence of which means can be taken.

    >>> finite(np.array([3.0, -np.inf]))
    array([   3., -100.])
    """
    return np.nan_to_num(decibans, posinf=EXCLUDING_DECIBANS, neginf=-EXCLUDING_DECIBANS)


@dataclass(frozen=True, eq=False)
class MeasuredEvidence:
    """Mean evidence for the true class, in decibans a row, by column and true class.

    ``weight``, (classes,), is that of the rows of each class; ``mean`` and ``absolute`` are
    (columns, classes), the latter NaN where it is not known. ``curves`` have the mean contribution
    of about the same values of a column: of models in which it depends on the other columns.
    """

    classes: Labels
    weight: FloatArray
    mean: FloatArray
    absolute: FloatArray
    curves: tuple[Piece, ...] = ()

    @classmethod
    def of_rows(
        cls, evidence: FloatArray, y: NDArray[np.intp], weight: FloatArray, classes: Labels
    ) -> MeasuredEvidence:
        """That of some rows, from decibans (rows, columns, classes).

        >>> said = np.array([[[2.0, -2.0]], [[4.0, -4.0]], [[1.0, -1.0]]])
        >>> y, weight, classes = np.array([0, 0, 1]), np.ones(3), np.array(["a", "b"])
        >>> one = MeasuredEvidence.of_rows(said, y, weight, classes)
        >>> one.mean, (one.share @ one.absolute.T).round(2)
        (array([[ 3., -1.]]), array([2.33]))
        """
        true = finite(evidence[np.arange(len(y)), :, y])
        member = np.zeros((len(y), len(classes)))
        member[np.arange(len(y)), y] = weight
        total = member.sum(axis=0)
        member /= np.where(total > 0, total, 1.0)
        return cls(classes, total, true.T @ member, np.abs(true).T @ member)

    @property
    def share(self) -> FloatArray:
        """The share of each true class among the rows."""
        return np.asarray(self.weight / max(self.weight.sum(), np.finfo(np.float64).tiny))

    def among(self, classes: Labels) -> MeasuredEvidence:
        """By other classes; one that had no rows said nothing."""
        if labels.same(self.classes, classes):
            return self
        at = labels.positions(classes, self.classes)
        weight, mean, absolute = (
            np.where(at >= 0, of[..., at], 0.0) for of in (self.weight, self.mean, self.absolute)
        )
        return MeasuredEvidence(classes, weight, mean, absolute)

    def __add__(self, other: MeasuredEvidence) -> MeasuredEvidence:
        """That of the rows of both, each as it was measured; the curves are those of more rows."""
        classes = labels.union(self.classes, other.classes)
        mine, theirs = self.among(classes), other.among(classes)
        weight = mine.weight + theirs.weight
        share = mine.weight / np.where(weight > 0, weight, 1.0)
        larger = mine if mine.weight.sum() >= theirs.weight.sum() else theirs
        return MeasuredEvidence(
            classes,
            weight,
            share * mine.mean + (1 - share) * theirs.mean,
            share * mine.absolute + (1 - share) * theirs.absolute,
            larger.curves,
        )

    def __mul__(self, factor: float) -> MeasuredEvidence:
        return MeasuredEvidence(
            self.classes, self.weight * factor, self.mean, self.absolute, self.curves
        )
