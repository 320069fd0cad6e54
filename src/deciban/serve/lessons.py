"""Lessons: what a caller teaches, what it counts as, and the model that has learnt it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from deciban.encoding.row import RowEncoder
from deciban.errors import ModelFileError, ParameterError
from deciban.estimators.counted import CountedClassifier
from deciban.labels import object_array
from deciban.naive_bayes.dropins.base import NaiveBayesClassifier
from deciban.plain import PlainDict
from deciban.serve.store import Checkpoint, Delta, LiveStore
from deciban.sources.objects import scan_records
from deciban.sources.row import read_row
from deciban.sources.scan import BATCH_ROWS
from deciban.sources.tabular import Value

__all__ = ["Content", "Countable", "catch_up", "check_learner", "count", "export", "read", "write"]

#: Deltas that are read and counted at once.
RUN_DELTAS = 10_000


class Content(NamedTuple):
    """A row and its class, as they came."""

    row: dict[str, Value] | str
    answer: Value


_decoder = msgspec.json.Decoder(tuple[PlainDict | str, Any])
_encoder = msgspec.json.Encoder(order="deterministic")


def write(content: Content) -> bytes:
    """A lesson as the store has it: equal lessons are equal bytes.

    >>> write(Content({"size": "S", "age": 3}, "plum"))
    b'[{"age":3,"size":"S"},"plum"]'
    """
    return _encoder.encode(content)


def read(lesson: bytes) -> Content:
    """A lesson from the store.

    >>> read(b'[{"age":3},"plum"]')
    Content(row={'age': 3}, answer='plum')
    """
    try:
        return Content(*_decoder.decode(lesson))
    except ValueError as error:  # of msgspec, or of Python about characters
        raise ModelFileError(
            f"a lesson of the store is damaged: {error}.", hint="restore the store from a backup"
        ) from None


def check_learner(estimator: Any, path: str) -> None:
    """Refuse an estimator that is not its counts: it cannot learn lesson by lesson."""
    if not isinstance(estimator, CountedClassifier | NaiveBayesClassifier):
        raise ParameterError(
            f"{path} holds a {type(estimator).__name__}, which is fitted on all rows at once: "
            "it cannot learn on.",
            hint="serve it without --learn, or a NaiveBayes or AODE model, which is its counts",
        )


class Countable:
    """Tells lessons that can be counted by looking at them; of all others, counting tells.

    >>> from deciban import NaiveBayes
    >>> known = Countable(NaiveBayes().fit({"x": [1.5, 2.5]}, ["a", "b"]))
    >>> known(Content({"x": 2}, "a")), known(Content({"x": "2"}, "a")), known(Content({}, "c"))
    (True, False, False)
    """

    def __init__(self, estimator: Any) -> None:
        caster = estimator.model_.caster
        is_table = isinstance(estimator, CountedClassifier)
        self._encoder = RowEncoder.of(caster) if is_table else None
        self._names = caster.types.keys()
        self._answers = {(type(label), label) for label in estimator.classes_.tolist()}

    def __call__(self, lesson: Content) -> bool:
        """Whether every value has the type of its column, and the class is known."""
        row, answer = lesson
        return (
            self._encoder is not None
            and isinstance(row, dict)
            and (type(answer), answer) in self._answers
            and row.keys() <= self._names
            and self._encoder.encode(row) is not None
        )


def count(estimator: Any, lessons: Sequence[Content]) -> Any:
    """What lessons add to the counts of an estimator, in whatever batches they are counted.

    Values of a column of which no type is known are each taken as they come: such lessons are
    counted one by one.
    """
    if "any" in estimator.model_.caster.types.values():
        parts = [_count(estimator, [lesson]) for lesson in lessons]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
    return _count(estimator, lessons)


def _count(estimator: Any, lessons: Sequence[Content]) -> Any:
    model, answers = estimator.model_, object_array([lesson.answer for lesson in lessons])
    target = estimator.target_ if isinstance(estimator, CountedClassifier) else None
    rows = [
        read_row(lesson.row, model.schema, ignore=target, absent=model.absent_value)
        for lesson in lessons
    ]
    if isinstance(estimator, CountedClassifier):
        return estimator.count_rows(rows, answers)
    (batch,) = scan_records(rows, BATCH_ROWS)
    matrix = model.matrix(model.caster.cast(batch, strict=True))
    with warnings.catch_warnings():
        # The columns of the matrix were found by their names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return estimator.count_rows(matrix, answers)


def catch_up(store: LiveStore, base: Checkpoint, current: Checkpoint) -> Iterator[Checkpoint]:
    """The model after each run of deltas that it has not learnt yet.

    ``base`` is the checkpoint of the store, which says what lessons count as. Lessons learnt one
    after the other are added at once, and so are those taken back; never both.
    """
    while True:
        with store.reading():
            if store.checkpoint_position() != base.position:
                return
            deltas = store.deltas(current.position, RUN_DELTAS)
        if not deltas:
            return
        for sign, run in groupby(deltas, lambda delta: delta.sign):
            current = _add(base, current, sign, list(run))
        yield current


def _add(base: Checkpoint, current: Checkpoint, sign: int, run: list[Delta]) -> Checkpoint:
    counts = count(base.estimator, [read(delta.lesson) for delta in run])
    estimator = current.estimator
    changed = estimator.with_counted(counts) if sign > 0 else estimator.without_counted(counts)
    return Checkpoint(run[-1].position, changed)


def export(path: str) -> Any:
    """The estimator of a store, with all lessons."""
    with LiveStore(path) as store:
        while True:
            with store.reading():
                base = current = store.checkpoint()
            for newer in catch_up(store, base, current):
                current = newer
            if current.position >= store.position():
                return current.estimator
