"""What the five drop-in classifiers answer: probabilities, decisions and evidence of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation, threads
from deciban.decision import Loss
from deciban.estimators.evaluated import Evaluated
from deciban.estimators.sets import PredictionSets
from deciban.labels import Labels
from deciban.models import novelty, scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import with_conformity
from deciban.naive_bayes.dropins.model import DropInModel
from deciban.prediction.base_rates import at_priors
from deciban.sources.frames import Output, make_frame, probability_columns
from deciban.sources.matrix import (
    CheckedMatrix,
    CSRRows,
    FloatArray,
    canonical,
    is_sparse,
    numbers_per_row,
    slice_rows,
)
from deciban.sources.tabular import Tabular
from deciban.sql.portable import Portable


class MatrixClassifier(
    PredictionSets[DropInModel],
    Evaluated[DropInModel],
    explanation.MatrixExplainable[DropInModel],
    Portable,
    ClassifierMixin,
    BaseEstimator,
):
    """The methods that answer, chunk by chunk on all cores."""

    #: Whether sparse rows are counted and scored as dense ones.
    _dense = False

    model_: DropInModel
    classes_: Labels
    n_features_in_: int
    feature_names_in_: Labels

    # ------------------------------------------------------------------ answers

    def predict_joint_log_proba(self, X: Tabular) -> FloatArray:
        """``log P(c, x)`` of every row and class, in the order of ``classes_``.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> np.exp(m.predict_joint_log_proba([[1, 0]]))       # 1/2 * 1/5, 1/2 * 3/5
        array([[0.1, 0.3]])
        """
        return self._score(X, lambda joint: None)

    def predict_log_proba(self, X: Tabular) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.predict_log_proba([[1000, 0]]).round(1)
        array([[-1098.6,     0. ]])
        """
        check_is_fitted(self)
        prior = self.model_.fallback
        return self._score(X, lambda joint: scores.normalise(joint, prior, logarithm=True))

    def predict_proba(
        self, X: Tabular, *, priors: decision.Rates | None = None, output: Output = None
    ) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        ``priors`` are how common classes are among these rows, where that is not as in training.
        With ``output``, a frame with a column for each class: ``"pandas"``, ``"polars"``, or
        ``"frame"``, which is what ``X`` is.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.predict_proba([[1, 0]]).round(4)
        array([[0.25, 0.75]])
        >>> m.predict_proba([[1, 0]], priors=[0.9, 0.1]).round(4)
        array([[0.75, 0.25]])
        """
        check_is_fitted(self)
        prior = self.model_.fallback
        if priors is None:
            posterior = self._score(X, lambda joint: scores.normalise(joint, prior))
        else:
            posterior = np.exp(at_priors(self.predict_log_proba(X), self.model_, priors))
        if output is None:
            return posterior
        frame: FloatArray = make_frame(probability_columns(posterior, self.classes_), X, output)
        return frame

    def predict(self, X: Tabular, *, output: Output = None) -> Labels:
        """The likeliest class of every row.

        With ``output``, a frame of ``prediction`` and of a probability for each class.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).predict([[1, 0]])
        array(['spam'], dtype='<U4')
        """
        check_is_fitted(self)
        answers = self._map_joint(X, self.classes_.dtype, self._likeliest)
        if output is None:
            return answers
        columns = probability_columns(self.predict_proba(X), self.classes_, "p_")
        frame: Labels = make_frame({"prediction": answers, **columns}, X, output)
        return frame

    def novelty(self, X: Tabular) -> FloatArray:
        """How likely a row like those that were learned is as unlikely as each: small is new.

        The share of counted rows, each left out, that were as unlikely or more so, (rows,): a
        p-value. See :mod:`deciban.models.novelty`.

        >>> from deciban.naive_bayes import GaussianNB
        >>> X = [[x / 10] for x in range(100)]
        >>> GaussianNB().fit(X, [0, 1] * 50).novelty([[5.0], [99.0]]).round(2)
        array([1.  , 0.01])
        """
        check_is_fitted(self)
        X, typicality = self._check_matrix(X), novelty.require_typicality(self.model_)[1]
        out = np.empty(X.shape[0])

        def work(part: slice) -> None:
            out[part] = typicality.novelty(self.model_.likelihoods_of_matrix(slice_rows(X, part)))

        self._each_chunk(X, work)
        return out

    def decide(
        self,
        X: Tabular,
        loss: Loss = None,
        abstain: float | None = None,
        novel: float | None = None,
    ) -> Labels:
        """The answer of least expected loss for every row.

        ``loss[i][j]`` is the cost of answering ``classes_[i]`` when
        ``classes_[j]`` is true, or a mapping ``{(answer, truth): cost}``;
        without it, the likeliest class. With ``abstain``, the cost of giving
        no answer, the result is an object array with None for an abstention. So it is with
        ``novel`` where the :meth:`novelty` of a row is not above it.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.decide([[1, 0], [9, 0]], loss={("spam", "ham"): 5})
        array(['ham', 'spam'], dtype='<U4')
        >>> m.decide([[1, 0], [9, 0]], abstain=0.2)
        array([None, 'spam'], dtype=object)
        """
        check_is_fitted(self)
        if novel is not None:
            novelty.check_level(novel)
        matrix = None if loss is None else decision.loss_matrix(loss, self.classes_)

        def best(joint: FloatArray) -> Labels:
            scores.normalise(joint, self.model_.fallback)
            return decision.decide(joint, self.classes_, matrix, abstain)

        answers = self._map_joint(X, self.classes_.dtype if abstain is None else object, best)
        return answers if novel is None else novelty.abstain(answers, self.novelty(X), novel)

    def _keep_conformity(self, scores: ConformityScores) -> None:
        self.model_ = self.model_.with_left_out(with_conformity(self.model_.left_out, scores))

    def _likeliest(self, joint: FloatArray) -> Labels:
        """The best class of each row; of a row that no class can have produced, by the prior."""
        best = scores.likeliest(joint)
        best[joint[np.arange(len(best)), best] == -np.inf] = np.argmax(self.model_.fallback)
        return np.asarray(self.classes_[best])

    def _score(self, X: Tabular, finish: Callable[[FloatArray], None]) -> FloatArray:
        """Log joints, finished in place."""
        X = self._check_matrix(X)
        out = np.empty((X.shape[0], len(self.classes_)))

        unseen: list[slice] = []

        def work(part: slice) -> None:
            if self.model_.score(slice_rows(X, part), out[part]):
                unseen.append(part)
            finish(out[part])

        self._each_chunk(X, work)
        self._note_unseen(X, unseen)
        return out

    def _map_joint(
        self, X: Tabular, dtype: DTypeLike, answer: Callable[[FloatArray], Labels]
    ) -> Labels:
        """One answer a row, from its log joints."""
        X = self._check_matrix(X)
        out = np.empty(X.shape[0], dtype=dtype)

        unseen: list[slice] = []

        def work(part: slice) -> None:
            joint = np.empty((part.stop - part.start, len(self.classes_)))
            if self.model_.score(slice_rows(X, part), joint):
                unseen.append(part)
            out[part] = answer(joint)

        self._each_chunk(X, work)
        self._note_unseen(X, unseen)
        return out

    def _each_chunk(self, X: CheckedMatrix, work: Callable[[slice], None], extra: int = 0) -> None:
        """Work on all rows; ``extra`` numbers a row are needed besides the scores."""
        width = self._width(X) + len(self.classes_) + extra
        gathered = is_sparse(X) and not self._dense and not extra
        for _ in threads.run(work, threads.score_chunks(X.shape[0], width, gathered=gathered)):
            pass

    # ------------------------------------------------------------------ reasons

    def evidence(self, X: Tabular, against: Hashable = None) -> Tabular:
        """What every column says about every class, in decibans, prior apart.

        A dense X gives an array (rows, columns, classes). The evidence of the
        columns and :meth:`prior_evidence` add up to ten times the decimal
        logarithm of the odds of the joints: of a class against the class
        ``against``, or by default against the geometric mean of all others
        (for two classes: the other one).

        A sparse X gives a list with one CSR matrix (rows, columns) a class: how
        far each non-zero moves the evidence from that of a row of zeros, which
        ``prior_evidence(zeros=True)`` includes.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.evidence([[1, 1]])[0].round(1)           # two words; ham, spam
        array([[-4.8,  4.8],
               [ 3. , -3. ]])
        """
        X = self._check_matrix(X)
        at = explanation.position(against, self.classes_)
        return self._sparse_evidence(X, at) if is_sparse(X) else self._dense_evidence(X, at)

    def prior_evidence(self, against: Hashable = None, *, zeros: bool = False) -> FloatArray:
        """What the prior says about every class; with ``zeros``, and a row of zeros.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[1], [1], [1]], ["spam", "ham", "ham"])
        >>> m.prior_evidence().round(1)
        array([ 3., -3.])
        """
        check_is_fitted(self)
        at = explanation.position(against, self.classes_)
        prior = explanation.decibans(self.model_.log_prior, at)
        if not zeros:
            return prior
        with np.errstate(invalid="ignore"):
            return np.asarray(prior + self._zero_evidence(at).sum(axis=0))

    def _dense_evidence(self, X: CheckedMatrix, against: int | None) -> FloatArray:
        shape = (*X.shape, len(self.classes_))
        out = np.empty(shape)
        model = self.model_

        def work(part: slice) -> None:
            rows = model.encode(slice_rows(X, part))
            out[part] = explanation.decibans(model.parameters.contributions(rows), against)

        self._each_chunk(X, work, extra=shape[1] * shape[2])
        return out

    def _sparse_evidence(self, X: CheckedMatrix, against: int | None) -> list[CheckedMatrix]:
        """Value by value, so that memory follows the non-zeros."""
        X = canonical(X)
        n_classes = len(self.classes_)
        zero = self._zero_evidence(against)
        data = [np.empty(X.nnz) for _ in range(n_classes)]

        def work(part: slice) -> None:
            rows = CSRRows(X, part)
            entries = explanation.decibans(self._entry_contributions(rows), against)
            moved = _difference(entries, zero[rows.indices])
            for c in range(n_classes):
                data[c][X.indptr[part.start] : X.indptr[part.stop]] = moved[:, c]

        self._each_chunk(X, work, extra=numbers_per_row(X) * n_classes)
        # Every matrix has its own indices: changing one changes neither the others nor X.
        parts = ((values, X.indices.copy(), X.indptr.copy()) for values in data)
        return [type(X)(part, shape=X.shape) for part in parts]

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        """The log likelihood of every stored value: (values, classes)."""
        raise NotImplementedError

    def _zero_evidence(self, against: int | None) -> FloatArray:
        zeros = self.model_.encode(np.zeros((1, self.n_features_in_)))
        return explanation.decibans(self.model_.parameters.contributions(zeros)[0], against)

    # ------------------------------------------------------------------ what a subclass says

    def _note_unseen(self, X: CheckedMatrix, parts: list[slice]) -> None:
        """Remember the categories in some parts of X that were never seen; numbers are none."""

    def _check_matrix(self, X: Tabular, *, reset: bool = False) -> CheckedMatrix:
        """A matrix or CSR of the right width."""
        raise NotImplementedError

    def _width(self, X: CheckedMatrix) -> int:
        """How many numbers an encoded row holds."""
        raise NotImplementedError


def _difference(entries: FloatArray, before: FloatArray) -> FloatArray:
    """How far evidence moved; infinite evidence that stays the same has not."""
    with np.errstate(invalid="ignore"):
        return np.where(entries == before, 0.0, entries - before)
