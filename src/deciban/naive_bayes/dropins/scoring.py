"""Scores and answers: joints, posteriors, the likeliest class, the least loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from deciban import decision, threads
from deciban.models import scores
from deciban.naive_bayes.dropins.chunks import score_chunks
from deciban.naive_bayes.dropins.model import BLOCK, Model
from deciban.sources.matrix import FloatArray, is_sparse, slice_rows


class Scoring(Model):
    """The methods that answer, chunk by chunk on all cores: memory stays near the result's."""

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """``log P(c, x)`` of every row and class, in the order of ``classes_``.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> np.exp(m.predict_joint_log_proba([[1, 0]]))       # 1/2 * 1/5, 1/2 * 3/5
        array([[0.1, 0.3]])
        """
        return self._scored(X, lambda joint: None)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.predict_log_proba([[1000, 0]]).round(1)
        array([[-1098.6,     0. ]])
        """
        return self._scored(X, lambda joint: scores.normalise(joint, self._prior, logarithm=True))

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.predict_proba([[1, 0]]).round(4)
        array([[0.25, 0.75]])
        """
        return self._scored(X, lambda joint: scores.normalise(joint, self._prior))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).predict([[1, 0]])
        array(['spam'], dtype='<U4')
        """
        check_is_fitted(self)
        return self._answered(X, self.classes_.dtype, self._likeliest)

    def decide(self, X: Any, loss: Any = None, abstain: float | None = None) -> NDArray[Any]:
        """The answer of least expected loss for every row.

        ``loss[i][j]`` is the cost of answering ``classes_[i]`` when
        ``classes_[j]`` is true, or a mapping ``{(answer, truth): cost}``;
        without it, the likeliest class. With ``abstain``, the cost of giving
        no answer, the result is an object array with None for an abstention.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.decide([[1, 0], [9, 0]], loss={("spam", "ham"): 5})
        array(['ham', 'spam'], dtype='<U4')
        >>> m.decide([[1, 0], [9, 0]], abstain=0.2)
        array([None, 'spam'], dtype=object)
        """
        check_is_fitted(self)
        matrix = None if loss is None else decision.loss_matrix(loss, self.classes_)

        def best(joint: FloatArray) -> NDArray[Any]:
            scores.normalise(joint, self._prior)
            return decision.decide(joint, self.classes_, matrix, abstain)

        return self._answered(X, self.classes_.dtype if abstain is None else object, best)

    def _likeliest(self, joint: FloatArray) -> NDArray[Any]:
        """The best class of each row; of a row that no class can have produced, by the prior."""
        best = scores.likeliest(joint)
        best[joint[np.arange(len(best)), best] == -np.inf] = np.argmax(self._prior)
        return np.asarray(self.classes_[best])

    def _scored(self, X: Any, finish: Callable[[FloatArray], None]) -> FloatArray:
        """Log joints, finished in place."""
        X = self._checked(X)
        out = np.empty((X.shape[0], len(self.classes_)))

        def work(part: slice) -> None:
            self._fill(X, part, out[part])
            finish(out[part])

        self._each_chunk(X, work)
        return out

    def _answered(
        self, X: Any, dtype: Any, answer: Callable[[FloatArray], NDArray[Any]]
    ) -> NDArray[Any]:
        """One answer a row, from its log joints."""
        X = self._checked(X)
        out = np.empty(X.shape[0], dtype=dtype)

        def work(part: slice) -> None:
            joint = np.empty((part.stop - part.start, len(self.classes_)))
            self._fill(X, part, joint)
            out[part] = answer(joint)

        self._each_chunk(X, work)
        return out

    def _fill(self, X: Any, part: slice, out: FloatArray) -> None:
        rows = self._scorable(slice_rows(X, part))
        scores.fill_log_joint(self._params, {BLOCK: rows}, out)

    def _each_chunk(self, X: Any, work: Callable[[slice], None], extra: int = 0) -> None:
        """Work on all rows; ``extra`` numbers a row are needed besides the scores."""
        width = self._width(X) + len(self.classes_) + extra
        gathered = is_sparse(X) and not self._dense and not extra
        for _ in threads.run(work, score_chunks(X.shape[0], width, gathered=gathered)):
            pass
