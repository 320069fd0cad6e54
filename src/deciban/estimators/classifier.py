"""What any model of a table answers: probabilities, decisions, evidence, files."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from deciban import decision, explanation, labels
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen
from deciban.engines import ENGINES, Score
from deciban.engines.local.score import run_batches, score_batch
from deciban.engines.spark.score import scored_frame
from deciban.errors import InputError, ParameterError
from deciban.estimators.evaluated import Evaluated
from deciban.estimators.one_row import OneRow
from deciban.estimators.saved import Saved
from deciban.estimators.sets import PredictionSets
from deciban.explanation.changeable import M
from deciban.labels import Labels
from deciban.models import novelty
from deciban.models.columns import constant_values
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import with_conformity
from deciban.models.protocol import HasLeftOutScores, Scored
from deciban.prediction.base_rates import at_priors
from deciban.schema import Schema
from deciban.sources.frames import Output, make_frame, probability_columns
from deciban.sources.held import HeldTable, refuse_sparse
from deciban.sources.labelled import LabelledBatch, LabelledScan, few_texts, labelled_scan
from deciban.sources.spark import is_spark
from deciban.sources.tabular import LabelsLike, Tabular, WeightsLike
from deciban.sources.unit_sample import TrainingUnits
from deciban.sources.units import UnitSource
from deciban.sql.portable import Portable

FloatArray = NDArray[np.float64]


class TableClassifier(
    OneRow,
    PredictionSets[M],
    Evaluated[M],
    Saved[M],
    Portable,
    ClassifierMixin,
    BaseEstimator,
):
    """The methods that answer, batch by batch on all cores."""

    model_: M

    @classmethod
    def of_model(cls, model: M, target: str | None = None) -> Self:
        """A classifier that answers with a fitted model, whatever made it.

        >>> from deciban.naive_bayes import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0]], ["a", "a", "b"]).model_
        >>> TableClassifier.of_model(model).predict({"x0": [1.5]})
        array(['a'], dtype='<U1')
        """
        classifier = cls()
        classifier.model_ = model
        classifier.target_, classifier.n_features_in_ = target, len(model.schema.names)
        classifier.feature_names_in_ = labels.object_array(model.schema.names)
        classifier._unseen = NOTHING_UNSEEN
        return classifier

    def predict_joint_log_proba(self, X: Tabular) -> FloatArray:
        """``log P(c, x)`` of every row and class; the evidence is discounted if calibrated.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> np.exp(m.predict_joint_log_proba({"x": ["L"]})) * 60     # 3/5 * 1/4 and 2/5 * 2/3
        array([[ 9., 16.]])
        """
        return self._score(X, "log_joint")

    def predict_log_proba(self, X: Tabular) -> FloatArray:
        """``log P(c | x)`` of every row and class.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.predict_log_proba({"x": ["L"]}).round(3)
        array([[-1.022, -0.446]])
        """
        return self._score(X, "log_posterior")

    def predict_proba(
        self, X: Tabular, *, priors: decision.Rates | None = None, output: Output = None
    ) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        ``priors`` are how common classes are among these rows, where that is not as in training:
        probabilities in the order of the classes, or by class. With ``output`` the answer is a
        frame with a column for each class: ``"pandas"``, ``"polars"``, or ``"frame"``, which is
        what ``X`` is.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.predict_proba({"x": ["L"]})
        array([[0.36, 0.64]])
        >>> m.predict_proba({"x": ["L"]}, priors={1: 0.9, 2: 0.1}).round(3)
        array([[0.771, 0.229]])
        """
        if output == "frame" and is_spark(X):
            if priors is not None:
                raise ParameterError(
                    "other priors are not known to a data frame of Spark.",
                    hint="leave priors out, or pass output=None to bring the rows here",
                )
            scored: FloatArray = self._scored_frame(X, answers=False, prefix="")
            return scored
        if priors is None:
            posterior = self._score(X, "posterior")
        else:
            log_posterior = self._score(X, "log_posterior")
            posterior = np.exp(at_priors(log_posterior, self._model(), priors))
        if output is None:
            return posterior
        frame: FloatArray = make_frame(probability_columns(posterior, self.classes_), X, output)
        return frame

    def predict(self, X: Tabular, *, output: Output = None) -> Labels:
        """The likeliest class of every row.

        With ``output``, a frame of ``prediction`` and of a probability for each class, as the
        command writes them: ``"pandas"``, ``"polars"``, or ``"frame"``, which is what ``X`` is.
        A data frame of Spark stays one: all its columns and these, scored when they are asked for.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, ["a", "a", "b"])
        >>> m.predict({"x": ["S"]})
        array(['a'], dtype='<U1')
        """
        if output == "frame" and is_spark(X):
            scored: Labels = self._scored_frame(X, answers=True, prefix="p_")
            return scored
        posterior = self.predict_proba(X)
        answers = np.asarray(self.classes_[posterior.argmax(axis=1)])
        if output is None:
            return answers
        columns = probability_columns(posterior, self.classes_, "p_")
        frame: Labels = make_frame({"prediction": answers, **columns}, X, output)
        return frame

    def _scored_frame(self, X: Any, *, answers: bool, prefix: str) -> Any:
        """A data frame of Spark with its scores; columns that are not used pass through."""
        model = self._model()
        used = [name for name in X.columns if name in model.schema.names]
        rows = self._rows(X.select([f"`{name.replace('`', '``')}`" for name in used]))
        return scored_frame(
            X, rows, self.to_stored(), model.classes, answers=answers, prefix=prefix
        )

    def novelty(self, X: Tabular) -> FloatArray:
        """How likely a row like those that were learned is as unlikely as each: small is new.

        The share of training rows, each left out, whose values were as unlikely as those of the
        row or more so, (rows,): a p-value. Rows that are not new are below 0.01 once in a
        hundred times. See :mod:`deciban.models.novelty`.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": [1.0, 1.1, 1.2, 1.3, 1.4] * 40}, list("aaabb") * 40)
        >>> m.novelty({"x": [1.2, 7.0]}).round(3)
        array([1.   , 0.005])
        """
        model = self._model()
        parts = run_batches(self._rows(X), partial(novelty.novelty, model))
        return np.concatenate([np.empty(0), *parts])

    def decide(
        self,
        X: Tabular,
        loss: decision.Loss = None,
        abstain: float | None = None,
        novel: float | None = None,
    ) -> Labels:
        """The answer of least expected loss; None is an abstention.

        With ``abstain``, the cost of no answer, rows get none whose least expected loss is
        greater. With ``novel``, rows get none whose :meth:`novelty` is not above it: of rows
        like those that were learned, that share.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.decide({"x": ["L"]}), m.decide({"x": ["L"]}, loss=[[0, 1], [5, 0]])
        (array([2]), array([1]))
        """
        if novel is not None:
            novelty.check_level(novel)
            X = self._hold(X).X  # rows that can be read once are asked two things
        answers = decision.decide(self.predict_proba(X), self.classes_, loss, abstain)
        return answers if novel is None else novelty.abstain(answers, self.novelty(X), novel)

    def evidence(self, X: Tabular, against: Hashable = None) -> FloatArray:
        """Decibans of every column for every class, (rows, columns, classes), prior apart.

        With :meth:`prior_evidence` it adds up to the log-odds of
        :meth:`predict_joint_log_proba`; columns are those of ``schema_``.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.evidence({"x": ["L"]}).round(1)
        array([[[-4.3,  4.3]]])
        """
        at = explanation.position(against, self.classes_)
        model, batches = self._model(), list(self._rows(X).batches())
        self._unseen = self._mark_unseen(model, batches)[0]
        return self._batch_evidence(model, batches, at)

    def prior_evidence(self, against: Hashable = None) -> FloatArray:
        """Decibans of the prior for every class.

        Where the calibration has offsets of classes, they are in it.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=0, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> m.prior_evidence().round(2)
        array([ 3.01, -3.01])
        """
        prior = self._model().log_prior
        return explanation.decibans(prior, explanation.position(against, self.classes_))

    # ------------------------------------------------------------------ the model

    @property
    def classes_(self) -> Labels:
        """The classes, in order."""
        return self._model().classes

    @property
    def schema_(self) -> Schema:
        """What each column is, and why."""
        return self.model_.schema

    @property
    def unseen_(self) -> Unseen:
        """What the rows of the last call had that training did not: a mapping by column.

        Of each column it has how many values were never seen, some examples, and the reason:
        ``"never seen"`` of a category, ``"not a number"`` (or date, or time) where a value could
        not be cast to the column's type and was taken as missing. It is false where there was
        none. Words of a text, and numbers out of the range of training, are not counted.

        Every ``predict``, ``predict_proba``, ``evaluate``, ``explain`` and their like sets it anew.
        It is no part of a saved model. Where threads predict with one model at the same time, it
        is that of the call that ended last.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "S", "L"], "n": [1, 2, 3]}, ["a", "a", "b"])
        >>> m.predict({"x": ["S", "XL"], "n": ["2", "few"]})
        array(['a', 'a'], dtype='<U1')
        >>> m.unseen_
        x: 1 value never seen: 'XL'
        n: 1 value not a number: 'few'
        >>> m.unseen_["x"].count, m.unseen_["x"].examples
        (1, ('XL',))
        """
        self._model()
        return self._unseen

    def _model(self) -> M:
        """The fitted model: as it is, unless lessons wait to be learned."""
        state = self.__dict__
        if "model_" not in state:
            check_is_fitted(self, "model_")
        if "_stream" in state:
            return self.model_
        model: M = state["model_"]
        return model

    def _row_model(self) -> Scored | None:
        return self._answering()

    def _answering(self) -> Scored:
        """The model that predictions come from: where there are lessons, one that follows them."""
        return self._following() if "_stream" in self.__dict__ else self._model()

    def _following(self) -> Scored:
        """The model that follows lessons."""
        return self._model()

    def _keep_conformity(self, scores: ConformityScores) -> None:
        model = self._model()
        if not isinstance(model, HasLeftOutScores):
            raise InputError(f"a {model.kind} keeps no scores of left-out rows.")
        self.model_ = model.with_left_out(with_conformity(model.left_out, scores))

    def _hold(self, X: Tabular) -> HeldTable:
        """The rows of a table, in the columns of the model, held in memory."""
        refuse_sparse(X)
        return HeldTable.of_batches(X, self._rows(X).batches(), self._model().schema.names)

    def _labelled(self, X: Tabular, y: LabelsLike, target: str | None) -> Iterator[LabelledBatch]:
        """Labelled rows, in the columns of the model."""
        return self._rows(X, y, self._target(y, target)).labelled_batches()

    def _copy(self) -> Self:
        """Another estimator of the same parameters that has learned the same."""
        result: Self = clone(self)
        kept = {n: v for n, v in vars(self).items() if n.endswith("_") and not n.startswith("_")}
        result.__dict__.update(kept)
        return result

    def _rows(
        self,
        X: Tabular,
        y: LabelsLike = None,
        target: str | None = None,
        sql: str | None = None,
        weight: WeightsLike = None,
        units: UnitSource | None = None,
        model: Scored | None = None,
    ) -> LabelledScan:
        """Rows in the columns of the model."""
        model = self._answering() if model is None else model
        labelled = y is not None or target is not None
        return labelled_scan(
            X,
            y,
            target=target,
            sql=sql,
            weight=weight,
            units=units,
            caster=model.caster,
            ignore=self._other_columns,
            constants=partial(constant_values, model),
            classes=self.classes_ if labelled else None,
            named="feature_names_in_" in self.__dict__,
            model=type(self).__name__,
        )

    @property
    def _other_columns(self) -> list[str]:
        """The columns of training that are not features: labels, and groups or times."""
        units = None if self.units_ is None else self.units_.column
        return [name for name in (self.target_, units) if name is not None]

    def _remember(self, rows: LabelledScan) -> None:
        """What scikit-learn's users expect to find after fitting."""
        self.n_features_in_ = len(rows.schema.names)
        self.target_, self._unseen, self.trained_rows_ = rows.target, NOTHING_UNSEEN, None
        units = rows.units
        self.units_ = None if units is None else TrainingUnits(units.kind, units.name)
        if rows.named:
            self.feature_names_in_ = labels.object_array(rows.schema.names)
        else:
            self.__dict__.pop("feature_names_in_", None)

    def _target(self, y: LabelsLike, target: str | None) -> str | None:
        """The column of labels: the one it was in training, if nothing is said."""
        return self.target_ if y is None and target is None else target

    def _score(self, X: Tabular, what: Score) -> FloatArray:
        model = self._answering()
        few = few_texts(X, model.schema)
        if few is not None:
            scores, self._unseen = score_batch(few, model, what)
            return scores
        rows = self._rows(X, model=model)
        scores = ENGINES[rows.scan.place].score(rows, model, what)
        self._unseen = rows.unseen
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def table_classifier(estimator: Any) -> TableClassifier[Any]:
    """What answers questions about the rows of a table, whatever kind of estimator it is.

    The estimators of tables answer themselves; the models of those that take matrices are asked
    through the shell that all estimators of tables share.

    >>> from deciban.naive_bayes import GaussianNB
    >>> table_classifier(GaussianNB().fit([[1.0], [8.0]], ["a", "b"])).predict([{"x0": 2.0}])
    array(['a'], dtype='<U1')
    """
    if isinstance(estimator, TableClassifier):
        return estimator
    return TableClassifier.of_model(estimator.model_)
