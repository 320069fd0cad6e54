"""What the four discrete classifiers share: the parameters of smoothing and prior."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np

from deciban import params
from deciban.errors import ParameterError, ShapeError
from deciban.naive_bayes.base import FloatArray, NaiveBayesClassifier
from deciban.settings import Settings

#: Below this, smoothing is raised to it unless it is forced.
SMALLEST = 1e-10


class SmoothedClassifier(NaiveBayesClassifier):
    """A discrete classifier: ``alpha`` smooths, the prior is counted, fixed or uniform."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def _check_alpha(self) -> Any:
        """The smoothing that is used."""
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha)
        if isinstance(alpha, np.ndarray) and alpha.shape != (self.n_features_in_,):
            raise ShapeError(
                "When alpha is an array, it should contains `n_features`. Got "
                f"{alpha.size} elements instead of {self.n_features_in_}.",
                hint="give one number, or one per column",
            )
        if not (np.issubdtype(np.asarray(alpha).dtype, np.number) and np.all(np.isfinite(alpha))):
            raise ParameterError(
                f"alpha must be a number >= 0, got {self.alpha!r}.", hint="1 is Laplace"
            )
        if np.min(alpha) < 0:
            raise ParameterError(
                f"All values in alpha must be greater than 0. Got {np.min(alpha):g}.",
                hint="0 is maximum likelihood, 1 is Laplace",
            )
        if np.min(alpha) < SMALLEST and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{SMALLEST:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            return np.maximum(alpha, SMALLEST)
        return alpha

    def _settings(self) -> Settings:
        return Settings("bayes", self._check_alpha())

    def _log_prior(self) -> FloatArray:
        fixed = self.class_prior if self.class_prior is not None or self.fit_prior else "uniform"
        return params.class_prior(self.counts_, fixed=fixed)

    def _show(self) -> None:
        self.class_count_ = self.counts_.weight
        self.class_log_prior_ = self._params.log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
