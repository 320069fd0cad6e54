"""What the four discrete classifiers share: the parameters of smoothing and prior."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from deciban.errors import ParameterError, ShapeError
from deciban.families.settings import Settings
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.naive_bayes.dropins.model import prior_of
from deciban.sources.matrix import FloatArray

#: Below this, smoothing is raised to it unless it is forced.
SMALLEST = 1e-10


class SmoothedClassifier(NaiveBayesClassifier):
    """A discrete classifier: ``alpha`` smooths, the prior is counted, fixed or uniform."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

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
        if np.min(alpha) >= SMALLEST or self.force_alpha:
            return alpha
        warnings.warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{SMALLEST:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=2,
        )
        return np.maximum(alpha, SMALLEST)

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

    def _settings(self) -> Settings:
        return Settings("bayes", self._check_alpha())

    def _log_prior(self) -> FloatArray:
        counted = self.class_prior is not None or self.fit_prior
        return prior_of(self.counts_, self.class_prior if counted else "uniform")

    def _show(self) -> None:
        self.class_count_ = self.counts_.weight
        self.class_log_prior_ = self._prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
