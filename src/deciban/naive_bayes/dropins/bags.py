"""Bags of amounts, such as word counts: multinomial, complement and Bernoulli."""

from __future__ import annotations

from numbers import Real
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from deciban.errors import ParameterError
from deciban.families.bernoulli import BERNOULLI
from deciban.families.complement import COMPLEMENT, ComplementSettings
from deciban.families.linear_bag import LinearParameters
from deciban.families.multinomial import MULTINOMIAL
from deciban.families.settings import Settings
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.encoders import AmountEncoder, PresenceEncoder
from deciban.naive_bayes.dropins.model import Encoder
from deciban.naive_bayes.dropins.smoothed import SmoothedClassifier
from deciban.sources.matrix import CheckedMatrix, CSRRows, FloatArray
from deciban.stats.amounts import amount_of
from deciban.stats.counts import Counts


class BagClassifier(SmoothedClassifier):
    """A classifier of rows of amounts over a fixed set of columns."""

    _may_be_negative = False

    def _encoder(self) -> Encoder:
        return AmountEncoder(type(self).__name__)

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        encoded = self.model_.encode(rows)
        parameters = cast("LinearParameters", self.model_.parameters)
        return parameters.entries(encoded.data, encoded.indices)

    @property
    def feature_count_(self) -> FloatArray:
        """The amount of each column in each class, (classes, columns)."""
        return amount_of(self.model_.table)

    @property
    def feature_log_prob_(self) -> FloatArray:
        """The logarithm of the share of each column in each class, (classes, columns)."""
        return cast("LinearParameters", self.model_.parameters).present.T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._may_be_negative
        return tags


class MultinomialNB(BagClassifier):
    """Multinomial naive Bayes; a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha
        smoothing: a number >= 0, or one per column
    force_alpha
        whether an alpha below 1e-10 is kept
    fit_prior
        whether class priors are counted; otherwise they are uniform
    class_prior
        stated class priors

    >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
    >>> m.predict([[1, 0]])
    array(['spam'], dtype='<U4')
    >>> m.evidence([[1, 0]])[0, 0].round(1)        # ham, spam
    array([-4.8,  4.8])

    """

    _family = MULTINOMIAL

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: StatedPrior = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class ComplementNB(BagClassifier):
    """Complement naive Bayes; a drop-in for scikit-learn's.

    Parameters are those of :class:`MultinomialNB`, and ``norm``: whether the
    weights of each class are divided by their sum. Like scikit-learn's, it
    uses the prior only where there is a single class.

    >>> ComplementNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).predict([[1, 0]])
    array(['spam'], dtype='<U4')
    """

    _family = COMPLEMENT
    _prior_of_many = False

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: StatedPrior = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _settings(self, counts: Counts) -> Settings:
        return ComplementSettings("bayes", self._check_alpha(), normalise=bool(self.norm))

    @property
    def feature_all_(self) -> FloatArray:
        """The amount of each column in all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(BagClassifier):
    """Bernoulli naive Bayes; a drop-in for scikit-learn's.

    Parameters are those of :class:`MultinomialNB`, and ``binarize``: a column
    is present where its value is above it; None takes X as zeros and ones.

    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["spam", "ham"]).predict([[3, 0]])
    array(['spam'], dtype='<U4')
    """

    _family = BERNOULLI
    _counted_by = ("binarize",)
    _may_be_negative = True

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: StatedPrior = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def threshold_values(self) -> tuple[float, float]:
        """A value that counts as absent, and one that counts as present.

        >>> BernoulliNB(binarize=5.0).threshold_values()
        (5.0, 6.0)
        """
        least = 0.0 if self.binarize is None else float(self.binarize)
        return least, least + 1.0

    def _copies(self, X: CheckedMatrix) -> bool:
        return self.binarize is not None or super()._copies(X)

    def _encoder(self) -> Encoder:
        threshold = self.binarize
        if threshold is None:
            return PresenceEncoder(type(self).__name__, None)
        if not isinstance(threshold, Real) or threshold != threshold:
            raise ParameterError(
                f"binarize must be a number or None, got {threshold!r}.",
                hint="0 takes every value above 0 as present",
            )
        return PresenceEncoder(type(self).__name__, float(threshold))
