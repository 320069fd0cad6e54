"""What a model of mixed tables answers: probabilities, decisions, evidence."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation, labels, threads
from deciban import files as storage
from deciban.files.document import field
from deciban.models import scores
from deciban.models.selection import Choice
from deciban.naive_bayes import spoken
from deciban.naive_bayes.gathering import few_texts, gather
from deciban.naive_bayes.importance import expected_evidence
from deciban.naive_bayes.model import Model
from deciban.naive_bayes.parts import Part
from deciban.naive_bayes.pieces import pieces
from deciban.naive_bayes.rows import Rows
from deciban.schema import Schema
from deciban.sources.columns import Batch
from deciban.stats.counts import Counts

FloatArray = NDArray[np.float64]


class Answering(explanation.Explainable, ClassifierMixin, BaseEstimator):
    """The methods that answer, batch by batch on all cores."""

    model_: Model
    classes_: NDArray[Any]
    target_: str | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """``log P(c, x)`` of every row and class; the evidence is discounted if calibrated.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> np.exp(m.predict_joint_log_proba({"x": ["L"]})) * 60     # 3/5 * 1/4 and 2/5 * 2/3
        array([[ 9., 16.]])
        """
        return self._scored(X, lambda joint: None)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.predict_log_proba({"x": ["L"]}).round(3)
        array([[-1.022, -0.446]])
        """
        prior = self._model().log_prior
        return self._scored(X, lambda joint: scores.normalise(joint, prior, logarithm=True))

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.predict_proba({"x": ["L"]})
        array([[0.36, 0.64]])
        """
        prior = self._model().log_prior
        return self._scored(X, lambda joint: scores.normalise(joint, prior))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
        >>> m.predict({"x": ["S"]})
        array(['a'], dtype='<U1')
        """
        posterior = self.predict_proba(X)
        return np.asarray(self.classes_[posterior.argmax(axis=1)])

    def decide(self, X: Any, loss: Any = None, abstain: float | None = None) -> NDArray[Any]:
        """The answer of least expected loss; None is an abstention.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.decide({"x": ["L"]}), m.decide({"x": ["L"]}, loss=[[0, 1], [5, 0]])
        (array([2]), array([1]))
        """
        return decision.decide(self.predict_proba(X), self.classes_, loss, abstain)

    def evidence(self, X: Any, against: Any = None) -> FloatArray:
        """Decibans of every column for every class, (rows, columns, classes), prior apart.

        With :meth:`prior_evidence` it adds up to the log-odds of
        :meth:`predict_joint_log_proba`; columns are those of ``schema_``.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.evidence({"x": ["L"]}).round(1)
        array([[[-4.3,  4.3]]])
        """
        model = self._model()
        at = explanation.position(against, self.classes_)

        def work(batch: Batch) -> FloatArray:
            return explanation.decibans(model.explain(batch), at)

        parts = list(threads.run(work, self._rows(X).batches()))
        shape = (0, len(self.schema_.names), len(self.classes_))
        return np.concatenate([np.empty(shape), *parts])

    def prior_evidence(self, against: Any = None) -> FloatArray:
        """Decibans of the prior for every class.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=0, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.prior_evidence().round(2)
        array([ 3.01, -3.01])
        """
        prior = self._model().log_prior
        return explanation.decibans(prior, explanation.position(against, self.classes_))

    # ------------------------------------------------------------------ files

    #: A model, its parameters, the column of labels, and whether columns have names.
    _to_stored: Callable[[Any, dict[str, Any], str | None, bool], storage.Stored]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.deciban`` file: whole, or not at all.

        >>> import tempfile
        >>> from deciban import NaiveBayes, load
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     load(f"{folder}/m.deciban").counts_ == m.counts_
        True
        """
        model, named = self._model(), hasattr(self, "feature_names_in_")
        storage.save(path, self._to_stored(model, self.get_params(), self.target_, named))

    # ------------------------------------------------------------------ the model

    def _pieces(self) -> list[explanation.Piece]:
        return pieces(self._model())

    def _importance(self) -> dict[str, FloatArray]:
        return expected_evidence(self._model(), self._pieces())

    def _word_evidence(self, column: str, text: str) -> list[tuple[str, int, int, list[float]]]:
        return spoken.spoken(self._model(), column, text)

    @property
    def schema_(self) -> Schema:
        """What each column is, and why."""
        return self.model_.schema

    @property
    def counts_(self) -> Counts:
        """The table of counts."""
        return self.model_.counts

    def _model(self) -> Model:
        if "model_" not in self.__dict__:
            check_is_fitted(self, "model_")
        return self.model_

    def _restore(self, model: Any, about: Mapping[str, Any]) -> None:
        """Take on a model that was read from a file, and what the file says about it."""
        self.model_, self.classes_ = model, model.counts.classes
        self.target_, self.n_features_in_ = about["target"], len(model.schema.names)
        if field(about, "named", bool):
            self.feature_names_in_ = labels.objects(model.schema.names)

    def _copied(self) -> Self:
        """Another estimator of the same parameters that has learned the same."""
        result: Self = clone(self)
        kept = {n: v for n, v in vars(self).items() if n.endswith("_") and not n.startswith("_")}
        result.__dict__.update(kept)
        return result

    def _rows(
        self,
        X: Any,
        y: Any = None,
        target: str | None = None,
        sql: str | None = None,
        weight: Any = None,
    ) -> Rows:
        """Rows in the columns of the model."""
        return gather(self, X, y, target, sql, weight, schema=self._model().schema)

    def _target(self, y: Any, target: str | None) -> str | None:
        """The column of labels: the one it was in training, if nothing is said."""
        return self.target_ if y is None and target is None else target

    def _scored(self, X: Any, finish: Callable[[FloatArray], None]) -> FloatArray:
        model = self._model()

        def work(batch: Batch) -> FloatArray:
            joint = np.empty((batch.n_rows, len(self.classes_)))
            model.fill_joint(batch, joint)
            finish(joint)
            return joint

        few = few_texts(X, model.schema)
        if few is not None:
            return work(few)
        parts = list(threads.run(work, self._rows(X).batches()))
        return np.concatenate([np.empty((0, len(self.classes_))), *parts])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class Scoring(Answering):
    """The same of models whose rows can be left out again."""

    def leave_one_out(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> FloatArray:
        """``log P(c | x)`` of counted rows, each as if it had never been seen.

        The choices (bins, smoothing, shapes, discount) stay. The price is one
        scoring pass; weighted rows are taken out with the weights they have.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> np.exp(m.leave_one_out({"x": ["S"]}, [1])).round(3)      # 2/4 * 2/3 and 2/4 * 1/3
        array([[0.667, 0.333]])
        """
        model = self._model()

        def work(part: Part) -> FloatArray:
            y = part.codes_among(self.classes_)
            prior, said = model.left_out(part.batch, y, part.weights)
            joint = model.believed(prior, said)
            scores.normalise(joint, model.log_prior, logarithm=True)
            return joint

        rows = self._rows(X, y, self._target(y, target), sql, sample_weight)
        parts = list(threads.run(work, rows.labelled()))
        return np.concatenate([np.empty((0, len(self.classes_))), *parts])

    @property
    def choices_(self) -> dict[str, Choice]:
        """How each counted column is modelled."""
        return self.model_.choices

    @property
    def temperature_(self) -> float:
        """One over the discount of the evidence: 1 is the pure model."""
        return 1.0 / self.model_.discount
