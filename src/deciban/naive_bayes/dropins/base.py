"""What the five drop-in classifiers share: what they learned is added, taken back and saved."""

from __future__ import annotations

import os
from typing import Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, files, labels
from deciban.errors import InputError, ModelFileError, ParameterError, ShapeError
from deciban.files.model import units_from, with_units
from deciban.models.leave_one_out_scores import KeptScores, pool
from deciban.naive_bayes.dropins import stored
from deciban.naive_bayes.dropins.combining import check_combinable
from deciban.naive_bayes.dropins.learning import LearningClassifier
from deciban.sources.kept_rows import NOTHING_KEPT, KeptRows
from deciban.sources.tabular import Tabular
from deciban.stats.counts import Counts


class NaiveBayesClassifier(LearningClassifier):
    """A thin shell over counts, parameters and scores."""

    #: Parameters that say what is counted: models that differ in them do not add up.
    _counted_by: tuple[str, ...] = ()

    # ------------------------------------------------------------------ more rows, fewer rows

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

    # ------------------------------------------------------------------ combining

    def _with_counts(
        self,
        counts: Counts,
        other: NaiveBayesClassifier,
        kept: KeptRows = NOTHING_KEPT,
        scores: KeptScores | None = None,
    ) -> Self:
        """A model with the same parameters and other counts."""
        result: Self = clone(self)
        for name in ("feature_names_in_", "n_features_in_"):
            for side in (other, self):
                if name in vars(side):
                    setattr(result, name, vars(side)[name])
        if self.units_ is not None:
            result.units_ = self.units_ + other.units_
        result._adopt(counts, kept, scores)
        return result
