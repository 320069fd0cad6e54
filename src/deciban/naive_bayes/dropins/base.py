"""What the five drop-in classifiers share: rows are counted, added, taken back and scored.

A subclass names its family and says how rows are encoded (``_encoder``), how parameters are
estimated (``_settings``, ``_log_prior``) and which attributes show them (``_show``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from deciban import decision, encoding, explanation, files, labels, threads
from deciban.decision import Loss
from deciban.errors import InputError, ModelFileError, ParameterError, ShapeError
from deciban.families.protocol import Family
from deciban.families.settings import Settings
from deciban.files.document import field
from deciban.labels import Labels
from deciban.models import scores
from deciban.models.prior import StatedPrior, class_prior
from deciban.naive_bayes.dropins import stored
from deciban.naive_bayes.dropins.chunks import count_chunks, score_chunks
from deciban.naive_bayes.dropins.model import BLOCK, DropInModel, Encoder
from deciban.schema import ColumnSchema, Schema
from deciban.sources import matrix
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
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.table import Table
from deciban.transaction import all_or_nothing


class NaiveBayesClassifier(
    explanation.MatrixExplainable[DropInModel], ClassifierMixin, BaseEstimator
):
    """A thin shell over counts, parameters and scores."""

    _family: Family
    #: Whether sparse rows are counted and scored as dense ones.
    _dense = False
    #: Parameters that say what is counted: models that differ in them do not add up.
    _counted_by: tuple[str, ...] = ()

    model_: DropInModel
    classes_: Labels
    n_features_in_: int
    feature_names_in_: Labels

    # ------------------------------------------------------------------ learning

    def fit(self, X: Tabular, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows of X, labelled y, and forget whatever was counted before.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        with all_or_nothing(self):
            X, y = self._check_rows(X, y, reset=True)
            labelled = encoding.class_codes(y)
            self._adopt(self._count(X, labelled.codes, labelled.classes, sample_weight))
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
        with all_or_nothing(self):
            first = "model_" not in self.__dict__
            known = encoding.partial_fit_classes(classes, None if first else self.classes_)
            X, y = self._check_rows(X, y, reset=first)
            more = self._count(X, encoding.codes_of(y, known), known, sample_weight)
            self._adopt(more if first else self.counts_ + more)
        return self

    def forget(self, X: Tabular, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows back that were counted before, exactly: as if they had never been seen.

        Weighted rows are taken back with the weights they were counted with.
        The classes stay; a class without rows is possible again once it has some.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3], [9, 0]], ["spam", "ham", "ham"])
        >>> m.forget([[9, 0]], ["ham"]).feature_count_
        array([[0., 3.],
               [2., 1.]])
        """
        check_is_fitted(self)
        with all_or_nothing(self):
            X, y = self._check_rows(X, y, reset=False)
            gone = self._count(X, encoding.codes_of(y, self.classes_), self.classes_, sample_weight)
            self._adopt(self._empty(self.classes_) + (self.counts_ - gone))
        return self

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        if not isinstance(other, NaiveBayesClassifier):
            return NotImplemented
        self._check_other(other)
        return self._with_counts(self.counts_ + other.counts_, other)

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

    def predict_proba(self, X: Tabular) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> m.predict_proba([[1, 0]]).round(4)
        array([[0.25, 0.75]])
        """
        check_is_fitted(self)
        prior = self.model_.fallback
        return self._score(X, lambda joint: scores.normalise(joint, prior))

    def predict(self, X: Tabular) -> Labels:
        """The likeliest class of every row.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"]).predict([[1, 0]])
        array(['spam'], dtype='<U4')
        """
        check_is_fitted(self)
        return self._map_joint(X, self.classes_.dtype, self._likeliest)

    def decide(self, X: Tabular, loss: Loss = None, abstain: float | None = None) -> Labels:
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

        def best(joint: FloatArray) -> Labels:
            scores.normalise(joint, self.model_.fallback)
            return decision.decide(joint, self.classes_, matrix, abstain)

        return self._map_joint(X, self.classes_.dtype if abstain is None else object, best)

    def _likeliest(self, joint: FloatArray) -> Labels:
        """The best class of each row; of a row that no class can have produced, by the prior."""
        best = scores.likeliest(joint)
        best[joint[np.arange(len(best)), best] == -np.inf] = np.argmax(self.model_.fallback)
        return np.asarray(self.classes_[best])

    def _score(self, X: Tabular, finish: Callable[[FloatArray], None]) -> FloatArray:
        """Log joints, finished in place."""
        X = self._check_matrix(X)
        out = np.empty((X.shape[0], len(self.classes_)))

        def work(part: slice) -> None:
            self.model_.score(slice_rows(X, part), out[part])
            finish(out[part])

        self._each_chunk(X, work)
        return out

    def _map_joint(
        self, X: Tabular, dtype: DTypeLike, answer: Callable[[FloatArray], Labels]
    ) -> Labels:
        """One answer a row, from its log joints."""
        X = self._check_matrix(X)
        out = np.empty(X.shape[0], dtype=dtype)

        def work(part: slice) -> None:
            joint = np.empty((part.stop - part.start, len(self.classes_)))
            self.model_.score(slice_rows(X, part), joint)
            out[part] = answer(joint)

        self._each_chunk(X, work)
        return out

    def _each_chunk(self, X: CheckedMatrix, work: Callable[[slice], None], extra: int = 0) -> None:
        """Work on all rows; ``extra`` numbers a row are needed besides the scores."""
        width = self._width(X) + len(self.classes_) + extra
        gathered = is_sparse(X) and not self._dense and not extra
        for _ in threads.run(work, score_chunks(X.shape[0], width, gathered=gathered)):
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

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.deciban`` file: whole, or not at all.

        >>> import tempfile, deciban
        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     m.save(f"{folder}/m.deciban")
        ...     deciban.load(f"{folder}/m.deciban").predict([[1, 0]])
        array(['spam'], dtype='<U4')
        """
        check_is_fitted(self)
        named = hasattr(self, "feature_names_in_")
        files.save(path, stored.to_stored(self.model_, self.get_params(deep=False), named))

    @classmethod
    def from_stored(cls, content: files.Stored) -> Self:
        """The estimator in a model file that was read."""
        model, about = stored.from_stored(content), content.description
        try:
            estimator = cls(**about["parameters"])
            estimator.n_features_in_ = len(model.schema.names)
            if field(about, "named", bool):
                estimator.feature_names_in_ = labels.object_array(model.schema.names)
            estimator._adopt(model.counts)
        except (TypeError, ParameterError, ShapeError) as error:
            raise ModelFileError(
                f"the parameters are not those of {cls.__name__}: {error}"
            ) from None
        return estimator

    # ------------------------------------------------------------------ what a subclass says

    def _encoder(self) -> Encoder:
        """How rows are counted and scored."""
        raise NotImplementedError

    def _settings(self, counts: Counts) -> Settings:
        """How parameters are estimated."""
        raise NotImplementedError

    def _stated_prior(self) -> StatedPrior:
        """The class prior as it is stated; None is as counted."""
        raise NotImplementedError

    def _show(self) -> None:
        """Set the fitted attributes that show the counts and parameters."""
        raise NotImplementedError

    def _cells(self, X: CheckedMatrix) -> Cells:
        """The cells that the rows fall into."""
        return Cells(np.arange(X.shape[1]))

    def _copies(self, X: CheckedMatrix) -> bool:
        """Whether encoding makes a copy of the rows."""
        plain = X.dtype == np.float64 and (is_sparse(X) or X.flags.c_contiguous)
        return not plain or (self._dense and is_sparse(X))

    # ------------------------------------------------------------------ counting

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        sample_weight: ArrayLike | None,
    ) -> Counts:
        """The counts of checked rows: chunks counted by all cores, then added up in order."""
        weight = encoding.weights(sample_weight, len(codes))
        rows = np.bincount(codes, weight, len(classes)).astype(np.float64)
        cells, statistic, encoder = self._cells(X), self._family.statistic, self._encoder()

        def work(part: slice) -> Table:
            some = None if weight is None else weight[part]
            matrix = encoder.encode(slice_rows(X, part), cells)
            sums = statistic.count(matrix, codes[part], len(classes), some, cells)
            return Table(statistic, cells, rows, sums)

        chunks = self._count_chunks(X, len(classes) * cells.size)
        parts = [work(chunks[0])] if len(chunks) == 1 else threads.run(work, chunks)
        total: Table | None = None
        for part in parts:
            total = part if total is None else total + part
        assert total is not None
        return Counts(classes, rows, {BLOCK: Table(statistic, cells, rows, total.sums)})

    def _count_chunks(self, X: CheckedMatrix, table_size: int) -> list[slice]:
        return count_chunks(X.shape[0], self._width(X), table_size, copied=self._copies(X))

    def _width(self, X: CheckedMatrix) -> int:
        """How many numbers an encoded row holds."""
        return int(X.shape[1]) if self._dense else numbers_per_row(X)

    def _empty(self, classes: Labels) -> Counts:
        """The counts of no rows: all columns and these classes."""
        none = np.empty((0, self.n_features_in_))
        return self._count(none, np.empty(0, dtype=np.intp), classes, None)

    def _adopt(self, counts: Counts) -> None:
        """Make these counts the model."""
        stated = self._stated_prior()
        empty = stated is None and not counts.weight.any()
        prior = class_prior(counts.weight, stated="uniform" if empty else stated)
        self.model_ = DropInModel(
            type(self).__name__,
            self._schema(counts),
            counts,
            self._family,
            self._settings(counts),
            self._offset(prior),
            prior,
            self._encoder(),
        )
        self.classes_ = counts.classes
        self._show()

    def _offset(self, log_prior: FloatArray) -> FloatArray:
        """What scores start from."""
        return log_prior

    def _schema(self, counts: Counts) -> Schema:
        """The columns of the matrix, by name or as x0, x1, ..."""
        names = getattr(self, "feature_names_in_", None)
        known = [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)
        return Schema(tuple(ColumnSchema(str(n), "numeric", "numbers") for n in known))

    # ------------------------------------------------------------------ combining

    def _with_counts(self, counts: Counts, other: NaiveBayesClassifier) -> Self:
        """A model with the same parameters and other counts."""
        result: Self = clone(self)
        for name in ("feature_names_in_", "n_features_in_"):
            for side in (other, self):
                if name in vars(side):
                    setattr(result, name, vars(side)[name])
        result._adopt(counts)
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


def _difference(entries: FloatArray, before: FloatArray) -> FloatArray:
    """How far evidence moved; infinite evidence that stays the same has not."""
    with np.errstate(invalid="ignore"):
        return np.where(entries == before, 0.0, entries - before)
