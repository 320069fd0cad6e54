"""What the four discrete classifiers share: the parameters of smoothing and prior."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from deciban.errors import ParameterError, ShapeError
from deciban.families.settings import Settings
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.sources.matrix import FloatArray
from deciban.stats.counts import Counts

#: Below this, smoothing is raised to it unless it is forced.
MIN_ALPHA = 1e-10


class SmoothedClassifier(NaiveBayesClassifier):
    """A discrete classifier: ``alpha`` smooths, the prior is counted, fixed or uniform."""

    alpha: ArrayLike
    force_alpha: bool
    fit_prior: bool
    class_prior: StatedPrior

    def _check_alpha(self) -> FloatArray:
        """The smoothing that is used."""
        alpha = self._numbers()
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise ShapeError(
                "When alpha is an array, it should contains `n_features`. Got "
                f"{alpha.size} elements instead of {self.n_features_in_}.",
                hint="give one number, or one per column",
            )
        if np.min(alpha) < 0:
            raise ParameterError(
                f"All values in alpha must be greater than 0. Got {np.min(alpha):g}.",
                hint="0 is maximum likelihood, 1 is Laplace",
            )
        if np.min(alpha) >= MIN_ALPHA or self.force_alpha:
            return alpha
        warnings.warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{MIN_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=2,
        )
        return np.maximum(alpha, MIN_ALPHA)

    def _numbers(self) -> FloatArray:
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            alpha = np.array(np.nan)
        if alpha.size and np.all(np.isfinite(alpha)) and not isinstance(self.alpha, str):
            return alpha
        raise ParameterError(
            f"alpha must be a number >= 0, or one per column, got {self.alpha!r}.",
            hint="0 is maximum likelihood, 1 is Laplace",
        )

    def _settings(self, counts: Counts) -> Settings:
        return Settings("bayes", self._check_alpha())

    def _stated_prior(self) -> StatedPrior:
        counted = self.class_prior is not None or self.fit_prior
        stated: StatedPrior = self.class_prior if counted else "uniform"
        return stated

    @property
    def class_count_(self) -> FloatArray:
        """The weight of the rows of each class."""
        return self.model_.counts.weight

    @property
    def class_log_prior_(self) -> FloatArray:
        """The logarithm of the probability of each class."""
        return self.model_.fallback

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
