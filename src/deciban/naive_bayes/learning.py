"""What is counted can be added, taken back and merged: the algebra of models of mixed tables.

A model is a *total* of counts, and a *belief*: summed losses that say how far
the evidence is to be believed. Both add up and scale; what they are is a
matter of the estimator.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeGuard

import numpy as np

from deciban.naive_bayes.scoring import Scoring
from deciban.schema import check_same
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.transaction import all_or_nothing


class Learning(Scoring):
    """The methods that count more rows, and take them back."""

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count some more rows; a class or category that appears later is allowed.

        The first call infers the kinds of the columns, and cuts the bins of
        numbers where bins come first. ``classes`` names classes that have no rows yet.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().partial_fit({"x": ["S", "L"]}, [1, 2])
        >>> m.partial_fit({"x": ["S"]}, [3]).classes_
        array([1, 2, 3])
        """
        if not hasattr(self, "model_"):
            return self._fit(X, y, classes, target, sql, sample_weight)
        with all_or_nothing(self):
            (total, belief), sample = self._learned(), self._sample()
            rows = self._rows(X, y, self._target(y, target), sql, sample_weight)
            more = self._joined(total, self._count(rows, sample))
            self._adopt(self._declared(more, classes), belief)
            self._try(sample, belief)
        return self

    def forget(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Take rows back that were counted before, exactly; what they made choose stays.

        A class or category without rows goes with its last row. Bins of numbers
        stay, and a column that had more than 4096 different numbers keeps the
        coarser grid it needed.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L", "M"]}, [1, 2, 2])
        >>> m.forget({"x": ["M"]}, [2]).counts_.weight
        array([1., 1.])
        """
        self._model()
        with all_or_nothing(self):
            rows = self._rows(X, y, self._target(y, target), sql, sample_weight)
            self._shrink(self._less(self._learned()[0], self._count(rows, None)))
        return self

    def decay(self, factor: float) -> Self:
        """Multiply the weight of everything learned so far.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> m.decay(0.5).counts_.weight
        array([0.5, 0.5])
        """
        self._model()
        with all_or_nothing(self):
            self._shrink(self._learned()[0] * factor)
        return self

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        if not self._alike(other):
            return NotImplemented
        total = self._combined(other, self._joined)
        return self._with(total, self._pooled(self._learned()[1], other._learned()[1]))

    def __sub__(self, other: object) -> Self:
        """The model without the rows of the other."""
        if not self._alike(other):
            return NotImplemented
        result = self._copied()
        result._shrink(self._combined(other, self._less))
        return result

    # ------------------------------------------------------------------ what an estimator says

    @abstractmethod
    def _fit(
        self, X: Any, y: Any, classes: Any, target: str | None, sql: str | None, weight: Any
    ) -> Self:
        """Count the first rows."""

    @abstractmethod
    def _count(self, rows: LabelledScan, sample: Sample[LabelledBatch] | None) -> Any:
        """The total of some rows; some of them are kept in the sample."""

    @abstractmethod
    def _learned(self) -> tuple[Any, Any]:
        """The total and the belief of the model."""

    @abstractmethod
    def _adopt(self, total: Any, belief: Any) -> None:
        """Make these the model."""

    @abstractmethod
    def _sample(self) -> Sample[LabelledBatch] | None:
        """Where rows are kept to be tried, if any are."""

    @abstractmethod
    def _try(self, sample: Sample[LabelledBatch] | None, before: Any) -> None:
        """Choose what rows choose, on some that were just counted."""

    @abstractmethod
    def _declared(self, total: Any, classes: Any) -> Any:
        """With classes that have no rows yet."""

    @abstractmethod
    def _less(self, total: Any, gone: Any) -> Any:
        """What is left, which must not be nothing."""

    def _joined(self, total: Any, more: Any) -> Any:
        """Both together."""
        return total + more

    def _pooled(self, mine: Any, theirs: Any) -> Any:
        """The belief of two models, either of which may have none."""
        return mine + theirs if mine and theirs else mine or theirs

    # ------------------------------------------------------------------ what follows

    def _shrink(self, left: Any) -> None:
        """Adopt what is left; the belief says the same, less loudly."""
        total, belief = self._learned()
        kept = left.weight.sum() / max(total.weight.sum(), np.finfo(float).tiny)
        self._adopt(left, None if belief is None else belief * float(kept))

    def _alike(self, other: object) -> TypeGuard[Learning]:
        return isinstance(other, type(self)) or (
            isinstance(other, Learning) and isinstance(self, type(other))
        )

    def _combined(self, other: Any, combine: Callable[[Any, Any], Any]) -> Any:
        check_same(self._model().schema, other._model().schema)
        return combine(self._learned()[0], other._learned()[0])

    def _with(self, total: Any, belief: Any) -> Self:
        """Another model of the same columns and parameters."""
        result = self._copied()
        result._adopt(total, belief)
        return result

    def _tried(self, rows: LabelledScan, sample: Sample[LabelledBatch]) -> Sample[LabelledBatch]:
        """The sample with rows that are counted already."""
        for part in rows.labelled_batches():
            sample.add(part.drop_zero_weights())
        return sample
