"""Normal distributions: numeric columns."""

from __future__ import annotations

from typing import cast

import numpy as np
from sklearn.utils import Tags

from deciban import encoding
from deciban.errors import ParameterError
from deciban.families.bell import GaussianSettings, variance
from deciban.families.gaussian import GAUSSIAN, GaussianParameters
from deciban.labels import Labels
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.naive_bayes.dropins.encoders import NumberEncoder, refuse_infinity
from deciban.naive_bayes.dropins.model import BLOCK, UNWEIGHTED
from deciban.sources.matrix import CheckedMatrix, CSRRows, FloatArray
from deciban.stats.counts import Counts
from deciban.stats.moments import pool_classes


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

    def _counted_encoder(self) -> NumberEncoder:
        return NumberEncoder(looks=False)

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        refuse_infinity(rows.data)
        parameters = cast("GaussianParameters", self.model_.parameters)
        return parameters.entries(rows.data, rows.indices)

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        weight: FloatArray | None,
    ) -> Counts:
        counts = super()._count(X, codes, classes, weight)
        plain = counts if weight is None else super()._count(X, codes, classes, None)
        tables = {BLOCK: counts.tables[BLOCK], UNWEIGHTED: plain.tables[BLOCK]}
        return Counts(counts.classes, counts.weight, tables)

    def _settings(self, counts: Counts) -> GaussianSettings:
        smoothing = self.var_smoothing
        if not (isinstance(smoothing, int | float | np.number) and 0 <= smoothing < np.inf):
            raise ParameterError(
                f"var_smoothing must be a number >= 0, got {smoothing!r}.", hint="1e-9 is usual"
            )
        whole = variance(pool_classes(counts.tables[UNWEIGHTED].sums))
        self.epsilon_ = float(smoothing * whole.max()) if whole.size else 0.0
        return GaussianSettings("ml", floor=self.epsilon_, shared=bool(self.shared_variance))

    def _stated_prior(self) -> StatedPrior:
        return self.priors

    def _show(self) -> None:
        parameters = cast("GaussianParameters", self.model_.parameters)
        self.class_count_ = self.model_.counts.weight
        self.class_prior_ = np.exp(self.model_.fallback)
        self.theta_ = parameters.moments.mean
        self.var_ = variance(parameters.moments) + self.epsilon_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
