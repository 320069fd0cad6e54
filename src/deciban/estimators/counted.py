"""What is counted can be added, taken back and merged: the algebra of models of tables.

A model is a *total* of counts, and a *calibration*: summed losses from which the temperature of
the evidence follows. Both add up and scale; what they are is a matter of the estimator.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban import threads
from deciban.encoding.casting import check_same_types
from deciban.encoding.unseen import NOTHING_UNSEEN
from deciban.errors import InputError
from deciban.estimators.lesson_counts import B, C, T
from deciban.estimators.streamed import StreamedClassifier
from deciban.families.remaining import remaining_rows
from deciban.models import scores
from deciban.models.selection import Choices
from deciban.progress import shows_progress
from deciban.schema import check_same
from deciban.sources.databases.query import query_of
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.sources.tabular import LabelsLike, Tabular, UnitsLike, WeightsLike
from deciban.sources.unit_sample import later_units
from deciban.sources.units import UnitSource, unit_source
from deciban.stats.counts import Counts
from deciban.transaction import all_or_nothing

FloatArray = NDArray[np.float64]


class CountedClassifier(StreamedClassifier[C, T, B]):
    """The methods that count more rows, take them back, and leave them out one by one."""

    @shows_progress("learning")
    def partial_fit(
        self,
        X: Tabular,
        y: LabelsLike = None,
        classes: ArrayLike | None = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        table: str | None = None,
        sample_weight: WeightsLike = None,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Count some more rows; a class or category that appears later is allowed.

        The first call infers the kinds of the columns, and cuts the bins of
        numbers where bins come first. ``classes`` names classes that have no rows yet.

        ``groups`` or ``time`` are as in ``fit``; all calls have the same of both, or neither.
        Rows of a group that was learned in an earlier call are counted, but not judged: what was
        counted of it before could not be left out. Rows of a later call come later in time.

        The rows are checked and counted now, and estimates follow when they are asked for. What
        is selected and calibrated is redone each time the rows have doubled, by :meth:`settle`,
        and when the model is saved; with ``groups`` or ``time``, in every call. With a
        ``half_life``, the rows of a call are of one time: what was learned before counts less.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().partial_fit({"x": ["S", "L"]}, [1, 2])
        >>> m.partial_fit({"x": ["S"]}, [3]).classes_
        array([1, 2, 3])
        """
        query = query_of(sql, table)
        if "model_" not in self.__dict__:
            units = unit_source(groups, time)
            sample = None if units is not None else self._sample(None)
            self._kept(1)
            self._fit(X, y, classes, target, query, sample_weight, units, sample=sample)
            if units is None:
                self._open(self._blank(self._selected()), sample, self._state()[0], None)
            return self
        units = self._units(groups, time)

        def rows() -> LabelledScan:
            return self._rows(X, y, self._target(y, target), query, sample_weight, units)

        if self.units_ is None:
            with all_or_nothing(self):
                self._learn_rows(rows, classes)
            return self
        with all_or_nothing(self):
            (total, calibration), judged = self._state(), self._sample(self.units_)
            more = self._join(total, self._count(self._limit(rows()), judged))
            self.units_.check_order(judged)
            self._adopt(self._declare(more, classes), calibration)
            self._calibrate(judged, calibration)
            self._remember_units(judged)
        return self

    @shows_progress("calibrating")
    def recalibrate(
        self,
        X: Tabular,
        y: LabelsLike = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        table: str | None = None,
        sample_weight: WeightsLike = None,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> Self:
        """Choose anew on rows that are counted what such rows choose: the discount, first of all.

        ``NaiveBayes`` also chooses how texts are read, ``AODE`` the strength of its smoothing. All
        rows of a group must be there.

        >>> from deciban import NaiveBayes
        >>> X = {"x": ["S", "S", "L", "L"]}
        >>> m = NaiveBayes(calibrate=False).fit(X, [1, 1, 2, 2])
        >>> m.recalibrate(X, [1, 1, 2, 2]).temperature_ > 1  # of four rows, not much is believed
        True
        """
        self._model()
        units = self._units(groups, time, fixed=False)
        rows = self._rows(X, y, self._target(y, target), query_of(sql, table), sample_weight, units)
        with all_or_nothing(self):
            self._recalibrate(rows)
        return self

    @shows_progress("forgetting")
    def forget(
        self,
        X: Tabular,
        y: LabelsLike = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        table: str | None = None,
        sample_weight: WeightsLike = None,
    ) -> Self:
        """Take rows back that were counted before, exactly; what they made choose stays.

        A class or category without rows goes with its last row. Bins of numbers
        stay, and a column that had more than 4096 different numbers keeps the
        coarser grid it needed. The sample of rows that was judged is not kept in a model, so no
        row of it can be taken out: the calibration stays, for as many rows as are left.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L", "M"]}, [1, 2, 2])
        >>> m.forget({"x": ["M"]}, [2]).counts_.weight
        array([1., 1.])
        """
        self._model()
        with all_or_nothing(self):
            rows = self._rows(X, y, self._target(y, target), query_of(sql, table), sample_weight)
            self._shrink(self._subtract(self._state()[0], self._count(rows, None)))
        return self

    def count_rows(self, X: Tabular, y: LabelsLike = None, *, target: str | None = None) -> T:
        """What these labelled rows would add; the model stays as it is.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> m.count_rows({"x": ["S", "S"]}, [1, 1]).weight, m.counts_.weight
        (array([2.]), array([1., 1.]))
        """
        self._model()
        return self._count(self._limit(self._rows(X, y, self._target(y, target))), None)

    def with_counted(self, more: T) -> Self:
        """Another model that has these rows as well, of :meth:`count_rows`.

        Its calibration is that of this model: rows add up to one model, in whatever batches.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> m.with_counted(m.count_rows({"x": ["S", "S"]}, [1, 1])).counts_.weight
        array([3., 1.])
        """
        total, calibration = self._state()
        return self._with(self._join(total, more), calibration)

    def without_counted(self, gone: T) -> Self:
        """Another model without these rows, which were counted before.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> more = m.count_rows({"x": ["M"]}, [3])
        >>> m.with_counted(more).without_counted(more).counts_ == m.counts_
        True
        """
        total, calibration = self._state()
        return self._with(self._subtract(total, gone), calibration)

    def decay(self, factor: float) -> Self:
        """Multiply the weight of everything learned so far.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes().fit({"x": ["S", "L"]}, [1, 2])
        >>> m.decay(0.5).counts_.weight
        array([0.5, 0.5])
        """
        self._model()
        with all_or_nothing(self):
            self._shrink(self._state()[0] * factor)
        return self

    def __add__(self, other: object) -> Self:
        """The model of both data sets, with the parameters of the first."""
        if not self._is_alike(other):
            return NotImplemented
        total = self._combine(other, self._join)
        result = self._with(total, self._pool(self._state()[1], other._state()[1]))
        if result.units_ is not None:
            result.units_ = result.units_ + other.units_
        return result

    def __sub__(self, other: object) -> Self:
        """The model without the rows of the other."""
        if not self._is_alike(other):
            return NotImplemented
        result = self._copy()
        result._shrink(self._combine(other, self._subtract))
        return result

    @shows_progress("leaving out")
    def leave_one_out(
        self,
        X: Tabular,
        y: LabelsLike = None,
        *,
        target: str | None = None,
        sql: str | None = None,
        table: str | None = None,
        sample_weight: WeightsLike = None,
        groups: UnitsLike = None,
        time: UnitsLike = None,
    ) -> FloatArray:
        """``log P(c | x)`` of counted rows, each as if it had never been seen.

        The choices (bins, smoothing, shapes, discount) stay. The price is one
        scoring pass; weighted rows are taken out with the weights they have. With ``groups``
        whole groups are left out, whose rows must all be there; with ``time``, all rows that did
        not come before. A model that was fitted so needs them here as well; a column is found
        by its name.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes(smoothing=1, calibrate=False).fit({"x": ["S", "S", "L"]}, [1, 1, 2])
        >>> np.exp(m.leave_one_out({"x": ["S"]}, [1])).round(3)      # 2/4 * 2/3 and 2/4 * 1/3
        array([[0.667, 0.333]])
        """
        model = self._model()

        def work(part: LabelledBatch) -> FloatArray:
            remaining = remaining_rows(part, self.classes_)
            if remaining is None:
                y = part.codes_among(self.classes_)
                prior, likelihood = model.leave_one_out(part.batch, y, part.weights)
            else:
                prior, likelihood = model.leave_out(part.batch, remaining)
            joint = model.joint(prior, likelihood)
            scores.normalise(joint, model.log_prior, logarithm=True)
            return joint

        units = self._units(groups, time, fixed=False)
        rows = self._rows(X, y, self._target(y, target), query_of(sql, table), sample_weight, units)
        batches = rows.labelled_batches()
        if units is not None:  # rows of a group may lie in any batch
            held = list(batches)
            batches = iter([LabelledBatch.concatenate(held)] if held else [])
        parts = list(threads.run(work, batches))
        self._unseen = NOTHING_UNSEEN  # of rows that were counted, nothing is
        return np.concatenate([np.empty((0, len(self.classes_))), *parts])

    @property
    def counts_(self) -> Counts:
        """The table of counts."""
        return self.model_.counts

    @property
    def choices_(self) -> Choices:
        """How each counted column is modelled."""
        return Choices(self.model_.choices)

    @property
    def temperature_(self) -> float:
        """One over the discount of the evidence: 1 is the pure model."""
        return self.model_.temperature

    # ------------------------------------------------------------------ what an estimator says

    @abstractmethod
    def _subtract(self, total: T, gone: T) -> T:
        """What is left, which must not be nothing."""

    @abstractmethod
    def _recalibrate(self, rows: LabelledScan) -> None:
        """Choose anew on rows that are counted."""

    def _pool(self, mine: B | None, theirs: B | None) -> B | None:
        """The calibration of two models, either of which may have none."""
        return mine + theirs if mine and theirs else mine or theirs

    # ------------------------------------------------------------------ what follows

    def _units(
        self, groups: UnitsLike, time: UnitsLike, *, fixed: bool = True
    ) -> UnitSource | None:
        return later_units(self.units_, groups, time, fixed=fixed)

    def _remember_units(self, sample: Sample | None) -> None:
        if self.units_ is not None:
            self.units_ = self.units_.after(sample)

    def _shrink(self, left: T) -> None:
        """Adopt what is left; the calibration says the same, less loudly."""
        total, calibration = self._state()
        kept = left.weight.sum() / max(total.weight.sum(), np.finfo(float).tiny)
        self._adopt(left, None if calibration is None else calibration * float(kept))

    def _is_alike(self, other: object) -> TypeGuard[CountedClassifier[C, T, B]]:
        return isinstance(other, type(self)) or (
            isinstance(other, CountedClassifier) and isinstance(self, type(other))
        )

    def _combine(self, other: Self, combine: Callable[[T, T], T]) -> T:
        check_same(self._model().schema, other._model().schema)
        check_same_types(self._model().caster.types, other._model().caster.types)
        return combine(self._state()[0], other._state()[0])

    def _with(self, total: T, calibration: B | None) -> Self:
        """Another model of the same columns and parameters."""
        result = self._copy()
        result._adopt(total, calibration)
        return result


def refuse_empty(left: Counts, whole: Counts) -> Counts:
    """What is left of counts when rows are taken away, which must not be nothing."""
    if not len(left.classes):
        raise InputError(
            f"nothing is left of {whole.weight.sum():g} rows.",
            hint="a model without rows knows nothing: fit another one",
        )
    return left
