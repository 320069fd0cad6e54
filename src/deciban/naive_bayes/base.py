"""What the five classifiers share: a thin shell over counts, parameters and scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from deciban import decision, encoding, explanation, labels, params, scores
from deciban.cells import Cells
from deciban.counts import Counts, Table
from deciban.engines import threads
from deciban.errors import InputError, MissingValueError, ShapeError
from deciban.families import family
from deciban.settings import Settings

FloatArray = NDArray[np.float64]

#: The name of the one block of columns in the counts.
BLOCK = "X"


class NaiveBayesClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose state is ``counts_``; everything else is derived from it.

    A subclass names its ``_family`` and says how rows are encoded
    (``_encode``), how parameters are estimated (``_settings``,
    ``_log_prior``) and which attributes show them (``_show``).
    """

    _family: str
    counts_: Counts
    classes_: NDArray[Any]
    n_features_in_: int

    # ------------------------------------------------------------------ what subclasses say

    def _encode(self, X: Any, cells: Cells) -> Any:
        """A chunk of rows as the family counts them into these cells, checked."""
        raise NotImplementedError

    def _cells(self, X: Any) -> Cells:
        """The cells that the rows fall into."""
        return Cells.of_columns(X.shape[1])

    def _settings(self) -> Settings:
        raise NotImplementedError

    def _log_prior(self) -> FloatArray:
        raise NotImplementedError

    def _show(self) -> None:
        """Set the fitted attributes that show the counts and parameters."""
        raise NotImplementedError

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows of X, labelled y, and forget whatever was counted before."""
        with self._all_or_nothing():
            X, y = self._check_rows(X, y, reset=True)
            labelled = encoding.class_codes(y)
            self._adopt(self._count(X, labelled.codes, labelled.classes, sample_weight))
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Count some more rows; the first call names all the classes there will be."""
        with self._all_or_nothing():
            first = not hasattr(self, "counts_")
            known = self._check_classes(classes)
            X, y = self._check_rows(X, y, reset=first)
            more = self._count(X, encoding.codes_of(y, known), known, sample_weight)
            self._adopt(more if first else self.counts_ + more)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that were counted before, exactly: as if they had never been seen."""
        check_is_fitted(self)
        with self._all_or_nothing():
            X, y = self._check_rows(X, y, reset=False)
            gone = self._count(X, encoding.codes_of(y, self.classes_), self.classes_, sample_weight)
            self._adopt(self._with_classes(self.counts_ - gone, self.classes_))
        return self

    def __add__(self, other: object) -> Self:
        return self._combined(other, "+")

    def __sub__(self, other: object) -> Self:
        return self._combined(other, "-")

    def _combined(self, other: object, sign: str) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        check_is_fitted(self)
        check_is_fitted(other)
        if other.n_features_in_ != self.n_features_in_:
            raise ShapeError(
                f"one model has {self.n_features_in_} columns, the other {other.n_features_in_}.",
                hint="combine models of the same columns",
            )
        counts = self.counts_ + other.counts_ if sign == "+" else self.counts_ - other.counts_
        result: Self = clone(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(result, name, getattr(self, name))
        result._adopt(counts)
        return result

    def _count(self, X: Any, codes: encoding.Codes, classes: Any, sample_weight: Any) -> Counts:
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
            some = None if weight is None else weight[part]
            return dict(count(self._encode(rows_of(X, part), cells), codes[part], n_classes, some, cells))

        total: dict[str, Any] = {}
        for sums in threads.run(work, count_chunks(X, n_classes * cells.size)):
            total = {k: total[k] + v for k, v in sums.items()} if total else sums
        return total

    def _adopt(self, counts: Counts) -> None:
        """Make these counts the model."""
        self.counts_ = counts
        self.classes_ = counts.classes
        self._params = params.estimate(counts, self._settings(), self._log_prior())
        self._show()

    @staticmethod
    def _with_classes(counts: Counts, classes: Any) -> Counts:
        return counts.aligned(classes, {name: t.cells for name, t in counts.tables.items()})

    # ------------------------------------------------------------------ scoring

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """``log P(c, x)`` of every row and class, in the order of ``classes_``."""
        return self._scored(X, lambda joint: None)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """``log P(c | x)`` of every row and class."""
        prior = self._params.log_prior if hasattr(self, "_params") else None
        return self._scored(X, lambda joint: scores.normalise(joint, prior, logarithm=True))

    def predict_proba(self, X: Any) -> FloatArray:
        """``P(c | x)`` of every row and class; rows sum to one."""
        prior = self._params.log_prior if hasattr(self, "_params") else None
        return self._scored(X, lambda joint: scores.normalise(joint, prior))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        X = self._check_X(X)
        best = np.empty(X.shape[0], dtype=np.intp)

        def work(part: slice) -> None:
            joint = np.empty((part.stop - part.start, len(self.classes_)))
            self._fill(X, part, joint)
            best[part] = scores.likeliest(joint)

        _finish(threads.run(work, score_chunks(X, len(self.classes_))))
        return self.classes_[best]

    def decide(self, X: Any, loss: Any = None, abstain: float | None = None) -> NDArray[Any]:
        """The answer of least expected loss for every row.

        ``loss[i][j]`` is the cost of answering ``classes_[i]`` when
        ``classes_[j]`` is true, or a mapping ``{(answer, truth): cost}``;
        without it, the likeliest class. With ``abstain``, the cost of giving
        no answer, the result is an object array with None for an abstention.
        """
        return decision.decide(self.predict_proba(X), self.classes_, loss=loss, abstain=abstain)

    def _scored(self, X: Any, finish: Any) -> FloatArray:
        X = self._check_X(X)
        out = np.empty((X.shape[0], len(self.classes_)))

        def work(part: slice) -> None:
            self._fill(X, part, out[part])
            finish(out[part])

        _finish(threads.run(work, score_chunks(X, len(self.classes_))))
        return out

    def _fill(self, X: Any, part: slice, out: FloatArray) -> None:
        rows = self._encode(rows_of(X, part), self.counts_.tables[BLOCK].cells)
        scores.fill_log_joint(self._params, {BLOCK: rows}, out)

    # ------------------------------------------------------------------ explaining

    def evidence(self, X: Any, against: Any = None) -> Any:
        """What every column says about every class, in decibans, prior apart.

        A dense X gives an array (rows, columns, classes). The evidence of the
        columns and :meth:`prior_evidence` add up to ten times the decimal
        logarithm of the odds of the joints: of a class against the class
        ``against``, or by default against the geometric mean of all others
        (for two classes: the other one).

        A sparse X gives a list with one CSR matrix (rows, columns) a class: how
        far each non-zero moves the evidence from that of a row of zeros, which
        ``prior_evidence(zeros=True)`` includes.
        """
        X = self._check_X(X)
        at = explanation.position(against, self.classes_)
        if hasattr(X, "indptr"):
            return self._sparse_evidence(X, at)
        return explanation.decibans(self._explain(X), at)

    def prior_evidence(self, against: Any = None, *, zeros: bool = False) -> FloatArray:
        """What the prior says about every class, in decibans; with the evidence of a row of zeros."""
        check_is_fitted(self)
        at = explanation.position(against, self.classes_)
        prior = explanation.decibans(self._params.log_prior, at)
        return prior + self._zero_evidence(at).sum(axis=0) if zeros else prior

    def _explain(self, X: Any) -> FloatArray:
        kind, parts = self._params.blocks[BLOCK]
        rows = self._encode(X, self.counts_.tables[BLOCK].cells)
        return np.asarray(family(kind).explain(parts, rows))

    def _zero_evidence(self, against: int | None) -> FloatArray:
        return explanation.decibans(self._explain(np.zeros((1, self.n_features_in_)))[0], against)

    def _sparse_evidence(self, X: Any, against: int | None) -> list[Any]:
        """Column by column of the non-zeros, so that memory follows them."""
        zero = self._zero_evidence(against)
        data = np.empty((X.nnz, len(self.classes_)))
        order = X.tocsc()
        at = np.argsort(X.indices, kind="stable")
        for j in np.flatnonzero(np.diff(order.indptr)):
            rows = slice(order.indptr[j], order.indptr[j + 1])
            column = np.zeros((rows.stop - rows.start, self.n_features_in_))
            column[:, j] = order.data[rows]
            said = explanation.decibans(self._explain(column)[:, j], against)
            data[at[rows]] = said - zero[j]
        return [type(X)((data[:, c], X.indices, X.indptr), shape=X.shape) for c in range(data.shape[1])]

    # ------------------------------------------------------------------ checking

    def _check_X(self, X: Any, *, reset: bool = False) -> Any:
        """A matrix or CSR of the right width; values are checked chunk by chunk."""
        if not reset:
            check_is_fitted(self)
        try:
            return validate_data(
                self, X, accept_sparse="csr", ensure_all_finite=False, reset=reset, **self._dtype()
            )
        except ValueError as error:
            kind = ShapeError if "features" in str(error) or "sample" in str(error) else InputError
            raise kind(str(error)) from None

    def _dtype(self) -> dict[str, Any]:
        return {"dtype": "numeric"}

    def _check_rows(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        if y is None:
            raise MissingValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None.",
                hint="give one label a row",
            )
        X = self._check_X(X, reset=reset)
        try:
            y = encoding.vector(column_or_1d(y, warn=True))
        except ValueError as error:
            raise ShapeError(str(error), hint="give one label a row") from None
        encoding.check_length(X, len(y), "X")
        return X, y

    def _check_classes(self, classes: Any) -> NDArray[Any]:
        """The classes of a partial fit: named in the first call, and the same ever after."""
        if classes is None:
            if not hasattr(self, "classes_"):
                raise InputError(
                    "classes must be passed on the first call to partial_fit.",
                    hint="name every class that will ever appear",
                )
            return self.classes_
        named = encoding.vector(classes)
        ordered = labels.ordered(named.tolist()) if len(named) else named
        if not hasattr(self, "classes_"):
            return encoding.class_codes(named).classes
        if not labels.same(ordered, self.classes_):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}.",
                hint="leave classes out after the first call",
            )
        return self.classes_

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A failed update changes nothing."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise


def _finish(work: Iterator[None]) -> None:
    for _ in work:
        pass


# ---------------------------------------------------------------------- rows and chunks


class Rows:
    """Some rows of a CSR matrix, as views of its arrays."""

    def __init__(self, X: Any, part: slice) -> None:
        first, last = X.indptr[part.start], X.indptr[part.stop]
        self.data = np.ascontiguousarray(X.data[first:last], dtype=np.float64)
        self.indices = X.indices[first:last]
        self.indptr = X.indptr[part.start : part.stop + 1] - first
        self.shape = (part.stop - part.start, X.shape[1])


def dense(X: Rows) -> FloatArray:
    """The same rows as a matrix."""
    from scipy.sparse import csr_array

    return np.asarray(csr_array((X.data, X.indices, X.indptr), shape=X.shape).toarray())


def rows_of(X: Any, part: slice) -> Any:
    """A chunk of rows, dense or CSR."""
    return Rows(X, part) if hasattr(X, "indptr") else X[part]


def _numbers(X: Any) -> int:
    """How many numbers a row holds, on average."""
    if hasattr(X, "indptr"):
        return max(1, X.nnz // max(1, X.shape[0]))
    return max(1, X.shape[1])


def count_chunks(X: Any, table_size: int) -> list[slice]:
    """Chunks that are worth a table of their own: larger than the table, but one a core."""
    numbers = max(threads.COUNT_CHUNK, 4 * table_size)
    share = -(-X.shape[0] // threads.n_threads())
    return threads.chunks(X.shape[0], min(numbers // _numbers(X), max(share, 1)))


def score_chunks(X: Any, n_classes: int) -> list[slice]:
    """Chunks that stay in the cache with their scores."""
    return threads.chunks(X.shape[0], threads.SCORE_CHUNK // (_numbers(X) + n_classes) + 1)
