"""The scores of rows that a regression was fitted to, each left out of the fit nearly exactly.

Without a row, the optimum is a step of Newton's method away. With the Hessian H of the objective,
the logits z of the row, their gradient g and second derivatives S of its loss by them,

    z without the row  =  z + (I - A S)**-1 A g,      A = x' H**-1 x

(Rad and Maleki 2020: approximate leave-one-out), where A has a row and a column for each logit. H
is the precision of Laplace's posterior, which every fit leaves behind; after a large fit only its
diagonal, and the rest of it is that of the rows that were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers import Prior
from deciban.logistic.solvers.selection import MAX_HESSIAN_COEFFICIENTS
from deciban.logistic.typicality import ColumnLikelihoods
from deciban.models import scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import RowLikelihoods, TypicalityScores
from deciban.sources.kept_rows import KeptPart, KeptRows

if TYPE_CHECKING:
    from deciban.logistic.model import LogisticModel

__all__ = ["FittedRows"]

FloatArray = NDArray[np.float64]

#: Added to the diagonal of a Hessian, as a share of its mean: softmax does not see a constant that
#: all classes have in common.
RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows that a model was fitted to, judged when somebody asks.

    ``posteriors`` are those of the problems that were solved, one for all classes or one for each.
    ``summarised`` says whether all rows are in the summary of the columns; of many rows only some
    are, and one more or less makes no difference to it.
    """

    model: LogisticModel
    kept: KeptRows
    posteriors: Sequence[Prior]
    intercept: bool
    summarised: bool

    @cached_property
    def scores(self) -> KeptScores:
        """How the rows conform with their class, and how typical they are.

        Of more coefficients than a Hessian may have, it is not known how they conform.
        """
        classes = self.model.classes
        y, weight, stride = self.kept.codes_among(classes), self.kept.weight, self.kept.stands_for
        none = np.empty((0, len(classes))), np.empty(0, dtype=np.intp), np.empty(0)
        conformity, left_out = ConformityScores.of(classes, *none), None
        if max(p.centre.size for p in self.posteriors) <= MAX_HESSIAN_COEFFICIENTS:
            posterior = self.log_posteriors()
            conformity = ConformityScores.of(classes, posterior, y, weight, stride)
            left_out = LeaveOneOutScores.of(posterior, y, weight, stride)
        if self.model.columns is None:
            return KeptScores(conformity, posteriors=left_out)
        parts = [self._likelihoods(part) for part in self.kept]
        rows = RowLikelihoods(*map(np.concatenate, zip(*parts, strict=True)))
        typicality = TypicalityScores.of(classes, rows, y, weight, stride)
        return KeptScores(conformity, typicality, left_out)

    def log_posteriors(self) -> FloatArray:
        """``log P(c | x)`` of every row without it, (rows, classes)."""
        X = np.concatenate([_dense(part.X) for part in self.kept])
        y = self.kept.codes_among(self.model.classes)
        logits = self.model.logits(X)
        Z = np.hstack([X, np.ones((len(X), 1))]) if self.intercept else X
        if len(self.posteriors) == 1:
            out = self._without(Z, logits, _truth(y, logits.shape[1]), self.posteriors[0])
        else:
            truth = np.eye(len(self.posteriors))[y]
            parts = (logits[:, [k]] for k in range(len(self.posteriors)))
            out = np.hstack(
                [
                    self._without(Z, part, truth[:, [k]], self.posteriors[k])
                    for k, part in enumerate(parts)
                ]
            )
        joint = np.ascontiguousarray(self.model.joint(out))
        even = np.full(len(self.model.classes), -np.log(len(self.model.classes)))
        scores.normalise(joint, even, logarithm=True)
        return joint

    def _without(
        self, Z: FloatArray, logits: FloatArray, truth: FloatArray, posterior: Prior
    ) -> FloatArray:
        """The logits of one problem, (rows, m), each row left out; of weight k, one of k."""
        proba, m = _proba(logits), logits.shape[1]
        curvature = proba[:, :, None] * (np.eye(m) - proba[:, None, :])
        hessian = self._hessian(Z, curvature, posterior).copy()
        diagonal = np.einsum("ii->i", hessian)
        diagonal += RIDGE * max(float(diagonal.mean()), np.finfo(float).tiny)
        inverse = np.linalg.inv(hessian)
        blocks = inverse.reshape(Z.shape[1], m, Z.shape[1], m)
        A = np.empty((len(Z), m, m))
        for k in range(m):
            for other in range(m):
                A[:, k, other] = np.einsum("ij,ij->i", Z @ blocks[:, k, :, other], Z)
        A *= np.minimum(self.kept.weight, 1.0)[:, None, None]
        change = A @ (proba - truth)[:, :, None]
        return np.asarray(logits + np.linalg.solve(np.eye(m) - A @ curvature, change)[:, :, 0])

    def _hessian(self, Z: FloatArray, curvature: FloatArray, posterior: Prior) -> FloatArray:
        """The Hessian of the objective over the coefficients in C order, (size, size)."""
        if posterior.full:
            return posterior.precision
        weight = self.kept.weight * self.kept.stands_for
        n, m = Z.shape[1], curvature.shape[1]
        out = np.empty((n, m, n, m))
        for k in range(m):
            for other in range(m):
                out[:, k, :, other] = (Z * (weight * curvature[:, k, other])[:, None]).T @ Z
        hessian = out.reshape(n * m, n * m)
        diagonal = np.einsum("ii->i", hessian)
        np.maximum(diagonal, posterior.diagonal().ravel(), out=diagonal)
        return hessian

    def _likelihoods(self, part: KeptPart) -> RowLikelihoods:
        assert self.model.columns is not None
        likelihoods = ColumnLikelihoods(self.model.columns)
        if not self.summarised:
            return likelihoods.of_rows(part.X)
        y = part.codes_among(self.model.classes)
        return likelihoods.leave_one_out(part.X, y, np.minimum(part.weight, 1.0))


def _truth(y: NDArray[np.intp], n_logits: int) -> FloatArray:
    """Which logits are those of the true class, (rows, logits)."""
    return np.eye(max(2, n_logits))[y][:, -n_logits:]


def _proba(logits: FloatArray) -> FloatArray:
    """The probability of every logit's class, (rows, logits)."""
    if logits.shape[1] == 1:
        return np.asarray(np.exp(-np.logaddexp(0.0, -logits)))
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _dense(X: object) -> FloatArray:
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())  # type: ignore[attr-defined]
