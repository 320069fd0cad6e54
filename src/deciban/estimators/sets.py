"""Sets of classes with a guarantee, of any classifier whose model keeps scores of left-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from deciban import encoding
from deciban.explanation.changeable import M
from deciban.explanation.explainable import Explainable
from deciban.models.conformal import ConformityScores, Sets, conformity_of
from deciban.sources.tabular import LabelsLike, Tabular, WeightsLike

FloatArray = NDArray[np.float64]


class PredictionSets(Explainable[M]):
    """The methods that answer with several classes where one cannot be told."""

    if TYPE_CHECKING:

        def predict_log_proba(self, X: Tabular) -> FloatArray:
            """``log P(c | x)``, (rows, classes)."""

    def predict_set(self, X: Tabular, coverage: float = 0.9, per_class: bool = False) -> Sets:
        """The classes of each row that cannot be excluded, (rows, classes), as booleans.

        The true class is in the sets of a share ``coverage`` of new rows, or more; with
        ``per_class``, of those of each class. It costs no held-out data: the scores of training
        rows, each left out, say which probabilities a true class has. docs/trust.md states
        what is guaranteed, and under which assumption. No set is empty.

        >>> from deciban import NaiveBayes
        >>> X, y = {"x": list("SSSMMMLLL") * 9}, list("aaaabbbbb") * 9
        >>> m = NaiveBayes().fit(X, y)
        >>> sets = m.predict_set({"x": ["S", "M"]}, coverage=0.95)
        >>> sets
        array([[ True, False],
               [ True,  True]])
        >>> [m.classes_[each].tolist() for each in sets]
        [['a'], ['a', 'b']]
        """
        scores = conformity_of(self._model())
        return scores.sets(self.predict_log_proba(X), coverage, per_class)

    def calibrate_sets(
        self, X: Tabular, y: LabelsLike, *, sample_weight: WeightsLike = None
    ) -> Self:
        """Make sets by the scores of rows that it was not fitted to.

        This is split conformal prediction, whose guarantee holds for any model. The scores of
        training rows, if there are any, are replaced.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> X, y = [[-2.0], [-1.0], [-0.1], [0.5], [1.0], [2.0]] * 4, list("aabbbb") * 4
        >>> m.calibrate_sets(X, y).predict_set([[0.0], [3.0]], coverage=0.9)
        array([[ True,  True],
               [False,  True]])
        """
        labelled = encoding.class_codes(y)
        log_posterior = self.predict_log_proba(X)
        encoding.check_length(log_posterior, len(labelled.codes), "X")
        codes = encoding.codes_of(y, self.classes_)
        weight = encoding.weights(sample_weight, len(codes))
        weight = np.ones(len(codes)) if weight is None else weight
        scores = ConformityScores.of(self.classes_, log_posterior, codes, weight)
        self._keep_conformity(scores)
        return self

    def _keep_conformity(self, scores: ConformityScores) -> None:
        """Make these the scores that sets are made from."""
        raise NotImplementedError
