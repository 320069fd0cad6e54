"""Learning row by row, as streams come: checked at once, estimated when asked, selected rarely.

:mod:`deciban.estimators.stream` has the schedule. ``settle``, a file, or whatever else needs the
model as a whole brings it up to date: it is then the model of all rows fitted at once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import RLock
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import checks, encoding, labels
from deciban.encoding import matrices
from deciban.encoding.casting import cast_labels
from deciban.encoding.class_limit import NumberClasses
from deciban.encoding.row import RowEncoder, row_batch
from deciban.engines.local.count import require_rows
from deciban.errors import DecibanError, InputError
from deciban.estimators.lesson_counts import B, C, LessonCounts, T
from deciban.estimators.one_row import name_values
from deciban.estimators.river import RiverStep
from deciban.estimators.stream import (
    COUNTED_LESSONS,
    MAX_FOLLOWED,
    Held,
    Lesson,
    Stream,
)
from deciban.sources.labelled import LabelledScan
from deciban.sources.tabular import Row, Value
from deciban.transaction import all_or_nothing

__all__ = ["StreamedClassifier"]

#: The first lesson of an estimator makes its model.
_FIRST_LESSON = RLock()


class StreamedClassifier(RiverStep, LessonCounts[C, T, B]):
    """The methods that learn one row, and bring the model up to date."""

    def learn_one(self, x: Value, y: Hashable, w: float = 1.0) -> None:
        """Learn one row and its label, as River's classifiers do; ``w`` is its weight.

        The row is a dict, a list or array of values, or a text. It is checked now: a row that
        cannot be learned changes nothing. The next prediction knows it. Columns, categories and
        classes may be new; the kinds of columns are inferred anew from the first 10,000 rows.
        What is selected and calibrated is redone each time the rows have doubled.

        >>> from deciban import NaiveBayes
        >>> m = NaiveBayes()
        >>> m.predict_one({"x": "S"}), m.predict_proba_one({"x": "S"})
        (None, {})
        >>> for size, label in [("S", "a"), ("L", "b"), ("S", "a"), ("L", "b")]:
        ...     m.learn_one({"x": size}, label)
        >>> m.predict_one({"x": "S"})
        'a'
        """
        weight = checks.number("w", w, "a row of weight 2 counts twice")
        held = Held(x, y, weight, self._kept(1))
        stream = self._stream
        if stream is None:
            with _FIRST_LESSON:
                stream = self._opened()
                if stream is None:
                    with all_or_nothing(self):
                        self._learn_first(held)
                    return
        with stream.lock:
            self._learn(stream, held)

    def settle(self) -> Self:
        """Bring the model up to date: it equals the one fitted at once on all rows.

        That of a ``half_life`` does but for rounding, if weights are as the half-life says.
        Saving, ``counts_``, ``explain`` and whatever else needs the whole model do this by
        themselves; predictions need not, they follow the rows with the choices made last.

        >>> from deciban import NaiveBayes
        >>> m, rows, y = NaiveBayes(), [{"x": "S"}, {"x": "L"}, {"x": "S"}], [1, 2, 1]
        >>> for row, label in zip(rows, y):
        ...     m.learn_one(row, label)
        >>> m.settle().counts_ == NaiveBayes().fit(rows, y).counts_
        True
        """
        self._model()
        return self

    # ------------------------------------------------------------------ the model

    def _copy(self) -> Self:
        self._model()
        copied: Self = super()._copy()
        return copied

    # ------------------------------------------------------------------ one lesson

    def _opened(self) -> Stream[T, B] | None:
        """The stream of a model; None where there is no model yet."""
        stream = self._stream
        if stream is None and "model_" in self.__dict__:
            with _FIRST_LESSON:
                stream = self._stream
                if stream is None:
                    if self.units_ is not None:
                        self._units(None, None)
                    stream = self._open(self._selected(), self._sample(None), *self._state())
        return stream

    def _learn_first(self, first: Held) -> None:
        if not first.weight:
            return
        held = [first._replace(row=_own(first.row))]
        sample = self._fit_held(held)
        self._open(self._blank(self._selected()), sample, self._state()[0], None, held)

    def _learn(self, stream: Stream[T, B], held: Held) -> None:
        row = name_values(held.row, self._selected().schema)
        label = self._label(stream, held.label)
        if not held.weight:
            return
        if stream.held is None:
            lesson = Lesson(self._cast(stream, row), label, held.weight, held.kept)
            self._check_room(stream, lesson)
            stream.add(lesson)
            if len(stream.pending) >= COUNTED_LESSONS:
                with self._at_work(stream):
                    self._count_pending(stream)
            return
        try:
            lesson = Lesson(self._cast(stream, row), label, held.weight, held.kept)
            self._check_room(stream, lesson)
        except InputError:  # kinds may follow from it
            self._fit_again(stream, [*stream.held, held._replace(row=_own(held.row))])
            return
        stream.add(lesson)
        stream.held.append(held._replace(row=_own(held.row), label=label))
        if len(stream.held) == self._held_rows:
            with suppress(DecibanError):  # settle says it again
                self._settle(stream)

    def _label(self, stream: Stream[T, B], y: Hashable) -> Hashable:
        """The class that a label names: one that is known, or a new one."""
        if type(y) in stream.label_types and y in stream.codes:
            return y
        plain = labels.object_array([y]) if isinstance(y, str) else encoding.label_vector([y])
        labelled = encoding.class_codes(plain)
        limit = NumberClasses(self.max_classes)
        limit.add(stream.classes)
        limit.add(labelled.classes)
        label: Hashable = cast_labels(labelled, stream.classes).classes.tolist()[0]
        if label not in stream.codes:
            self._check_prior(len(stream.codes) + 1)
        return label

    def _cast(self, stream: Stream[T, B], row: Row) -> Row:
        """The values of a row in the types of training; a new column widens the table."""
        model = self._selected()
        if stream.reader is None:
            stream.reader = RowEncoder.of(model.caster)
        names = stream.reader.names
        if not row.keys() <= names:
            new = [name for name in row if name not in names and name not in self._other_columns]
            if new:
                self._widen(stream, {name: row[name] for name in new})
                return self._cast(stream, row)
        if stream.reader.encode(row) is not None:
            return {name: row.get(name) for name in names}
        batch = row_batch(row, model.caster, strict=True)
        matrices.numbers(model.schema, batch)
        values: Row = batch.tolist()[0]
        return values

    # ------------------------------------------------------------------ a table of lessons

    def _learn_rows(self, read: Callable[[], LabelledScan], classes: ArrayLike | None) -> None:
        """Learn a table: a few rows as lessons, more of them counted at once."""
        stream = self._opened()
        if stream is None:
            raise TypeError("the first rows are fitted")
        with stream.lock:
            if stream.held is not None:  # from now on, kinds are what they are
                self._settle(stream)
                stream.held = None
            with self._at_work(stream):
                rows = self._limit(read(), stream.classes)
            n_rows = rows.scan.n_rows
            if n_rows is not None and n_rows <= MAX_FOLLOWED and classes is None:
                self._learn_few(stream, rows)
            else:
                self._learn_many(stream, rows, classes)

    def _learn_few(self, stream: Stream[T, B], rows: LabelledScan) -> None:
        lessons: list[Lesson] = []
        for batch in rows.labelled_batches():
            some = batch.drop_zero_weights()
            matrices.numbers(rows.schema, some.batch)
            names = some.classes.tolist()
            about = zip(some.batch.tolist(), some.codes.tolist(), some.weights, strict=True)
            lessons += [Lesson(row, names[code], float(weight)) for row, code, weight in about]
        if not lessons:
            require_rows(rows, _Weightless())
        new = {lesson.label for lesson in lessons} - stream.codes.keys()
        if new:
            self._check_prior(len(stream.codes) + len(new))
        for lesson in lessons:
            self._check_room(stream, lesson)
        for i, lesson in enumerate(lessons):
            stream.add(lesson if i else lesson._replace(kept=self._kept(len(lessons))))

    def _learn_many(
        self, stream: Stream[T, B], rows: LabelledScan, classes: ArrayLike | None
    ) -> None:
        with self._at_work(stream):
            self._count_pending(stream)
            sample = self._sample(None)
            more = self._declare(self._count(rows, sample), classes)
            names = labels.union(stream.classes, self._classes_of(more))
            self._check_prior(len(names))
            self._take(stream, more, sample, self._kept(rows.n_rows))
            stream.set_classes(self._classes_of(stream.total))
        stream.n_rows += rows.n_rows
        stream.unsettled = True
        stream.forget_live()


class _Weightless:
    """What was counted of rows that do not count."""

    weight = np.zeros(1)


def _own(row: Value) -> Value:
    """A copy that the caller does not change."""
    return copy.copy(row)
