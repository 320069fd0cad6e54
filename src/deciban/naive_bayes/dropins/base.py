"""Learning and its algebra: rows are counted, added and taken back."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, labels, threads
from deciban.errors import InputError, ShapeError
from deciban.families import family
from deciban.models import params
from deciban.naive_bayes.dropins.chunks import count_chunks
from deciban.naive_bayes.dropins.explaining import Explaining
from deciban.naive_bayes.dropins.model import BLOCK
from deciban.sources.matrix import slice_rows
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.table import Table
from deciban.transaction import all_or_nothing

__all__ = ["BLOCK", "NaiveBayesClassifier"]


class NaiveBayesClassifier(Explaining):
    """A thin shell over counts, parameters and scores."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count some more rows; the first call names all the classes there will be.

        >>> from deciban.naive_bayes import MultinomialNB
        >>> m = MultinomialNB().partial_fit([[2, 1]], ["spam"], classes=["ham", "spam"])
        >>> m.partial_fit([[0, 3]], ["ham"]).class_count_
        array([1., 1.])
        """
        with all_or_nothing(self):
            first = not hasattr(self, "counts_")
            known = encoding.partial_fit_classes(classes, None if first else self.classes_)
            X, y = self._check_rows(X, y, reset=first)
            more = self._count(X, encoding.codes_of(y, known), known, sample_weight)
            self._adopt(more if first else self.counts_ + more)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            self._adopt(self._nothing(self.classes_) + (self.counts_ - gone))
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
        return self._with_counts(self._nothing(self.classes_[stay]) + left, other)

    # ------------------------------------------------------------------ counting

    def _count(
        self, X: Any, codes: encoding.Codes, classes: NDArray[Any], sample_weight: Any
    ) -> Counts:
        """The counts of checked rows."""
        weight = encoding.weights(sample_weight, len(codes))
        rows = np.bincount(codes, weight, len(classes)).astype(np.float64)
        cells = self._cells(X)
        table = Table(self._family, cells, rows, self._sums(X, codes, len(classes), weight, cells))
        return Counts(classes, rows, {BLOCK: table})

    def _sums(
        self, X: Any, codes: encoding.Codes, n_classes: int, weight: Any, cells: Cells
    ) -> dict[str, Any]:
        """The family's sums: chunks counted by all cores, then added up in order."""
        count = family(self._family).count

        def work(part: slice) -> dict[str, Any]:
            rows = self._encode(slice_rows(X, part), cells)
            some = None if weight is None else weight[part]
            return dict(count(rows, codes[part], n_classes, some, cells))

        parts = threads.run(work, self._count_chunks(X, n_classes * cells.size))
        total = next(parts)
        for sums in parts:
            for name, part in sums.items():
                total[name] += part
        return total

    def _count_chunks(self, X: Any, table_size: int) -> list[slice]:
        return count_chunks(X.shape[0], self._width(X), table_size, copied=self._copies(X))

    def _nothing(self, classes: NDArray[Any]) -> Counts:
        """The counts of no rows: all columns and these classes."""
        none = np.empty((0, self.n_features_in_))
        return self._count(none, np.empty(0, dtype=np.intp), classes, None)

    def _adopt(self, counts: Counts) -> None:
        """Make these counts the model."""
        self.counts_ = counts
        self.classes_ = counts.classes
        self._prior = self._log_prior()
        self._params = params.estimate(counts, self._settings(), self._prior)
        self._show()

    # ------------------------------------------------------------------ combining

    def _with_counts(self, counts: Counts, other: Self) -> Self:
        """A model with the same parameters and other counts."""
        result: Self = clone(self)
        for name in ("feature_names_in_", "n_features_in_"):
            for side in (other, self):
                if hasattr(side, name):
                    setattr(result, name, getattr(side, name))
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
        columns: list[Any] = [getattr(side, "feature_names_in_", None) for side in (self, other)]
        widths = [self.n_features_in_, other.n_features_in_]
        if widths[0] != widths[1]:
            raise ShapeError(
                f"one model has {widths[0]} columns, the other {widths[1]}.",
                hint="combine models of the same columns",
            )
        if not (any(side is None for side in columns) or labels.same(*columns)):
            raise ShapeError(
                f"one model has the columns {columns[0]}, the other {columns[1]}.",
                hint="combine models of the same columns in the same order",
            )
        self._check_parameters(other)

    def _check_parameters(self, other: NaiveBayesClassifier) -> None:
        for name in self._counted_by:
            values = getattr(self, name), getattr(other, name)
            if values[0] != values[1]:
                raise InputError(
                    f"one model counts by {name}={values[0]!r}, the other by {values[1]!r}.",
                    hint=f"combine models of the same {name}",
                )

    # ------------------------------------------------------------------ checking

    def _check_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        y = encoding.require_labels(y, type(self).__name__)
        X = self._checked(X, reset=reset)
        encoding.check_length(X, len(y), "X")
        return X, y
