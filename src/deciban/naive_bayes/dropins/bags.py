"""Bags of amounts, such as word counts: multinomial, complement and Bernoulli."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.families.settings import Settings
from deciban.naive_bayes.dropins.model import BLOCK
from deciban.naive_bayes.dropins.smoothed import SmoothedClassifier
from deciban.sources.matrix import CSRRows, FloatArray
from deciban.stats.cells import Cells


class BagClassifier(SmoothedClassifier):
    """A classifier of rows of amounts over a fixed set of columns."""

    _may_be_negative = False
    _hole: Any = 0.0

    def _encode(self, X: Any, cells: Cells) -> Any:
        X = X if isinstance(X, CSRRows) else np.ascontiguousarray(X, dtype=np.float64)
        if not self._may_be_negative and isinstance(X, CSRRows) and X.data.min(initial=0.0) < 0:
            X = X.canonical()  # the parts of a sum may be negative where the sum is not
        values = X.data if isinstance(X, CSRRows) else X
        self._refuse_infinite(values)
        if not self._may_be_negative and values.min(initial=0.0) < 0:
            raise InputError(
                f"Negative values in data passed to {type(self).__name__} (input X): "
                f"{values.min():g}.",
                hint="amounts are numbers >= 0",
            )
        return X

    def _refuse_infinite(self, values: FloatArray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):  # fast, and nearly always all there is to do
                return
        wrong = values[~np.isfinite(values)]
        if wrong.size:
            raise MissingValueError(
                "Input X contains NaN or infinity: "
                f"{wrong[0]} in data passed to {type(self).__name__}.",
                hint="use 0 for nothing",
            )

    def _entries(self, rows: CSRRows) -> FloatArray:
        return np.asarray(self._scorable(rows).data)

    def _show(self) -> None:
        super()._show()
        self.feature_count_ = np.asarray(self.counts_.tables[BLOCK].sums["amount"])
        self.feature_log_prob_ = self._params.blocks[BLOCK][1].present.T

    def __sklearn_tags__(self) -> Any:
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

    _family = "multinomial"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
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

    _family = "complement"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _settings(self) -> Settings:
        return Settings("bayes", self._check_alpha(), normalise=bool(self.norm))

    def _show(self) -> None:
        super()._show()
        self.feature_all_ = self.feature_count_.sum(axis=0)
        if len(self.classes_) > 1:
            self._params = replace(self._params, log_prior=np.zeros(len(self.classes_)))


class BernoulliNB(BagClassifier):
    """Bernoulli naive Bayes; a drop-in for scikit-learn's.

    Parameters are those of :class:`MultinomialNB`, and ``binarize``: a column
    is present where its value is above it; None takes X as zeros and ones.

    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["spam", "ham"]).predict([[3, 0]])
    array(['spam'], dtype='<U4')
    """

    _family = "bernoulli"
    _counted_by = ("binarize",)
    _may_be_negative = True

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
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

    def _copies(self, X: Any) -> bool:
        return self.binarize is not None or super()._copies(X)

    def _encode(self, X: Any, cells: Cells) -> Any:
        X = super()._encode(X, cells)
        X = X.canonical() if isinstance(X, CSRRows) else X
        values = X.data if isinstance(X, CSRRows) else X
        if self.binarize is None:
            _refuse_amounts(values)
            return X
        present = (values > self._check_binarize(X)).astype(np.float64)
        return X.with_data(present) if isinstance(X, CSRRows) else present

    def _check_binarize(self, X: Any) -> float:
        threshold = self.binarize
        if not isinstance(threshold, Real) or threshold != threshold:
            raise ParameterError(
                f"binarize must be a number or None, got {threshold!r}.",
                hint="0 takes every value above 0 as present",
            )
        if threshold < 0 and isinstance(X, CSRRows):
            raise ParameterError(
                f"Cannot binarize a sparse matrix with threshold < 0, got {threshold!r}.",
                hint="a row of zeros would be all ones",
            )
        return float(threshold)


def _refuse_amounts(values: FloatArray) -> None:
    """Presences are zeros and ones."""
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise InputError(
            f"binarize=None takes zeros and ones, got {wrong[0]:g}.",
            hint="binarize=0 takes every value above 0 as present",
        )
