"""The rows of a table: batches in the schema's columns, with labels and weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, labels, sources, tabular
from deciban.encoding import Labelled
from deciban.errors import MissingValueError, ShapeError
from deciban.naive_bayes.parts import Part, labels_in_use
from deciban.schema import Schema
from deciban.sources.columns import Batch
from deciban.sources.duck import Stored

FloatArray = NDArray[np.float64]

#: Rows a batch where few columns are read: adding up the counts of batches costs time too.
LARGE = 1 << 18


@dataclass
class Rows:
    """A table that can be read: its schema, labels and weights.

    Labels are ``y`` or the column ``target``; weights are an array, or the name
    of a column. ``n_rows`` is known when all have been read. Rows without a label
    are an error, unless there is a list ``aside`` where they are put.
    """

    table: sources.Scan
    schema: Schema
    y: Labelled | None
    target: str | None
    weight: Any
    named: bool
    n_rows: int = 0
    aside: list[Part] | None = None
    _read: tuple[list[Batch], Iterator[Batch]] | None = field(default=None)

    def put_back(self, first: list[Batch], rest: Iterator[Batch]) -> None:
        """What was read to infer kinds is not read again."""
        self._read = first, rest

    def _whole(self) -> Iterator[Batch]:
        """The batches with all their columns."""
        if self._read is None:
            return iter(self.table)
        (first, rest), self._read = self._read, None
        return chain(_emptied(first), rest)

    def batches(self) -> Iterator[Batch]:
        """The columns of the schema, by name."""
        return map(self._columns, self._whole())

    def labelled(self) -> Iterator[Part]:
        """The same with the labels and weights of the rows."""
        start = 0
        for batch in self._whole():
            stop = start + batch.n_rows
            found = self._labels(batch, start, stop)
            weight = self._weights(batch, start, stop)
            part = Part(self._columns(batch), found.classes, found.codes, weight)
            yield self._with_labels(part, start)
            start = stop
        self.n_rows = start
        self._check_length("y", None if self.y is None else self.y.codes, start)
        self._check_length("sample_weight", self.weight, start)

    def some(self, columns: Iterable[str]) -> Rows:
        """Only some columns of a table that is stored: the others are not read."""
        stored, names = self._stored(), set(columns)
        schema = Schema(tuple(c for c in self.schema.columns if c.name in names))
        wanted = [name for name in self.table.names if name in {*schema.names, self.target}]
        table = sources.Scan(tuple(wanted), lambda: stored.columns(wanted, LARGE))
        return replace(self, table=table, schema=schema)

    def every(self, stride: int) -> Rows:
        """Rows 0, ``stride``, 2 ``stride``, ... of a table that is stored."""
        stored = self._stored()
        read = partial(stored.every, stride, sources.ROWS)
        return replace(self, table=sources.Scan(self.table.names, read))

    def _stored(self) -> Stored:
        if self.table.stored is None:
            raise TypeError("only of a stored table can parts be asked for")
        return self.table.stored

    def remember(self, estimator: Any) -> None:
        """What scikit-learn's users expect to find after fitting."""
        estimator.n_features_in_ = len(self.schema.names)
        estimator.target_ = self.target
        if self.named:
            estimator.feature_names_in_ = labels.object_array(self.schema.names)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def _columns(self, batch: Batch) -> Batch:
        return Batch(batch.n_rows, {name: batch.columns[name] for name in self.schema.names})

    def _labels(self, batch: Batch, start: int, stop: int) -> Labelled:
        if self.target is not None:
            return tabular.classes(batch.columns[self.target])
        if self.y is None:
            raise MissingValueError(
                "there are no labels: requires y to be passed, but the target y is None.",
                hint="pass y, or target='column'",
            )
        self._check_length("y", self.y.codes, stop, whole=False)
        return Labelled(self.y.classes, self.y.codes[start:stop])

    def _with_labels(self, part: Part, start: int) -> Part:
        """The rows that have a label; the others are put aside, or refused."""
        missing = np.flatnonzero(part.codes < 0)
        if len(missing):
            if self.aside is None:
                self._refuse_missing(start + int(missing[0]))
            else:
                self._put_aside(part.taken(missing))
            part = part.taken(np.flatnonzero(part.codes >= 0))
        return Part(part.batch, *labels_in_use(part.classes, part.codes), part.weight)

    def _refuse_missing(self, row: int) -> None:
        what = (
            f"Input y contains NaN or None: it has no value in row {row}."
            if self.target is None
            else f"the target {self.target!r} has no value in row {row}."
        )
        raise MissingValueError(
            what, hint="leave unlabelled rows out; only NaiveBayes.fit learns from them"
        )

    def _put_aside(self, part: Part) -> None:
        none = np.zeros(part.batch.n_rows, dtype=np.intp)
        left = Part(part.batch, np.arange(1), none, part.weight).counted()
        if self.aside is not None and left.batch.n_rows:
            self.aside.append(left)

    def _weights(self, batch: Batch, start: int, stop: int) -> FloatArray | None:
        if isinstance(self.weight, str):
            column = batch.columns[self.weight]
            values = [np.nan if value is None else value for value in column.tolist()]
            return encoding.some_weights(values, batch.n_rows)
        if self.weight is None or np.ndim(self.weight) == 0:
            return encoding.some_weights(self.weight, batch.n_rows)
        self._check_length("sample_weight", self.weight, stop, whole=False)
        return encoding.some_weights(self.weight[start:stop], batch.n_rows)

    @staticmethod
    def _check_length(what: str, values: Any, n_rows: int, *, whole: bool = True) -> None:
        """One value a row: as many as all rows, or at least as many as were read."""
        if values is None or np.ndim(values) == 0:
            return
        if len(values) < n_rows or (whole and len(values) != n_rows):
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{'' if whole else 'at least '}{n_rows} rows, {what} has {len(values)}.",
                hint=f"give one value of {what} a row",
            )


def _emptied(batches: list[Batch]) -> Iterator[Batch]:
    """The batches in order; none is held on to."""
    batches.reverse()
    while batches:
        yield batches.pop()
