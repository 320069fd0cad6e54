"""Normal distributions: numeric columns."""

from __future__ import annotations

from typing import cast

import numpy as np
from sklearn.utils import Tags

from deciban.errors import ParameterError
from deciban.families.bell import GaussianSettings
from deciban.families.gaussian import GAUSSIAN, GaussianParameters
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.naive_bayes.dropins.encoders import NumberEncoder, refuse_infinity
from deciban.naive_bayes.dropins.model import UNWEIGHTED
from deciban.sources.matrix import CSRRows, FloatArray, MatrixRows, dense_floats
from deciban.stats.cells import Cells
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
    _unweighted = True

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

    def _countable(self, rows: MatrixRows, cells: Cells) -> FloatArray:
        return dense_floats(rows)  # exact sums refuse infinity themselves

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        refuse_infinity(rows.data)
        parameters = cast("GaussianParameters", self.model_.parameters)
        return parameters.entries(rows.data, rows.indices)

    def _settings(self, counts: Counts) -> GaussianSettings:
        smoothing = self.var_smoothing
        if not (isinstance(smoothing, int | float | np.number) and 0 <= smoothing < np.inf):
            raise ParameterError(
                f"var_smoothing must be a number >= 0, got {smoothing!r}.", hint="1e-9 is usual"
            )
        whole = pool_classes(counts.tables[UNWEIGHTED].sums).variance
        floor = float(smoothing * whole.max()) if whole.size else 0.0
        return GaussianSettings("ml", floor=floor, shared=bool(self.shared_variance))

    def _stated_prior(self) -> StatedPrior:
        return self.priors

    @property
    def class_count_(self) -> FloatArray:
        """The weight of the rows of each class."""
        return self.model_.counts.weight

    @property
    def class_prior_(self) -> FloatArray:
        """The probability of each class."""
        return np.exp(self.model_.fallback)

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
        return cast("GaussianSettings", self.model_.settings).floor

    @property
    def theta_(self) -> FloatArray:
        """The mean of each column in each class, (classes, columns)."""
        return cast("GaussianParameters", self.model_.parameters).moments.mean

    @property
    def var_(self) -> FloatArray:
        """The variance of each column in each class, and what is added to it."""
        parameters = cast("GaussianParameters", self.model_.parameters)
        return parameters.moments.variance + self.epsilon_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
