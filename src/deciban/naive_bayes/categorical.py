"""Categories: integers, strings or any mixture of objects."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, labels
from deciban.cells import Cells
from deciban.counts import Counts
from deciban.engines import threads
from deciban.errors import InputError, MissingValueError, ParameterError, ShapeError
from deciban.kernels import categorical as kernel
from deciban.naive_bayes.base import BLOCK, Rows, count_chunks, dense, rows_of
from deciban.naive_bayes.smoothed import SmoothedClassifier
from deciban.settings import Settings

#: A numeric column with a larger code is not a column of codes.
LARGEST_CODE = 1 << 24


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
        that smoothing gives it under each class; ``"skip"``, nothing

    >>> X = [["S", 1], ["M", 2], ["L", None]]
    >>> m = CategoricalNB().fit(X, ["a", "a", "b"])
    >>> m.predict([["S", 1], ["L", 3]])
    array(['a', 'b'], dtype='<U1')
    """

    _family = "categorical"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unseen: Literal["smooth", "skip"] = "smooth",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen

    # ------------------------------------------------------------------ encoding

    def _check_X(self, X: Any, *, reset: bool = False) -> Any:
        """Numbers as numbers; anything else as objects."""
        if isinstance(X, list | tuple) and any(isinstance(v, str) for row in X for v in row):
            X = np.array(X, dtype=object)
        X = super()._check_X(X, reset=reset)
        if X.dtype.kind == "O" and _all_numbers(X):
            return X.astype(np.float64)
        return X if X.dtype.kind in "biuf" else X.astype(object)

    def _dtype(self) -> dict[str, Any]:
        return {"dtype": None}

    def _cells(self, X: Any) -> Cells:
        """The codes 0 .. max of numbers, the distinct values of objects."""
        if X.dtype.kind == "O":
            values = [labels.factorise(X[:, j])[0] for j in range(X.shape[1])]
            return Cells(np.arange(X.shape[1]), tuple(values))

        def most(part: slice) -> NDArray[np.int64]:
            return np.asarray(kernel.column_range(self._integers(rows_of(X, part)))[1])

        high = np.max(list(threads.run(most, count_chunks(X, 0))), axis=0)
        if high.max(initial=0) > LARGEST_CODE:
            raise InputError(
                f"category {high.max()} in column {int(high.argmax())} is too large for a code.",
                hint="codes count from 0; pass the values as strings to use them as names",
            )
        return Cells(np.arange(X.shape[1]), tuple(np.arange(top + 1) for top in high))

    def _encode(self, X: Any, cells: Cells) -> NDArray[np.int64]:
        """Numbers are codes already where the cells are; otherwise values are looked up."""
        if cells.coded and (isinstance(X, Rows) or X.dtype.kind != "O"):
            return self._integers(X)
        return encoding.category_codes(dense(X) if isinstance(X, Rows) else X, cells.values or ())

    def _integers(self, X: Any) -> NDArray[np.int64]:
        """Numbers as codes: whole parts, -1 for NaN."""
        X = dense(X) if isinstance(X, Rows) else X
        if X.dtype.kind == "f":
            missing = np.isnan(X)
            if np.any(np.isinf(X)):
                raise MissingValueError(
                    "Input X contains infinity.", hint="categories are codes 0, 1, ... or names"
                )
            codes = np.where(missing, 0, X).astype(np.int64, order="C")
        else:
            missing, codes = None, np.ascontiguousarray(X, dtype=np.int64)
        if codes.size and codes.min() < 0:
            raise InputError(
                f"Negative values in data passed to {type(self).__name__} (input X): {codes.min()}.",
                hint="codes count from 0; None or NaN is a missing value",
            )
        if missing is not None:
            codes[missing] = -1
        return codes

    # ------------------------------------------------------------------ estimating

    def _adopt(self, counts: Counts) -> None:
        """Codes keep their places, so that category i is column i of ``category_count_``."""
        table = counts.tables.get(BLOCK)
        values = list(table.cells.values or ()) if table is not None else []
        names = table.cells.columns.tolist() if table is not None else []
        by_column = dict(zip(names, values, strict=True))
        columns = [by_column.get(j, np.arange(0)) for j in range(self.n_features_in_)]
        if all(v.dtype.kind in "iu" for v in columns):
            least = self._least(0)
            columns = [
                np.arange(max(int(v.max(initial=-1)) + 1, least[j])) for j, v in enumerate(columns)
            ]
        cells = Cells(np.arange(self.n_features_in_), tuple(columns))
        super()._adopt(counts.aligned(counts.classes, {BLOCK: cells}))

    def _least(self, otherwise: int) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        if self.min_categories is None:
            return np.full(self.n_features_in_, otherwise)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu":
            raise ParameterError(
                f"'min_categories' should have integral type. Got {least.dtype} instead.",
                hint="give a number of categories, or one per column",
            )
        if least.ndim > 1 or (least.ndim and len(least) != self.n_features_in_):
            raise ShapeError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like "
                f"is provided. Got {least.shape} instead.",
                hint="give a number of categories, or one per column",
            )
        return np.broadcast_to(least, self.n_features_in_)

    def _settings(self) -> Settings:
        return Settings("bayes", self._check_alpha(), sizes=self._least(0), unseen=self.unseen)

    def _show(self) -> None:
        super()._show()
        table, block = self.counts_.tables[BLOCK], self._params.blocks[BLOCK][1]
        counted, seen = table.sums["count"], table.cells.offsets
        self.categories_ = list(table.cells.values or ())
        self.n_categories_ = np.maximum(np.diff(seen), self._least(0)).astype(np.int64)
        self.category_count_ = [counted[:, a:b] for a, b in zip(seen, seen[1:], strict=False)]
        self.feature_log_prob_ = [
            block.log_prob[a : b - 1].T
            for a, b in zip(block.offsets, block.offsets[1:], strict=False)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


def _all_numbers(X: NDArray[Any]) -> bool:
    """Whether every object is a number or a missing value, and none is a truth value."""
    kinds = {type(value) for value in X.ravel().tolist()}
    return all(
        issubclass(kind, int | float | np.number | type(None)) and not issubclass(kind, bool)
        for kind in kinds
    )
