"""What the five drop-in classifiers share: rows are counted, added and taken back.

A subclass names its family and says how rows are encoded (``_encoder``) and how parameters are
estimated (``_settings``, ``_stated_prior``); its fitted attributes show what the model holds.
"""

from __future__ import annotations

import os
from copy import copy
from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, files, labels
from deciban.errors import InputError, ModelFileError, ParameterError, ShapeError
from deciban.files.model import units_from, with_units
from deciban.labels import Labels
from deciban.models.calibration import LeftOutScores, pool
from deciban.models.prior import check_prior
from deciban.naive_bayes.dropins import stored
from deciban.naive_bayes.dropins.combining import check_combinable
from deciban.naive_bayes.dropins.counting import CountedRows, CountingClassifier
from deciban.naive_bayes.dropins.left_out import score_units
from deciban.naive_bayes.dropins.model import DropInModel
from deciban.sources import matrix
from deciban.sources.kept_rows import MAX_KEPT_ROWS, NOTHING_KEPT, KeptRows
from deciban.sources.matrix import (
    CheckedMatrix,
)
from deciban.sources.matrix_units import rows_by_place, take_units, training_units, units_of
from deciban.sources.tabular import Tabular, UnitsLike
from deciban.sources.unit_sample import TrainingUnits, check_units, later_units
from deciban.sources.units import UnitSource, unit_source
from deciban.stats.counts import Counts


class NaiveBayesClassifier(CountingClassifier):
    """A thin shell over counts, parameters and scores."""

    #: Parameters that say what is counted: models that differ in them do not add up.
    _counted_by: tuple[str, ...] = ()
    #: Whether scores start from the prior where there are several classes.
    _prior_of_many = True
    #: What is known of the groups or times of the rows; None where they had none.
    units_: TrainingUnits | None = None

    # ------------------------------------------------------------------ learning

    def fit(
        self,
        X: Tabular,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count the rows of X, labelled y, and forget whatever was counted before.

        ``groups`` are what rows belong to, such as a patient: one value a row, the name of a
        column of a frame, which is no feature then, or ``"auto"`` for rows that hold the same.
        Sets, novelty and ``evaluate()`` leave whole groups out, exactly. With ``time``, each row
        is judged by what came before it. What is counted, and every answer, is the same.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        fitted, units = copy(self), None  # what fails leaves this one as it was
        if groups is not None or time is not None:
            X, units = take_units(X, unit_source(groups, time))
        fitted.units_ = training_units(units)
        X, y = fitted._check_rows(X, y, reset=True)
        labelled = encoding.class_codes(y)
        given = sample_weight is not None
        weight = encoding.weights(sample_weight, len(y)) if given else None
        rows = X, labelled.codes, labelled.classes, weight
        fitted._learn(rows, units)
        self.__dict__ = fitted.__dict__
        return self

    def partial_fit(
        self,
        X: Tabular,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count some more rows; the first call names all the classes there will be.

        ``groups`` or ``time`` are as in :meth:`fit`; all calls have the same of both, or neither.
        Rows of a group that was learned in an earlier call are counted, but not judged.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().partial_fit([[2, 1]], ["spam"], classes=["ham", "spam"])
        >>> m.partial_fit([[0, 3]], ["ham"]).class_count_
        array([1., 1.])
        """
        first = "model_" not in self.__dict__
        known = encoding.partial_fit_classes(classes, None if first else self.classes_)
        fitted = copy(self)  # what fails leaves this one as it was
        units = later_units(self.units_, groups, time, fixed=not first)
        if units is not None:
            X, units = take_units(X, units)
        if first:
            fitted.units_ = training_units(units)
        X, y = fitted._check_rows(X, y, reset=first)
        codes = encoding.codes_of(y, known)
        rows = X, codes, known, encoding.weights(sample_weight, len(codes))
        fitted._learn(rows, units, None if first else self.model_)
        self.__dict__ = fitted.__dict__
        return self

    def forget(self, X: Tabular, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows back that were counted before, exactly: as if they had never been seen.

        Weighted rows are taken back with the weights they were counted with.
        The classes stay; a class without rows is possible again once it has some. What was
        kept to make sets and novelty by is forgotten as well.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3], [9, 0]], ["spam", "ham", "ham"])
        >>> m.forget([[9, 0]], ["ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        check_is_fitted(self)
        X, y = self._check_rows(X, y, reset=False)
        codes = encoding.codes_of(y, self.classes_)
        weight = encoding.weights(sample_weight, len(codes))
        gone = self._count(X, codes, self.classes_, weight)
        self._adopt(self._empty(self.classes_) + (self.counts_ - gone))
        return self

    def count_rows(self, X: Tabular, y: ArrayLike) -> Counts:
        """What these labelled rows would add; the model stays as it is.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.count_rows([[1, 1]], ["ham"]).weight, m.class_count_
        (array([1., 0.]), array([1., 1.]))
        """
        check_is_fitted(self)
        X, y = self._check_rows(X, y, reset=False)
        return self._count(X, encoding.codes_of(y, self.classes_), self.classes_, None)

    def with_counted(self, more: Counts) -> Self:
        """Another model that has these rows as well, of :meth:`count_rows`.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.with_counted(m.count_rows([[1, 1]], ["ham"])).class_count_
        array([2., 1.])
        """
        model = self.model_
        return self._with_counts(model.counts + more, self, model.kept, model.scores)

    def without_counted(self, gone: Counts) -> Self:
        """Another model without these rows, which were counted before; its classes stay.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.without_counted(m.count_rows([[0, 3]], ["ham"])).class_count_
        array([0., 1.])
        """
        return self._with_counts(self._empty(self.classes_) + (self.counts_ - gone), self)

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        if not isinstance(other, NaiveBayesClassifier):
            return NotImplemented
        check_combinable(self, other, self._counted_by)
        mine, theirs = self.model_, other.model_
        scores = pool(mine.scores, theirs.scores)
        return self._with_counts(
            mine.counts + theirs.counts, other, mine.kept + theirs.kept, scores
        )

    def __sub__(self, other: object) -> Self:
        """The model without the rows of the other; classes that have none left go with them."""
        if not isinstance(other, NaiveBayesClassifier):
            return NotImplemented
        check_combinable(self, other, self._counted_by)
        left = self.counts_ - other.counts_
        if not len(left.classes):
            raise InputError(
                f"nothing is left of {self.counts_.weight.sum():g} rows.",
                hint="forget keeps an empty model",
            )
        stay = (labels.positions(self.classes_, left.classes) >= 0) | (self.counts_.weight == 0)
        return self._with_counts(self._empty(self.classes_[stay]) + left, other)

    @property
    def counts_(self) -> Counts:
        """The table of counts."""
        return self.model_.counts

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a ``.deciban`` file: whole, or not at all.

        A model file that is there is replaced; any other file only if ``overwrite`` is True.

        >>> import tempfile, deciban
        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     deciban.load(f"{folder}/m.deciban").predict([[1, 0]])
        array(['spam'], dtype='<U4')
        """
        files.save(path, self.to_stored(), overwrite=overwrite)

    def to_stored(self) -> files.Stored:
        """What a file of the model holds."""
        check_is_fitted(self)
        named = hasattr(self, "feature_names_in_")
        content = stored.to_stored(self.model_, self.get_params(deep=False), named)
        return with_units(content, self.units_)

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator in a model file that was read."""
        model, about = stored.read(content)
        try:
            estimator = cls(**about.parameters)
            estimator.n_features_in_ = len(model.schema.names)
            if about.named:
                estimator.feature_names_in_ = labels.object_array(model.schema.names)
            estimator._adopt(model.counts, scores=model.scores)
            estimator.units_ = units_from(about.units)
        except (TypeError, ParameterError, ShapeError) as error:
            raise ModelFileError(
                f"the parameters are not those of {cls.__name__}: {error}"
            ) from None
        except InputError as error:
            raise ModelFileError(f"the model cannot be estimated: {error}") from None
        return estimator

    # ------------------------------------------------------------------ the model

    def _learn(
        self, rows: CountedRows, units: UnitSource | None, before: DropInModel | None = None
    ) -> None:
        """Count rows, beside those of the model ``before``; keep some, or judge those of units."""
        known = NOTHING_KEPT if before is None else before.kept
        scores = None if before is None else before.scores
        counts = self._count(*rows)
        counts = counts if before is None else before.counts + counts
        if units is None or self.units_ is None:
            self._adopt(counts, known + KeptRows.of(*rows), scores)
            return
        sample = self.units_.sample(MAX_KEPT_ROWS)
        sample.add(rows_by_place(units_of(units, rows[0]), *rows[1:]))
        if before is None:
            check_units(sample)
        self.units_.check_order(sample)
        self._adopt(counts)
        judged = pool(scores, score_units(self.model_, rows[0], sample))
        self.model_, self.units_ = self.model_.with_left_out(judged), self.units_.after(sample)

    def _adopt(
        self,
        counts: Counts,
        kept: KeptRows = NOTHING_KEPT,
        scores: LeftOutScores | None = None,
    ) -> None:
        """Make these counts the model, with rows among them and what was said of others."""
        stated, n_classes = self._stated_prior(), len(counts.classes)
        self.model_ = DropInModel(
            type(self).__name__,
            self._names(),
            counts,
            self._family,
            self._settings(counts),
            None if stated is None else check_prior(stated, n_classes),
            self._encoder(),
            self._prior_of_many or n_classes == 1,
            kept,
            scores,
        )
        self.classes_ = counts.classes

    def _names(self) -> list[str] | None:
        """The names of the columns of the matrix, if it had any."""
        names = vars(self).get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    # ------------------------------------------------------------------ combining

    def _with_counts(
        self,
        counts: Counts,
        other: NaiveBayesClassifier,
        kept: KeptRows = NOTHING_KEPT,
        scores: LeftOutScores | None = None,
    ) -> Self:
        """A model with the same parameters and other counts."""
        result: Self = clone(self)
        for name in ("feature_names_in_", "n_features_in_"):
            for side in (other, self):
                if name in vars(side):
                    setattr(result, name, vars(side)[name])
        result.units_ = None if self.units_ is None else self.units_ + other.units_
        result._adopt(counts, kept, scores)
        return result

    # ------------------------------------------------------------------ checking

    def _check_rows(self, X: Tabular, y: ArrayLike, *, reset: bool) -> tuple[CheckedMatrix, Labels]:
        y = encoding.require_labels(y, type(self).__name__)
        X = self._check_matrix(X, reset=reset)
        encoding.check_length(X, len(y), "X")
        return X, y

    def _check_matrix(self, X: Tabular, *, reset: bool = False) -> CheckedMatrix:
        """A matrix or CSR of the right width."""
        if not reset:
            check_is_fitted(self)
        return matrix.validate(self, X, reset=reset)
