"""Normal distributions: numeric columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from deciban import encoding
from deciban.errors import MissingValueError, ParameterError
from deciban.families.gaussian import GAUSSIAN, GaussianParameters, GaussianSettings
from deciban.families.piece import Piece
from deciban.labels import Labels
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.naive_bayes.dropins.model import BLOCK
from deciban.sources.matrix import AnyRows, CheckedMatrix, CSRRows, FloatArray
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.moments import pool_classes

#: The block of the same rows without their weights: the floor of the variances is not weighted.
UNWEIGHTED = "rows"


@dataclass(frozen=True)
class NumberEncoder:
    """Rows of numbers; NaN is a missing value, infinity is a mistake."""

    absent_value = None

    def encode(self, X: AnyRows, cells: Cells) -> FloatArray:
        """A chunk of rows as a dense matrix."""
        dense = X.dense() if isinstance(X, CSRRows) else np.ascontiguousarray(X, dtype=np.float64)
        refuse_infinity(dense)
        return dense

    def values(self, column: int, piece: Piece) -> Piece:
        """A curve of numbers is as it is; how many rows are behind a point is not kept."""
        return replace(piece, rows=None)


def refuse_infinity(values: FloatArray) -> None:
    """NaN is a missing value, infinity is a mistake."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # fast, and nearly always all there is to do
            return
    wrong = values[np.isinf(values)]
    if wrong.size:
        raise MissingValueError(
            f"Input X contains infinity: {wrong[0]}.",
            hint="replace it by a large finite number, or by NaN for missing",
        )


class GaussianNB(NaiveBayesClassifier):
    """Gaussian naive Bayes; a drop-in for scikit-learn's, in which NaN is a missing value.

    Parameters
    ----------
    priors
        probabilities of the classes; None takes them from the data
    var_smoothing
        the largest variance of all columns, times this, is added to every variance
    shared_variance
        whether all classes share one variance per column, which makes the log-odds
        linear: see :meth:`deciban.LogisticRegression.from_gaussian`

    >>> import numpy as np
    >>> X = np.array([[-2.0, -1], [-1, -1], [1, 1], [2, np.nan]])
    >>> m = GaussianNB().fit(X, ["a", "a", "b", "b"])
    >>> m.predict([[-0.8, -1.0], [1.0, 1.0]])
    array(['a', 'b'], dtype='<U1')
    >>> m.forget(X[:1], ["a"]).class_count_
    array([1., 2.])

    """

    _family = GAUSSIAN
    _dense = True

    def __init__(
        self,
        *,
        priors: StatedPrior = None,
        var_smoothing: float = 1e-9,
        shared_variance: bool = False,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.shared_variance = shared_variance

    def _encoder(self) -> NumberEncoder:
        return NumberEncoder()

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        refuse_infinity(rows.data)
        parameters = cast("GaussianParameters", self.model_.parameters)
        return parameters.entries(rows.data, rows.indices)

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        sample_weight: ArrayLike | None,
    ) -> Counts:
        counts = super()._count(X, codes, classes, sample_weight)
        plain = counts if sample_weight is None else super()._count(X, codes, classes, None)
        tables = {BLOCK: counts.tables[BLOCK], UNWEIGHTED: plain.tables[BLOCK]}
        return Counts(counts.classes, counts.weight, tables)

    def _settings(self, counts: Counts) -> GaussianSettings:
        smoothing = self.var_smoothing
        if not (isinstance(smoothing, int | float | np.number) and 0 <= smoothing < np.inf):
            raise ParameterError(
                f"var_smoothing must be a number >= 0, got {smoothing!r}.", hint="1e-9 is usual"
            )
        var = pool_classes(counts.tables[UNWEIGHTED].sums).var
        self.epsilon_ = float(smoothing * var.max()) if len(var) else 0.0
        return GaussianSettings("ml", floor=self.epsilon_, shared=bool(self.shared_variance))

    def _stated_prior(self) -> StatedPrior:
        return self.priors

    def _show(self) -> None:
        parameters = cast("GaussianParameters", self.model_.parameters)
        self.class_count_ = self.model_.counts.weight
        self.class_prior_ = np.exp(self.model_.fallback)
        n, self.theta_, spread = parameters.moments
        self.var_ = spread / np.where(n > 0, n, 1.0) + self.epsilon_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
