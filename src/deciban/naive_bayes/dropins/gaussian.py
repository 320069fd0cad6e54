"""Normal distributions: numeric columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.errors import MissingValueError, ParameterError
from deciban.families import gaussian
from deciban.families.settings import Settings
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.naive_bayes.dropins.model import BLOCK, prior_of
from deciban.sources.matrix import CSRRows, FloatArray
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts

#: The block of the same rows without their weights: the floor of the variances is not weighted.
UNWEIGHTED = "rows"


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

    _family = "gaussian"
    _dense = True

    def __init__(
        self, *, priors: Any = None, var_smoothing: float = 1e-9, shared_variance: bool = False
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.shared_variance = shared_variance

    def _encode(self, X: Any, cells: Cells) -> FloatArray:
        return X.dense() if isinstance(X, CSRRows) else np.ascontiguousarray(X, dtype=np.float64)

    def _scorable(self, X: Any) -> FloatArray:
        rows: FloatArray = super()._scorable(X)
        _refuse_infinity(rows)
        return rows

    def _entries(self, rows: CSRRows) -> FloatArray:
        _refuse_infinity(rows.data)
        return rows.data

    def _count(self, X: Any, codes: Any, classes: Any, sample_weight: Any) -> Counts:
        counts = super()._count(X, codes, classes, sample_weight)
        plain = counts if sample_weight is None else super()._count(X, codes, classes, None)
        tables = {BLOCK: counts.tables[BLOCK], UNWEIGHTED: plain.tables[BLOCK]}
        return Counts(counts.classes, counts.weight, tables)

    def _settings(self) -> Settings:
        smoothing = self.var_smoothing
        if not (isinstance(smoothing, int | float | np.number) and 0 <= smoothing < np.inf):
            raise ParameterError(
                f"var_smoothing must be a number >= 0, got {smoothing!r}.", hint="1e-9 is usual"
            )
        _, var = gaussian.pooled(dict(self.counts_.tables[UNWEIGHTED].sums))
        self.epsilon_ = float(smoothing * var.max()) if len(var) else 0.0
        return Settings("ml", floor=self.epsilon_, shared=bool(self.shared_variance))

    def _log_prior(self) -> FloatArray:
        return prior_of(self.counts_, self.priors)

    def _show(self) -> None:
        self.class_count_ = self.counts_.weight
        self.class_prior_ = np.exp(self._prior)
        of = gaussian.moments(dict(self.counts_.tables[BLOCK].sums))
        n, self.theta_, spread = gaussian.shared(of) if self.shared_variance else of
        self.var_ = spread / np.where(n > 0, n, 1.0) + self.epsilon_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _refuse_infinity(values: FloatArray) -> None:
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
