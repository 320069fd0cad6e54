"""A stream of lessons: rows that were learned, and how far they are in the model.

A lesson is checked when it comes, and then waits. It is *counted* with others, a thousand at a
time or when the counts are asked for; a prediction follows it at once, with the choices that were
made last. What is *selected* (families, bins, smoothing, how texts are read) and the calibration
are redone when the rows have doubled since, so that n rows cost about log2(n) selections.

While the kinds of columns are still inferred, the first rows are held as they came; a selection
is then a fit of all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import prod
from threading import RLock
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding.row import RowEncoder
from deciban.labels import Labels
from deciban.models.protocol import Scored
from deciban.sources.sample import Sample
from deciban.sources.tabular import Row, Value

__all__ = ["Held", "Learns", "Lesson", "Stream", "lesson_weights"]

FloatArray = NDArray[np.float64]
T = TypeVar("T")
B = TypeVar("B")

#: So many lessons are counted at once.
COUNTED_LESSONS = 1024
#: A prediction follows no more lessons than this one by one; more are counted first.
MAX_FOLLOWED = 64
#: With a half-life, choices are made anew after two of them, but not before so many rows.
MIN_SELECTION_ROWS = 2_000


class Lesson(NamedTuple):
    """A row in the types of training, its class and weight, and what is ``kept`` of all before."""

    row: Row
    label: Hashable
    weight: float
    kept: float = 1.0


class Held(NamedTuple):
    """A row as it came, its label and weight, and what is ``kept`` of all before it."""

    row: Value
    label: Hashable
    weight: float
    kept: float = 1.0


@runtime_checkable
class Learns(Protocol):
    """A model that follows lessons."""

    @property
    def follows(self) -> bool:
        """Whether it can learn single rows; if not, it is estimated anew."""

    def learn(self, row: Row, own: int, weight: float, keep: float = 1.0) -> None:
        """Count one row of the class ``own``; ``keep`` is left of those before."""


@dataclass
class Stream(Generic[T, B]):
    """What was learned since a model was selected.

    ``total`` are the counts without the lessons that are ``pending``; ``before`` is the
    calibration of rows that are not in the ``sample``. ``n_rows`` were learned in all, and
    ``n_selected`` when choices were made last. ``held`` has all rows as they came while kinds are
    inferred, and is None afterwards. ``live`` follows all lessons but those in the ``queue``.
    """

    total: T
    before: B | None
    sample: Sample | None
    base: Any
    classes: Labels
    n_rows: float
    n_selected: float
    held: list[Held] | None = None
    pending: list[Lesson] = field(default_factory=list)
    queue: list[Lesson] = field(default_factory=list)
    live: Scored | None = None
    learner: Learns | None = None
    unsettled: bool = False
    #: Choices are due at once, as after a new column.
    due: bool = False
    busy: bool = False
    lock: Any = field(default_factory=RLock, repr=False)
    #: What reads rows in the types of the model that was selected.
    reader: RowEncoder | None = None
    codes: Mapping[Hashable, int] = field(default_factory=dict, init=False)
    label_types: frozenset[type] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        self.set_classes(self.classes)

    def set_classes(self, classes: Labels) -> None:
        """The classes of all lessons."""
        names = classes.tolist()
        self.classes, self.label_types = classes, frozenset(map(type, names))
        self.codes = {label: code for code, label in enumerate(names)}

    def restart(self, total: T, n_rows: float) -> None:
        """Begin anew from a model of all rows so far."""
        self.total, self.n_rows, self.n_selected = total, n_rows, n_rows
        self.pending, self.reader = [], None
        self.unsettled = self.due = False
        self.forget_live()

    def add(self, lesson: Lesson) -> None:
        """Take a lesson that was checked."""
        if lesson.label not in self.codes:
            self.set_classes(labels.sort([*self.classes.tolist(), lesson.label]))
            self.forget_live()
        self.pending.append(lesson)
        self.n_rows += 1
        self.unsettled = True
        if self.live is not None:
            self.queue.append(lesson)
            if len(self.queue) > MAX_FOLLOWED:
                self.forget_live()

    def forget_live(self) -> None:
        """What follows lessons is made anew when it is asked for."""
        self.live = self.learner = None
        self.queue.clear()

    def is_due(self, half_life: float | None) -> bool:
        """Whether choices are to be made anew."""
        rows = max(self.n_selected, 1.0)
        if half_life is not None:
            rows = min(rows, max(2 * half_life, MIN_SELECTION_ROWS))
        return self.due or self.n_rows - self.n_selected >= rows

    def follow(self) -> Scored | None:
        """The model that follows all lessons; None where it has to be made anew."""
        if self.live is None or not self.queue:
            return self.live
        if self.learner is None:
            self.forget_live()
            return None
        for row, label, weight, kept in self.queue:
            self.learner.learn(row, self.codes[label], weight, kept)
        self.queue.clear()
        return self.live

    def begin(self, live: Scored) -> Scored:
        """Follow lessons from now on with this model, which knows all of them so far."""
        self.live = live
        self.learner = live if isinstance(live, Learns) and live.follows else None
        return live

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["lock"]
        return {**state, "live": None, "learner": None, "queue": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=RLock())


def lesson_weights(lessons: list[Lesson] | list[Held]) -> tuple[FloatArray, float]:
    """The weight of each lesson after the last, and what is left of all before the first.

    >>> lesson_weights([Lesson({}, 1, 1.0, 0.5), Lesson({}, 1, 1.0, 0.5)])
    (array([0.5, 1. ]), 0.25)
    """
    kept = np.array([lesson.kept for lesson in lessons])
    left = np.append(np.cumprod(kept[::-1])[::-1][1:], 1.0)
    return np.array([lesson.weight for lesson in lessons]) * left, prod(kept.tolist())
