"""Categories: integers, strings or any mixture of objects."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from deciban import encoding, labels, threads
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen, unseen_values
from deciban.errors import InputError, ParameterError, ShapeError
from deciban.explanation.explanations import Marks, mark
from deciban.families.categorical import (
    CATEGORICAL,
    CategoricalParameters,
    CategoricalSettings,
)
from deciban.families.discrete import UnseenSays
from deciban.families.settings import Settings
from deciban.labels import Array, Labels
from deciban.models.leave_one_out_scores import KeptScores
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.encoders import CategoryEncoder, all_numbers
from deciban.naive_bayes.dropins.model import BLOCK, DropInModel
from deciban.naive_bayes.dropins.smoothed import SmoothedClassifier
from deciban.sources import frames, matrix
from deciban.sources.batch import Batch
from deciban.sources.columns import Column
from deciban.sources.held import HeldTable
from deciban.sources.kept_rows import NOTHING_KEPT, KeptRows
from deciban.sources.matrix import (
    CheckedMatrix,
    CSRRows,
    FloatArray,
    MatrixRows,
    is_sparse,
    slice_rows,
)
from deciban.sources.tabular import Tabular
from deciban.stats.categories import count_by_column
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts

#: A numeric column with a larger code is not a column of codes.
MAX_CODE = 1 << 24


class CategoricalNB(SmoothedClassifier):
    """Categorical naive Bayes; a drop-in for scikit-learn's that takes categories as they are.

    Integers are codes 0, 1, ... as in scikit-learn; strings and other objects
    are names. None and NaN are missing values and say nothing.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        as for MultinomialNB; ``alpha`` may be given per column
    min_categories
        the least number of categories of every column, or of each
    unseen
        what a category never seen in training says: ``"smooth"``, the share
        that smoothing gives it under each class, as scikit-learn's codes without a
        row; ``"leave_one_out"``, what categories that one row had say without it;
        ``"skip"``, nothing

    >>> X = [["S", 1], ["M", 2], ["L", None]]
    >>> m = CategoricalNB().fit(X, ["a", "a", "b"])
    >>> m.predict([["S", 1], ["L", 3]])
    array(['a', 'b'], dtype='<U1')

    """

    _family = CATEGORICAL
    _dense = True

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: StatedPrior = None,
        min_categories: ArrayLike | None = None,
        unseen: UnseenSays = "smooth",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen

    @property
    def unseen_(self) -> Unseen:
        """The categories in the rows of the last call that training did not have, by column.

        Every ``predict``, ``predict_proba``, ``explain`` and their like sets it anew; it is no
        part of a saved model.

        >>> m = CategoricalNB().fit([["S", "red"], ["M", "red"]], ["a", "b"])
        >>> m.predict([["S", "blue"], ["XL", "red"]])
        array(['a', 'a'], dtype='<U1')
        >>> m.unseen_
        x0: 1 value never seen: 'XL'
        x1: 1 value never seen: 'blue'
        """
        check_is_fitted(self)
        return self._unseen

    def _note_unseen(self, X: CheckedMatrix, parts: list[slice]) -> None:
        unseen = NOTHING_UNSEEN
        for part in sorted(parts, key=lambda part: part.start):
            unseen += self._find_unseen(slice_rows(X, part))[0]
        self._unseen = unseen

    def _held_marks(self, model: DropInModel, held: HeldTable) -> tuple[Unseen, Marks]:
        unseen, rows = self._find_unseen(self._check_matrix(held.X))
        marks: Marks = {}
        mark(marks, 0, unseen, rows)
        return unseen, marks

    def _find_unseen(self, X: MatrixRows) -> tuple[Unseen, dict[str, NDArray[np.intp]]]:
        """The categories in a matrix that were never seen, and in which rows."""
        dense, model = X.dense() if isinstance(X, CSRRows) else X, self.model_
        rows = model.unseen_of_matrix(dense)
        names = model.schema.names
        columns = {n: _shown(n, dense[:, names.index(n)]) for n in rows}
        return unseen_values(model.schema, Batch(len(dense), columns), rows), rows

    # ------------------------------------------------------------------ encoding

    def _encoder(self) -> CategoryEncoder:
        return CategoryEncoder(type(self).__name__)

    def _check_matrix(self, X: Tabular, *, reset: bool = False) -> CheckedMatrix:
        """Numbers as numbers; anything else as objects."""
        if not reset:
            check_is_fitted(self)
        X = matrix.validate(self, matrix.as_objects(X), reset=reset, dtype=None)
        if X.dtype.kind == "c":
            raise InputError(f"Complex data not supported: {X[0, 0]}.", hint="use names")
        if X.dtype.kind == "O" and all_numbers(X):
            return X.astype(np.float64)
        return X

    def _cells(self, X: CheckedMatrix) -> Cells:
        """The codes 0 .. max of numbers, the distinct values of objects."""
        chunks, encoder = self._count_chunks(X, 0), self._encoder()
        if X.dtype.kind not in "biuf":
            return reduce(Cells.union, (_names(X[part]) for part in chunks))

        def most(part: slice) -> NDArray[np.int64]:
            return encoding.largest_codes(encoder.integers(slice_rows(X, part)))

        high = np.max(list(threads.run(most, chunks)), axis=0)
        if high.max(initial=0) > MAX_CODE:
            raise InputError(
                f"category {high.max()} in column {int(high.argmax())} is too large for a code.",
                hint="codes count from 0; pass the values as strings to use them as names",
            )
        return Cells(np.arange(X.shape[1]), tuple(np.arange(top + 1) for top in high))

    def _n_cells(self, cells: Cells) -> int:
        return cells.size

    def _copies(self, X: CheckedMatrix) -> bool:
        return is_sparse(X) or X.dtype != np.int64 or not X.flags.c_contiguous

    def _entry_contributions(self, rows: CSRRows) -> FloatArray:
        parameters = cast("CategoricalParameters", self.model_.parameters)
        at = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        codes = self.model_.encode(rows)[at, rows.indices]
        start, stop = parameters.offsets[rows.indices], parameters.offsets[rows.indices + 1]
        log = parameters.log_prob[np.minimum(start + np.maximum(codes, 0), stop - 1)]
        return np.asarray(np.where(codes[:, None] < 0, 0.0, log))

    # ------------------------------------------------------------------ estimating

    def _adopt(
        self,
        counts: Counts,
        kept: KeptRows = NOTHING_KEPT,
        scores: KeptScores | None = None,
    ) -> None:
        """Codes keep their places, so that category i is column i of ``category_count_``."""
        cells = counts.tables[BLOCK].cells
        values = [_narrow(column) for column in cells.values or ()]
        least = self._least()
        if all(column.dtype.kind in "iu" for column in values):
            tops = [int(column.max(initial=-1)) + 1 for column in values]
            values = [np.arange(max(pair)) for pair in zip(tops, least, strict=True)]
        else:
            values = [labels.sort(column.tolist()) for column in values]
        whole = Cells(cells.columns, tuple(values))
        if not cells.same(whole):
            counts = counts.align(counts.classes, {BLOCK: whole})
        super()._adopt(counts, kept, scores)
        self._unseen = NOTHING_UNSEEN  # predicting must add no attribute

    def _least(self) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        hint = "give a number of categories, or one per column"
        if least.dtype.kind not in "iu":
            raise ParameterError(
                f"'min_categories' should have integral type. Got {least.dtype} instead.", hint=hint
            )
        if least.ndim > 1 or (least.ndim and len(least) != self.n_features_in_):
            raise ShapeError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like "
                f"is provided. Got {least.shape} instead.",
                hint=hint,
            )
        if least.min(initial=0) < 0:
            raise ParameterError(f"'min_categories' must be >= 0, got {least.min()}.", hint=hint)
        return np.broadcast_to(least, self.n_features_in_).astype(np.int64)

    def _settings(self, counts: Counts) -> Settings:
        alpha, sizes = self._check_alpha(), self._least()
        return CategoricalSettings("bayes", alpha, sizes=sizes, unseen=self.unseen)

    @property
    def categories_(self) -> list[Labels]:
        """The values of each column."""
        return list(self.model_.table.cells.values or ())

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of values of each column, those that are stated but not seen among them."""
        sizes = cast("CategoricalSettings", self.model_.settings).sizes
        seen: NDArray[np.int64] = np.diff(self.model_.table.cells.offsets)
        return np.maximum(seen, np.asarray(sizes, dtype=np.int64))

    @property
    def category_count_(self) -> list[FloatArray]:
        """The weight of each value in each class, (classes, values), column by column."""
        return count_by_column(self.model_.table)

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """The logarithm of the share of each value, (classes, values), column by column."""
        block = cast("CategoricalParameters", self.model_.parameters)
        return [block.log_prob[a : b - 1].T for a, b in pairwise(block.offsets.tolist())]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


def _names(X: NDArray[np.generic]) -> Cells:
    """The distinct values of every column."""
    values = (labels.factorise(X[:, j])[0] for j in range(X.shape[1]))
    return Cells(np.arange(X.shape[1]), tuple(values))


def _narrow(values: Labels) -> Labels:
    return labels.label_array(values.tolist()) if values.dtype.kind == "O" else values


def _shown(name: str, values: Array) -> Column:
    """A column of categories to take examples from: any object may be one."""
    try:
        return frames.column(name, values)
    except InputError:
        return frames.column(name, np.array(list(map(str, values)), dtype=object))
