"""The counts behind a stream of lessons: counted, selected and calibrated when it is time.

An estimator of counts says here how it counts and selects; what follows for lessons is common.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban import checks, labels
from deciban import schema as schemas
from deciban.encoding.class_limit import NumberClasses
from deciban.errors import DecibanError, InputError, ParameterError
from deciban.estimators.classifier import TableClassifier
from deciban.estimators.stream import (
    Held,
    Lesson,
    Stream,
    lesson_weights,
)
from deciban.labels import Labels
from deciban.models.class_weights import ClassWeight, weighted_prior
from deciban.models.prior import StatedPrior, check_prior, stated_prior
from deciban.models.protocol import CountedModel, Scored
from deciban.schema import Schema
from deciban.sources import objects
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.tabular import LabelsLike, Row, Tabular, WeightsLike
from deciban.sources.unit_sample import TrainingUnits
from deciban.sources.units import UnitSource
from deciban.transaction import all_or_nothing

__all__ = ["AddsUp", "B", "C", "LessonCounts", "RowCounts", "T", "join_samples"]

FloatArray = NDArray[np.float64]
C = TypeVar("C", bound=CountedModel)
#: What is counted, and the calibration of the evidence: both add up.
T = TypeVar("T", bound="RowCounts")
B = TypeVar("B", bound="AddsUp")


class AddsUp(Protocol):
    """What is known of some rows and of others adds up, and scales as rows come to weigh less."""

    def __add__(self, other: Self) -> Self: ...

    def __mul__(self, factor: float) -> Self: ...


class RowCounts(AddsUp, Protocol):
    """Counts of rows that add up and decay."""

    @property
    def weight(self) -> FloatArray:
        """The weight of the rows of each class."""


class LessonCounts(TableClassifier[C], Generic[C, T, B]):
    """What is done with lessons that were checked.

    ``half_life`` is after how many rows those before count half; None is never.
    """

    half_life: float | None
    max_classes: int | None
    kinds: Mapping[str, str] | None
    prior: StatedPrior
    class_weight: ClassWeight
    #: Rows are held as they came until there are so many: kinds are inferred from them.
    _held_rows: ClassVar[int]

    def _selected(self) -> C:
        """The model that was selected last, whatever was learned since."""
        try:
            model: C = self.__dict__["model_"]
        except KeyError:
            raise AttributeError("model_ is there when something was learned") from None
        return model

    @property
    def _stream(self) -> Stream[T, B] | None:
        stream: Stream[T, B] | None = self.__dict__.get("_stream")
        return stream

    @property
    def model_(self) -> C:
        """The model of all rows that were learned."""
        stream = self._stream
        if stream is not None and stream.unsettled:
            with stream.lock:
                if stream.unsettled and not stream.busy:
                    self._settle(stream)
        return self._selected()

    @model_.setter
    def model_(self, model: C) -> None:
        stream = self._stream
        if stream is not None and not stream.busy:
            del self.__dict__["_stream"]  # other rows than those of the stream made it
        self.__dict__["model_"] = model

    @property
    def classes_(self) -> Labels:
        """The classes, in order."""
        stream = self._stream
        if stream is not None and stream.unsettled and not stream.busy:
            return stream.classes
        return self._selected().classes

    def _row_model(self) -> Scored | None:
        return self._answering() if "model_" in self.__dict__ else None

    def _following(self) -> Scored:
        """The model that follows all rows, with the choices made last."""
        stream = self._stream
        if stream is None or not stream.unsettled:
            return self._model()
        with stream.lock:
            if stream.busy:
                return self._selected()
            if stream.is_due(self.half_life):
                try:
                    self._settle(stream)
                except DecibanError:  # as fit would say of these rows, and settle does
                    stream.n_selected, stream.due = stream.n_rows, False
                else:
                    return self._selected()
            live = stream.follow()
            if live is None:
                with self._at_work(stream):
                    self._count_pending(stream)
                    live = stream.begin(self._follow(stream.total))
            return live

    def _kept(self, n_rows: int) -> float:
        """What is left of all that was learned before, when so many rows come."""
        half_life = self.half_life
        if half_life is None:
            return 1.0
        if not (checks.is_number(half_life) and half_life > 0):
            raise ParameterError(
                f"half_life must be a number of rows > 0 or None, got {half_life!r}.",
                hint="1000 lets a row count half when 1000 rows came after it",
            )
        return float(0.5 ** (n_rows / half_life))

    def _open(
        self,
        base: C,
        sample: Sample | None,
        total: T,
        before: B | None,
        held: list[Held] | None = None,
    ) -> Stream[T, B]:
        n_rows = float(base.counts.weight.sum() if held is None else len(held))
        stream = Stream(total, before, sample, base, self.classes_, n_rows, n_rows, held)
        self.__dict__["_stream"] = stream  # from now on, other threads learn by it
        return stream

    # ------------------------------------------------------------------ many lessons

    @contextmanager
    def _at_work(self, stream: Stream[T, B]) -> Iterator[None]:
        """The model that was selected is the one that is asked for meanwhile."""
        with stream.lock, all_or_nothing(self):
            stream.busy = True
            try:
                yield
            finally:
                stream.busy = False

    def _settle(self, stream: Stream[T, B]) -> None:
        """Select and calibrate by all rows."""
        if stream.held is not None:
            self._fit_again(stream, stream.held)
            return
        with self._at_work(stream):
            self._count_pending(stream)
            self.model_ = stream.base
            self._adopt(stream.total, stream.before)
            self._calibrate(stream.sample, stream.before)
            total, calibration = self._state()
            if self.half_life is not None:  # what was judged decays from now on
                stream.base, stream.before = self._selected(), calibration
                stream.sample = self._sample(None)
            stream.restart(total, stream.n_rows)

    def _fit_again(self, stream: Stream[T, B], held: list[Held]) -> None:
        """Fit the rows that are held, and so infer the kinds of columns anew."""
        with self._at_work(stream):
            stream.sample = self._fit_held(held)
            stream.base = self._blank(self._selected())
            stream.restart(self._state()[0], float(len(held)))
            stream.set_classes(self.classes_)
            stream.held = held if len(held) < self._held_rows else None

    def _fit_held(self, held: list[Held]) -> Sample | None:
        rows = [lesson.row for lesson in held]
        y: list[Any] = [lesson.label for lesson in held]
        weights, _ = lesson_weights(held)
        sample, kinds = self._sample(None), self.kinds
        if kinds is not None and all(isinstance(row, Mapping) for row in rows):
            names = {str(name) for row in rows for name in row}
            kinds = {name: kind for name, kind in kinds.items() if name in names}
        weight = None if np.all(weights == 1.0) else weights
        self._fit(rows, y, None, None, None, weight, sample=sample, kinds=kinds)
        return sample

    def _count_pending(self, stream: Stream[T, B]) -> None:
        """Count the lessons that wait."""
        lessons = stream.pending
        if not lessons:
            return
        weights, left = lesson_weights(lessons)
        y: list[Any] = [lesson.label for lesson in lessons]
        weight = None if np.all(weights == 1.0) else weights
        rows = self._rows([lesson.row for lesson in lessons], y, weight=weight)
        sample = self._sample(None)
        self._take(stream, self._count(rows, sample), sample, left)
        stream.pending = []

    def _take(self, stream: Stream[T, B], more: T, sample: Sample | None, left: float) -> None:
        """Add counts of more rows, some of which are in the sample; ``left`` remains of others."""
        total, before = stream.total, stream.before
        if left != 1.0:
            total, before = total * left, None if before is None else before * left
        stream.total, stream.before = self._join(total, more), before
        stream.sample = join_samples(stream.sample, sample)

    def _limit(self, rows: LabelledScan, classes: Labels | None = None) -> LabelledScan:
        """Rows to be counted beside those of known classes, whose number may be limited."""
        rows.classes = self.classes_ if classes is None else classes
        rows.limit = NumberClasses(self.max_classes)
        rows.limit.add(rows.classes)
        return rows

    def _widen(self, stream: Stream[T, B], new: Row) -> None:
        """Take up columns that no row had before."""
        if stream.held is not None:
            raise InputError(f"column {next(iter(new))!r} is new.")
        batch = Batch(1, {name: objects.column(name, [value]) for name, value in new.items()})
        kinds = {name: kind for name, kind in (self.kinds or {}).items() if name in new}
        more = schemas.infer([batch], kinds)
        with self._at_work(stream):
            self._count_pending(stream)
            schema = Schema((*stream.base.schema.columns, *more.columns))
            stream.base, stream.total = self._with_columns(stream.base, stream.total, schema)
            self.model_ = self._with_columns(self._selected(), stream.total, schema)[0]
            if isinstance(stream.sample, RowSample):
                stream.sample = stream.sample.with_columns(batch.columns)
            self.n_features_in_ = len(schema.names)
            if "feature_names_in_" in self.__dict__:
                self.feature_names_in_ = labels.object_array(schema.names)
        stream.reader, stream.due, stream.unsettled = None, True, True
        stream.forget_live()

    # ------------------------------------------------------------------ what an estimator says

    @abstractmethod
    def _fit(
        self,
        X: Tabular,
        y: LabelsLike,
        classes: ArrayLike | None,
        target: str | None,
        sql: str | None,
        weight: WeightsLike,
        units: UnitSource | None = None,
        *,
        sample: Sample | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> Self:
        """Count the first rows; some of them are kept in the sample."""

    @abstractmethod
    def _count(self, rows: LabelledScan, sample: Sample | None) -> T:
        """The total of some rows; some of them are kept in the sample."""

    @abstractmethod
    def _state(self) -> tuple[T, B | None]:
        """The total and the calibration of the model."""

    @abstractmethod
    def _adopt(self, total: T, calibration: B | None) -> None:
        """Make these the model."""

    @abstractmethod
    def _sample(self, units: TrainingUnits | None) -> Sample | None:
        """Where rows are kept to be tried, if any are."""

    @abstractmethod
    def _calibrate(self, sample: Sample | None, before: B | None) -> None:
        """Choose what rows choose, on some that were just counted."""

    @abstractmethod
    def _declare(self, total: T, classes: ArrayLike | None) -> T:
        """With classes that have no rows yet."""

    @abstractmethod
    def _follow(self, total: T) -> Scored:
        """A model of these counts with the choices that were made last."""

    @abstractmethod
    def _classes_of(self, total: T) -> Labels:
        """The classes of counts."""

    def _stated_prior(self, classes: Labels, weight: FloatArray) -> FloatArray | None:
        """The prior that is stated, checked, of classes of such weights; None is as counted."""
        if self.class_weight is not None:
            return weighted_prior(self.class_weight, classes, weight, self.prior)
        stated = self.prior is not None and len(classes)
        return stated_prior(self.prior, classes) if stated else None

    def _check_prior(self, n_classes: int) -> None:
        """Refuse classes that the prior, if one is stated, does not know."""
        if self.prior is not None:
            check_prior(self.prior, n_classes)

    def _check_room(self, stream: Stream[T, B], lesson: Lesson) -> None:
        """Refuse a lesson whose counts would not fit."""

    def _blank(self, model: C) -> C:
        """The model without what rows of the sample said: they say it anew."""
        return model

    def _with_columns(self, model: C, total: T, schema: Schema) -> tuple[C, T]:
        """The model and its counts with columns that no row has yet."""
        raise InputError(
            f"column {schema.names[-1]!r} is new, and {type(self).__name__} has learned without "
            "it.",
            hint="leave it out, or fit another model",
        )

    def _join(self, total: T, more: T) -> T:
        """Both together."""
        return total + more


def join_samples(one: Sample | None, more: Sample | None) -> Sample | None:
    """The sample of the rows of both."""
    if isinstance(one, RowSample) and isinstance(more, RowSample):
        return one + more
    return one or more
