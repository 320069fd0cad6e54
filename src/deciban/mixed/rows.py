"""Rows for learning and scoring: batches in the schema's columns, with labels and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from deciban import encoding, labels, schema, source, tabular
from deciban.counts import Counts
from deciban.engines import threads
from deciban.errors import InputError, MissingValueError, ShapeError
from deciban.mixed.counting import count
from deciban.schema import SAMPLE, Schema
from deciban.source import naming
from deciban.source.columns import Batch, taken

FloatArray = NDArray[np.float64]
Labelled = tuple[Batch, NDArray[Any], FloatArray | None]


@dataclass
class Rows:
    """A table that can be read, once or again: its schema, labels and weights.

    ``n_rows`` is known when it has been read.
    """

    table: source.Scan
    schema: Schema
    y: NDArray[Any] | None
    target: str | None
    weight: Any
    named: bool
    n_rows: int = 0
    _first: list[Batch] = field(default_factory=list)
    _rest: Iterator[Batch] | None = None

    def _whole(self) -> Iterator[Batch]:
        """The batches with all their columns; what was read to infer kinds is not read again."""
        first, rest = self._first, self._rest
        self._first, self._rest = [], None
        return chain(first, rest) if rest is not None else iter(self.table)

    def batches(self) -> Iterator[Batch]:
        """The columns of the schema, by name."""
        for batch in self._whole():
            yield self._columns(batch)

    def labelled(self) -> Iterator[Labelled]:
        """The same with the labels and weights of the rows."""
        start = 0
        for batch in self._whole():
            stop = start + batch.n_rows
            y = self._labels(batch, start, stop)
            yield self._columns(batch), y, self._weights(batch, start, stop)
            start = stop
        self.n_rows = start
        if self.y is not None and len(self.y) != start:
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: X has {start} rows, "
                f"y has {len(self.y)}.",
                hint="give one label a row",
            )

    def coded(
        self, classes: labels.Labels, stride: int = 1
    ) -> Iterator[tuple[Batch, NDArray[np.intp], FloatArray]]:
        """Rows with the codes of known classes, and weights; only every ``stride``-th row."""
        seen = 0
        for batch, y, weight in self.labelled():
            some = np.arange(-seen % stride, batch.n_rows, stride)
            seen += batch.n_rows
            full = np.ones(batch.n_rows) if weight is None else weight
            if len(some):
                part = batch if stride == 1 else _taken(batch, some)
                yield part, encoding.codes_of(y[some], classes), full[some]

    def remember(self, estimator: Any) -> None:
        """What scikit-learn's users expect to find after fitting."""
        estimator.n_features_in_ = len(self.schema.names)
        estimator.target_ = self.target
        if self.named:
            estimator.feature_names_in_ = labels.objects(self.schema.names)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def _columns(self, batch: Batch) -> Batch:
        return Batch(batch.n_rows, {name: batch.columns[name] for name in self.schema.names})

    def _labels(self, batch: Batch, start: int, stop: int) -> NDArray[Any]:
        if self.target is not None:
            return tabular.target(batch.columns[self.target])
        if self.y is None:
            raise MissingValueError(
                "there are no labels: the target y is None.", hint="pass y, or target='column'"
            )
        return self.y[start:stop]

    def _weights(self, batch: Batch, start: int, stop: int) -> FloatArray | None:
        if self.weight is None:
            return None
        if isinstance(self.weight, str):
            return encoding.weights(tabular.target(batch.columns[self.weight]), batch.n_rows)
        return np.asarray(self.weight[start:stop])


def learn(rows: Rows, schema: Schema) -> Counts:
    """The counts of all rows: batches counted by all cores, added up in order."""

    def work(part: Labelled) -> Counts:
        batch, y, weight = part
        labelled = encoding.class_codes(y)
        return count(schema, batch, labelled.codes, labelled.classes, weight)

    total: Counts | None = None
    for part in threads.run(work, rows.labelled()):
        total = part if total is None else total + part
    if total is None or not len(total.classes):
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    if not total.weight.any():
        raise InputError("the total weight is zero.", hint="some row must count")
    return total


def gather(
    estimator: Any,
    X: Any,
    y: Any,
    target: str | None,
    sql: str | None,
    weight: Any,
    *,
    kinds: Mapping[str, str] | None = None,
    schema: Schema | None = None,
) -> Rows:
    """The rows of whatever was passed; without a schema, it is inferred."""
    named = sql is not None or not _is_matrix(X)
    table = source.scan(X, sql=sql) if named else _matrix(estimator, X, reset=schema is None)
    labelled = None if y is None else _vector(y)
    if target is not None:
        table.require(target)
    if isinstance(weight, str):
        table.require(weight)
    elif weight is not None and labelled is not None:
        weight = encoding.weights(weight, len(labelled))
    rows = Rows(table, schema or Schema(()), labelled, target, weight, named)
    if schema is None:
        _infer(rows, kinds)
    else:
        _check_names(estimator, rows)
    return rows


def _vector(y: Any) -> NDArray[Any]:
    try:
        return encoding.vector(column_or_1d(y, warn=True))
    except ValueError as error:
        raise ShapeError(str(error), hint="give one label a row") from None


def _is_matrix(X: Any) -> bool:
    """Whether it is an array, or what becomes one: not a frame, file, dict or list of dicts."""
    if isinstance(X, list | tuple):
        return not (X and isinstance(X[0], Mapping)) and not any(_is_frame(x) for x in X[:1])
    return not (
        _is_frame(X) or isinstance(X, str) or hasattr(X, "__fspath__") or hasattr(X, "__next__")
    )


def _is_frame(X: Any) -> bool:
    return isinstance(X, Mapping | source.Scan) or any(
        hasattr(X, name) for name in ("columns", "__arrow_c_stream__", "collect_batches")
    )


def _matrix(estimator: Any, X: Any, *, reset: bool) -> source.Scan:
    """A matrix of numbers or objects, checked; its columns are x0, x1, ..."""
    texts = isinstance(X, list | tuple) and any(
        isinstance(value, str) for row in X[:100] if isinstance(row, list | tuple) for value in row
    )
    if texts:
        X = np.array(X, dtype=object)
    try:
        checked = validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
    except TypeError:
        raise
    except ValueError as error:
        kind = ShapeError if "sample" in str(error) or "feature" in str(error) else InputError
        raise kind(str(error), hint="give a row a line and a column a feature") from None
    if checked.dtype.kind == "O":
        return source.scan({f"x{j}": list(checked[:, j]) for j in range(checked.shape[1])})
    return source.scan(np.ascontiguousarray(checked))


def _infer(rows: Rows, kinds: Mapping[str, str] | None) -> None:
    """Read enough rows to say what the columns are."""
    rest = iter(rows.table)
    first: list[Batch] = []
    for batch in rest:
        first.append(batch)
        if sum(b.n_rows for b in first) >= SAMPLE:
            break
    if not first:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    drop = {rows.target, rows.weight if isinstance(rows.weight, str) else None}
    keep = [name for name in rows.table.names if name not in drop]
    sample = _head([Batch(b.n_rows, {n: b.columns[n] for n in keep}) for b in first])
    rows.schema = schema.infer(sample, kinds)
    rows._first, rows._rest = first, rest


def _head(batches: list[Batch]) -> list[Batch]:
    """The first rows, as many as kinds are inferred from: batches do not matter."""
    left, out = SAMPLE, []
    for batch in batches:
        rows = np.arange(min(left, batch.n_rows))
        out.append(batch if len(rows) == batch.n_rows else _taken(batch, rows))
        left -= len(rows)
        if left <= 0:
            break
    return out


def _taken(batch: Batch, rows: NDArray[np.intp]) -> Batch:
    return Batch(len(rows), {name: taken(c, rows) for name, c in batch.columns.items()})


def _check_names(estimator: Any, rows: Rows) -> None:
    """Columns are found by name; one too few or too many is an error."""
    wanted, found = rows.schema.names, rows.table.names
    for name in wanted:
        if name not in found:
            raise naming.unknown(name, found)
    known = {*wanted, rows.target, getattr(estimator, "target_", None)}
    if isinstance(rows.weight, str):
        known.add(rows.weight)
    extra = [name for name in found if name not in known]
    if extra:
        raise ShapeError(
            f"column {extra[0]!r} was not there in training; X has {len(found)} features, but "
            f"{type(estimator).__name__} is expecting {len(wanted)} features as input.",
            hint="leave it out",
        )
