"""What a linear classifier answers: probabilities, decisions, evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation
from deciban.errors import ParameterError
from deciban.explanation import rows
from deciban.logistic import checks
from deciban.models import scores

FloatArray = NDArray[np.float64]


class Answering(explanation.Explainable, ClassifierMixin, BaseEstimator):
    """The methods that answer, from ``coef_``, ``intercept_`` and ``classes_``."""

    multi_class: str
    coef_: FloatArray
    intercept_: FloatArray
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> FloatArray:
        """The scores: of the second class for two classes, (rows,), else (rows, classes).

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.decision_function([[2.0]]).round(3)
        array([1.35])
        """
        found = self._scores(X)
        return found[:, 0] if found.shape[1] == 1 else found

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Log-probabilities of the classes, but for a term that all classes share.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_joint_log_proba([[2.0]]).round(3)
        array([[0.  , 1.35]])
        """
        found = self._scores(X)
        if found.shape[1] == 1:
            return np.column_stack([np.zeros(len(found)), found])
        return -np.logaddexp(0.0, -found) if self._one_by_one() else found

    def predict_log_proba(self, X: Any) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_log_proba([[0.0]]).round(3)
        array([[-0.693, -0.693]])
        """
        return self._normalised(X, logarithm=True)

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_proba([[2.0]]).round(3)
        array([[0.206, 0.794]])
        """
        return self._normalised(X, logarithm=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict([[2.0], [-0.1]])
        array(['b', 'a'], dtype='<U1')
        """
        found = self._scores(X)
        at = (found[:, 0] > 0).astype(np.intp) if found.shape[1] == 1 else found.argmax(axis=1)
        return np.asarray(self.classes_[at])

    def decide(self, X: Any, loss: Any = None, abstain: float | None = None) -> NDArray[Any]:
        """The answer of least expected loss; None is an abstention.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.decide([[2.0]], loss={("b", "a"): 9}), m.decide([[0.1]], abstain=0.2)
        (array(['a'], dtype='<U1'), array([None], dtype=object))
        """
        return decision.decide(self.predict_proba(X), self.classes_, loss, abstain)

    def evidence(self, X: Any, against: Any = None) -> Any:
        """What every column says about every class, in decibans, intercept apart.

        A dense X gives (rows, columns, classes): ``w_cj x_j`` against the other
        classes, or against the class named. With :meth:`prior_evidence` it adds
        up to the log-odds of :meth:`predict_joint_log_proba`. A sparse X gives
        a list with one CSR matrix (rows, columns) a class. Of three or more
        classes one against the rest, each is compared with the rest.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.evidence([[2.0]]).round(1)
        array([[[-5.9,  5.9]]])
        """
        check_is_fitted(self)
        X = checks.matrix(self, X, reset=False)
        said = self._decibans(self._by_class(self.coef_), against)
        if not hasattr(X, "indptr"):
            return X[:, :, None] * said.T
        parts = (X.data * of_class[X.indices] for of_class in said)
        return [type(X)((p, X.indices.copy(), X.indptr.copy()), shape=X.shape) for p in parts]

    def prior_evidence(self, against: Any = None) -> FloatArray:
        """What the intercept says about every class, in decibans.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[0.0], [0.0], [0.0]], ["a", "b", "b"])
        >>> m.prior_evidence().round(2)
        array([-3.01,  3.01])
        """
        check_is_fitted(self)
        return self._decibans(self._by_class(self.intercept_), against)

    # ------------------------------------------------------------------ reasons

    _hole: Any = 0.0

    def _pieces(self) -> list[explanation.Piece]:
        """A line for each column: what nothing and one unit of it say.

        No moments are kept, so importance is by the unit, for columns on one scale.
        """
        even = np.array([np.zeros(len(self.classes_)), np.ones(len(self.classes_))])
        weights = self._by_class(self.coef_).T
        return [
            explanation.Piece(name, name, "amount", (0.0, 1.0), even * weights[j], even)
            for j, name in enumerate(rows.features(self))
        ]

    def _importance(self) -> dict[str, FloatArray]:
        """How far one unit of each column moves each class, whichever way."""
        said = np.abs(explanation.decibans(self._by_class(self.coef_).T))
        return dict(zip(rows.features(self), said / len(self.classes_), strict=True))

    # ------------------------------------------------------------------ scores

    def _scores(self, X: Any) -> FloatArray:
        """(rows, scores)."""
        check_is_fitted(self)
        X = checks.matrix(self, X, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _normalised(self, X: Any, *, logarithm: bool) -> FloatArray:
        joint = np.ascontiguousarray(self.predict_joint_log_proba(X))
        even = np.full(len(self.classes_), -np.log(len(self.classes_)))
        scores.normalise(joint, even, logarithm=logarithm)
        return joint

    def _one_by_one(self) -> bool:
        """Whether each class has a classifier of its own."""
        return self.multi_class == "ovr" and len(self.classes_) > 2

    def _by_class(self, coefficients: FloatArray) -> FloatArray:
        """One row a class, also for two classes."""
        if len(coefficients) == 1:
            return np.concatenate([np.zeros_like(coefficients), coefficients])
        return coefficients

    def _decibans(self, by_class: FloatArray, against: Any) -> FloatArray:
        at = explanation.position(against, self.classes_)
        if not self._one_by_one():
            return np.asarray(explanation.decibans(by_class.T, at).T)
        if at is not None:
            raise ParameterError(
                f'against={against!r}: with multi_class="ovr" a class is compared with the rest.',
                hint='multi_class="softmax" compares any two',
            )
        return np.asarray(explanation.DECIBANS * by_class)
