"""What the five drop-in classifiers share: rows are counted, added and taken back.

A subclass names its family and says how rows are encoded (``_encoder``) and how parameters are
estimated (``_settings``, ``_stated_prior``); its fitted attributes show what the model holds.
"""

from __future__ import annotations

import os
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, files, labels, threads
from deciban.errors import InputError, ModelFileError, ParameterError, ShapeError
from deciban.families.protocol import Family
from deciban.families.settings import Settings
from deciban.labels import Labels
from deciban.models.calibration import LeftOutScores, pool
from deciban.models.prior import StatedPrior, check_prior
from deciban.naive_bayes.dropins import stored
from deciban.naive_bayes.dropins.answers import MatrixClassifier
from deciban.naive_bayes.dropins.model import BLOCK, UNWEIGHTED, DropInModel, Encoder
from deciban.sources import matrix
from deciban.sources.kept_rows import NOTHING_KEPT, KeptRows
from deciban.sources.matrix import (
    CheckedMatrix,
    FloatArray,
    MatrixRows,
    numbers_per_row,
    slice_rows,
)
from deciban.sources.tabular import Tabular
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix
from deciban.stats.table import Table


class NaiveBayesClassifier(MatrixClassifier):
    """A thin shell over counts, parameters and scores."""

    _family: Family
    #: Parameters that say what is counted: models that differ in them do not add up.
    _counted_by: tuple[str, ...] = ()
    #: Whether rows are counted without their weights as well.
    _unweighted = False
    #: Whether scores start from the prior where there are several classes.
    _prior_of_many = True

    # ------------------------------------------------------------------ learning

    def fit(self, X: Tabular, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows of X, labelled y, and forget whatever was counted before.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        fitted = copy(self)  # what fails leaves this one as it was
        X, y = fitted._check_rows(X, y, reset=True)
        labelled = encoding.class_codes(y)
        given = sample_weight is not None
        weight = encoding.weights(sample_weight, len(y)) if given else None
        rows = X, labelled.codes, labelled.classes, weight
        fitted._adopt(fitted._count(*rows), KeptRows.of(*rows))
        self.__dict__ = fitted.__dict__
        return self

    def partial_fit(
        self,
        X: Tabular,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count some more rows; the first call names all the classes there will be.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().partial_fit([[2, 1]], ["spam"], classes=["ham", "spam"])
        >>> m.partial_fit([[0, 3]], ["ham"]).class_count_
        array([1., 1.])
        """
        first = "model_" not in self.__dict__
        known = encoding.partial_fit_classes(classes, None if first else self.classes_)
        fitted = copy(self)  # what fails leaves this one as it was
        X, y = fitted._check_rows(X, y, reset=first)
        codes = encoding.codes_of(y, known)
        rows = X, codes, known, encoding.weights(sample_weight, len(codes))
        more, kept = fitted._count(*rows), KeptRows.of(*rows)
        if first:
            fitted._adopt(more, kept)
        else:
            model = self.model_
            fitted._adopt(model.counts + more, model.kept + kept, model.scores)
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
        self._check_other(other)
        mine, theirs = self.model_, other.model_
        scores = pool(mine.scores, theirs.scores)
        return self._with_counts(
            mine.counts + theirs.counts, other, mine.kept + theirs.kept, scores
        )

    def __sub__(self, other: object) -> Self:
        """The model without the rows of the other; classes that have none left go with them."""
        if not isinstance(other, NaiveBayesClassifier):
            return NotImplemented
        self._check_other(other)
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
        return stored.to_stored(self.model_, self.get_params(deep=False), named)

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
        except (TypeError, ParameterError, ShapeError) as error:
            raise ModelFileError(
                f"the parameters are not those of {cls.__name__}: {error}"
            ) from None
        except InputError as error:
            raise ModelFileError(f"the model cannot be estimated: {error}") from None
        return estimator

    # ------------------------------------------------------------------ what a subclass says

    def _encoder(self) -> Encoder:
        """How rows are counted and scored."""
        raise NotImplementedError

    def _countable(self, rows: MatrixRows, cells: Cells) -> Matrix:
        """A chunk of rows as they are counted into these cells, checked."""
        return self._encoder().encode(rows, cells)

    def _settings(self, counts: Counts) -> Settings:
        """How parameters are estimated."""
        raise NotImplementedError

    def _stated_prior(self) -> StatedPrior:
        """The class prior as it is stated; None is as counted."""
        raise NotImplementedError

    def _cells(self, X: CheckedMatrix) -> Cells:
        """The cells that the rows fall into."""
        return Cells(np.arange(X.shape[1]))

    def _n_cells(self, cells: Cells) -> int:
        """How many cells there are: one a column."""
        return len(cells.columns)

    def _copies(self, X: CheckedMatrix) -> bool:
        """Whether encoding makes a copy of the rows."""
        sparse = not isinstance(X, np.ndarray)
        plain = X.dtype == np.float64 and (sparse or X.flags.c_contiguous)
        return not plain or (self._dense and sparse)

    # ------------------------------------------------------------------ counting

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        weight: FloatArray | None,
    ) -> Counts:
        """The counts of checked rows: chunks counted by all cores, then added up in order."""
        tables = {BLOCK: self._count_table(X, codes, len(classes), weight)}
        rows = tables[BLOCK].rows
        if self._unweighted:
            plain = weight is None
            tables[UNWEIGHTED] = (
                tables[BLOCK] if plain else self._count_table(X, codes, len(classes), None)
            )
        return Counts(classes, rows, tables)

    def _count_table(
        self, X: CheckedMatrix, codes: encoding.Codes, n_classes: int, weight: FloatArray | None
    ) -> Table:
        rows = np.bincount(codes, weight, n_classes).astype(np.float64)
        cells, statistic = self._cells(X), self._family.statistic

        def work(part: slice) -> Table:
            some = None if weight is None else weight[part]
            matrix = self._countable(slice_rows(X, part), cells)
            sums = statistic.count(matrix, codes[part], n_classes, some, cells)
            return Table(statistic, cells, rows, sums)

        chunks = self._count_chunks(X, n_classes * self._n_cells(cells))
        parts = [work(chunks[0])] if len(chunks) == 1 else threads.run(work, chunks)
        total: Table | None = None
        for part in parts:
            total = part if total is None else total + part
        assert total is not None
        return Table(statistic, cells, rows, total.sums)

    def _count_chunks(self, X: CheckedMatrix, table_size: int) -> list[slice]:
        return threads.count_chunks(X.shape[0], self._width(X), table_size, copied=self._copies(X))

    def _width(self, X: CheckedMatrix) -> int:
        """How many numbers an encoded row holds."""
        return int(X.shape[1]) if self._dense else numbers_per_row(X)

    def _empty(self, classes: Labels) -> Counts:
        """The counts of no rows: all columns and these classes."""
        none = np.empty((0, self.n_features_in_))
        return self._count(none, np.empty(0, dtype=np.intp), classes, None)

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
        result._adopt(counts, kept, scores)
        return result

    def _check_other(self, other: NaiveBayesClassifier) -> None:
        """Models add up if they count the same things in the same columns."""
        kinds = [type(side).__name__ for side in (self, other)]
        if kinds[0] != kinds[1]:
            raise InputError(
                f"{kinds[0]} and {kinds[1]} count different things.",
                hint="combine models of one class",
            )
        check_is_fitted(self)
        check_is_fitted(other)
        widths = [self.n_features_in_, other.n_features_in_]
        if widths[0] != widths[1]:
            raise ShapeError(
                f"one model has {widths[0]} columns, the other {widths[1]}.",
                hint="combine models of the same columns",
            )
        columns = [vars(side).get("feature_names_in_") for side in (self, other)]
        if not (any(side is None for side in columns) or labels.same(*columns)):  # type: ignore[arg-type]
            raise ShapeError(
                f"one model has the columns {columns[0]}, the other {columns[1]}.",
                hint="combine models of the same columns in the same order",
            )
        for name in self._counted_by:
            values = getattr(self, name), getattr(other, name)
            if values[0] != values[1]:
                raise InputError(
                    f"one model counts by {name}={values[0]!r}, the other by {values[1]!r}.",
                    hint=f"combine models of the same {name}",
                )

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
