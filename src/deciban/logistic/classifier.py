"""What a linear classifier predicts: probabilities, decisions, evidence."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation
from deciban.decision import Loss
from deciban.estimators.evaluated import Evaluated
from deciban.estimators.one_row import OneRow
from deciban.estimators.sets import PredictionSets
from deciban.labels import Labels
from deciban.logistic.left_out import FittedRows
from deciban.logistic.model import LogisticModel
from deciban.models import novelty, scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, with_conformity
from deciban.prediction.base_rates import at_priors
from deciban.sources.frames import Output, make_frame, probability_columns
from deciban.sources.matrix import finite_matrix, is_sparse
from deciban.sources.tabular import Tabular
from deciban.sql.portable import Portable

FloatArray = NDArray[np.float64]


class LinearClassifier(
    OneRow,
    PredictionSets[LogisticModel],
    Evaluated[LogisticModel],
    explanation.MatrixExplainable[LogisticModel],
    Portable,
    ClassifierMixin,
    BaseEstimator,
):
    """Predictions from ``coef_``, ``intercept_`` and ``classes_``, as :attr:`model_` has them."""

    multi_class: str
    coef_: FloatArray
    intercept_: FloatArray
    classes_: Labels
    feature_names_in_: Labels

    @property
    def model_(self) -> LogisticModel:
        """The fitted model, which needs no scikit-learn.

        >>> from deciban import LogisticRegression
        >>> LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"]).model_.schema.names
        ('x0',)
        """
        check_is_fitted(self)
        return LogisticModel(
            self.classes_,
            self.coef_,
            self.intercept_,
            self.multi_class == "ovr" and len(self.classes_) > 2,
            vars(self).get("feature_names_in_"),
            vars(self).get("_columns"),
            vars(self).get("_left_out"),
            vars(self).get("_fitted"),
            vars(self).get("_bounds"),
        )

    def decision_function(self, X: Tabular) -> FloatArray:
        """The logits: of the second class for two classes, (rows,), else (rows, classes).

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.decision_function([[2.0]]).round(3)
        array([1.35])
        """
        logits = self._logits(X)
        return logits[:, 0] if logits.shape[1] == 1 else logits

    def predict_joint_log_proba(self, X: Tabular) -> FloatArray:
        """Log-probabilities of the classes, but for a term that all classes share.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_joint_log_proba([[2.0]]).round(3)
        array([[0.  , 1.35]])
        """
        model = self.model_
        return model.log_joint_of_matrix(finite_matrix(self, X, reset=False))

    def predict_log_proba(self, X: Tabular) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_log_proba([[0.0]]).round(3)
        array([[-0.693, -0.693]])
        """
        return self._posterior(X, logarithm=True)

    def predict_proba(
        self, X: Tabular, *, priors: decision.Rates | None = None, output: Output = None
    ) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        ``priors`` are how common classes are among these rows, where that is not as in training.
        With ``output``, a frame with a column for each class: ``"pandas"``, ``"polars"``, or
        ``"frame"``, which is what ``X`` is.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict_proba([[2.0]]).round(3)
        array([[0.206, 0.794]])
        >>> m.predict_proba([[2.0]], priors={"a": 0.9, "b": 0.1}).round(3)
        array([[0.7, 0.3]])
        """
        posterior = self._posterior(X, logarithm=priors is not None)
        if priors is not None:
            posterior = np.exp(at_priors(posterior, self.model_, priors))
        if output is None:
            return posterior
        frame: FloatArray = make_frame(probability_columns(posterior, self.classes_), X, output)
        return frame

    def predict(self, X: Tabular, *, output: Output = None) -> Labels:
        """The likeliest class of every row.

        With ``output``, a frame of ``prediction`` and of a probability for each class.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.predict([[2.0], [-0.1]])
        array(['b', 'a'], dtype='<U1')
        """
        logits = self._logits(X)
        two = logits.shape[1] == 1
        best = (logits[:, 0] > 0).astype(np.intp) if two else logits.argmax(axis=1)
        answers = np.asarray(self.classes_[best])
        if output is None:
            return answers
        columns = probability_columns(self.predict_proba(X), self.classes_, "p_")
        frame: Labels = make_frame({"prediction": answers, **columns}, X, output)
        return frame

    def decide(
        self,
        X: Tabular,
        loss: Loss = None,
        abstain: float | None = None,
        novel: float | None = None,
    ) -> Labels:
        """The answer of least expected loss; None is an abstention.

        With ``abstain``, the cost of no answer, rows get none whose least expected loss is
        greater. With ``novel``, rows get none whose :meth:`novelty` is not above it.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.decide([[2.0]], loss={("b", "a"): 9}), m.decide([[0.1]], abstain=0.2)
        (array(['a'], dtype='<U1'), array([None], dtype=object))
        """
        if novel is not None:
            novelty.check_level(novel)
        answers = decision.decide(self.predict_proba(X), self.classes_, loss, abstain)
        return answers if novel is None else novelty.abstain(answers, self.novelty(X), novel)

    def novelty(self, X: Tabular) -> FloatArray:
        """How likely a row like those that were learned is as unlikely as each: small is new.

        Coefficients do not know how likely a row is; what the columns were in training does
        (:mod:`deciban.logistic.typicality`). The result is a p-value, (rows,).

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[x / 10] for x in range(100)], [0, 1] * 50)
        >>> m.novelty([[5.0], [99.0]]).round(2)
        array([1.  , 0.01])
        """
        model = self.model_
        typicality = novelty.require_typicality(model)[1]
        return typicality.novelty(model.likelihoods_of_matrix(finite_matrix(self, X, reset=False)))

    def evidence(self, X: Tabular, against: Hashable = None) -> Tabular:
        """The evidence of every column for every class, in decibans, from the mean row on.

        A dense X gives (rows, columns, classes): ``w_cj (x_j - m_j)`` against the other
        classes, or against the class named, with the mean row m of training. With
        :meth:`prior_evidence` it adds up to the log-odds of :meth:`predict_joint_log_proba`.
        A sparse X gives a list with one CSR matrix (rows, columns) a class, ``w_cj x_j``: measured
        from the mean row, a number that is not stored would be evidence too. It adds up with
        ``prior_evidence(centred=False)``.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
        >>> m.evidence([[2.0]]).round(1)
        array([[[-5.9,  5.9]]])
        """
        model, at = self.model_, explanation.position(against, self.classes_)
        X = finite_matrix(self, X, reset=False)
        if not is_sparse(X):
            return explanation.decibans(model.contributions_of_matrix(X), at)
        slopes = model.slopes(X, np.zeros(X.shape[1])).repeat(np.diff(X.indptr), axis=0)
        parts = model.bound(X).data[:, None] * model.coef_by_class.T[X.indices] * slopes
        by_class = explanation.decibans(parts, at).T
        return [type(X)((d, X.indices.copy(), X.indptr.copy()), shape=X.shape) for d in by_class]

    def prior_evidence(self, against: Hashable = None, *, centred: bool = True) -> FloatArray:
        """The evidence of the mean row for every class, in decibans: what is known before any.

        ``centred=False`` is that of the intercept alone, to which the evidence of a sparse
        matrix is added.

        >>> from deciban import LogisticRegression
        >>> m = LogisticRegression().fit([[0.0], [0.0], [0.0]], ["a", "b", "b"])
        >>> m.prior_evidence().round(2)
        array([-3.01,  3.01])
        """
        model, at = self.model_, explanation.position(against, self.classes_)
        if centred:
            return explanation.decibans(model.log_prior, at)
        zero = np.zeros((1, model.coef.shape[1]))
        return explanation.decibans(model.log_joint_of_matrix(zero)[0], at)

    # ------------------------------------------------------------------ inside

    def _row_model(self) -> LogisticModel:
        return self.model_

    def _keep_conformity(self, scores: ConformityScores) -> None:
        before = self.model_.left_out
        self._left_out: KeptScores | None = with_conformity(before, scores)
        self._fitted: FittedRows | None = None

    def _logits(self, X: Tabular) -> FloatArray:
        model = self.model_
        return model.logits(finite_matrix(self, X, reset=False))

    def _posterior(self, X: Tabular, *, logarithm: bool) -> FloatArray:
        out = np.ascontiguousarray(self.predict_joint_log_proba(X))
        even = np.full(len(self.classes_), -np.log(len(self.classes_)))
        scores.normalise(out, even, logarithm=logarithm)
        return out
