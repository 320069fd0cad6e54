"""Labelled rows: a scan in the columns of a schema, with the class and the weight of every row.

Conventions
-----------
classes : labels in order, each once.
codes : the position of each row's class among ``classes``; rows without a label have none.
weight : one finite number >= 0 a row; without weights, every row counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban import encoding, labels
from deciban import schema as schemas
from deciban.encoding import Labelled, matrices
from deciban.encoding.casting import cast_labels
from deciban.encoding.class_limit import NumberClasses
from deciban.encoding.matrices import Caster
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen
from deciban.errors import MissingValueError, ParameterError, ShapeError
from deciban.kernels.texts import utf8
from deciban.labels import Array, Labels
from deciban.schema import INFERENCE_ROWS, Schema
from deciban.sources import column_names
from deciban.sources.batch import Batch, LabelledBatch
from deciban.sources.columns import Strings
from deciban.sources.duckdb import DuckDBScan
from deciban.sources.open import scan_features
from deciban.sources.scan import BatchScan, Scan, hold, peek
from deciban.sources.spark import SparkScan
from deciban.sources.tabular import Row, Tabular
from deciban.sources.units import UnitSource

__all__ = ["LabelledBatch", "LabelledScan", "few_texts", "labelled_scan"]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]

#: No more texts than this are scored by the shortest way.
FEW_TEXTS = 100
#: Rows a batch where few columns are read: adding up the counts of batches costs time too.
NARROW_BATCH_ROWS = 1 << 18


@dataclass
class LabelledScan:
    """A scan with its schema, labels and weights.

    Labels are ``labels`` or the column ``target``; weights are an array, or the name
    of a column. ``named`` says whether the columns had names. Labels that are written like one
    of the ``classes`` of a fitted model are that class. ``n_rows`` is known when
    all labelled batches have been read. Rows without a label are an error, unless there
    is a list ``unlabelled`` where they are put, each with the code 0; so are all rows if there
    are no labels at all. No more than ``max_classes`` different numbers may be labels; ``limit``
    has those that were met.

    Columns are cast to the types of training: a value that cannot be is an error where rows
    have labels, and missing where they have none and are scored. Whoever scores them says in
    ``unseen`` what training did not have.
    """

    scan: Scan
    schema: Schema
    labels: Labelled | None
    target: str | None
    weight: str | Array | None
    named: bool
    caster: Caster
    classes: Labels | None = None
    n_rows: int = 0
    unlabelled: list[LabelledBatch] | None = None
    max_classes: int | None = None
    limit: NumberClasses | None = None
    unseen: Unseen = field(default_factory=lambda: NOTHING_UNSEEN)
    units: UnitSource | None = None

    def batches(self) -> Iterator[Batch]:
        """The columns of the schema, by name."""
        return map(self._cast, self.scan)

    def labelled_batches(self) -> Iterator[LabelledBatch]:
        """The columns of the schema, with the labels and weights of the rows."""
        start = 0
        for batch in self.scan:
            stop = start + batch.n_rows
            labelled = self._labels(batch, start, stop)
            self._limit_numbers(labelled.classes)
            if self.classes is not None:
                labelled = cast_labels(labelled, self.classes)
            weight = self._weights(batch, start, stop)
            columns = self._cast(batch, strict=True)
            units = None if self.units is None else self.units.of_rows(batch, start, stop)
            rows = LabelledBatch(columns, labelled.classes, labelled.codes, weight, units)
            yield self._drop_unlabelled(rows, start)
            start = stop
        self.n_rows = start
        self._check_length("y", None if self.labels is None else self.labels.codes, start)
        self._check_length("sample_weight", self.weight, start)
        if self.units is not None:
            self.units.check_length(start)

    def _limit_numbers(self, classes: Labels) -> None:
        """Refuse numbers as labels where they are too many."""
        if self.limit is None and self.max_classes is not None and classes.dtype.kind in "iuf":
            self.limit = NumberClasses(self.max_classes)
        if self.limit is not None:
            self.limit.add(classes)

    def select(
        self, columns: Iterable[str], known: Mapping[str, Sequence[str]] | None = None
    ) -> LabelledScan:
        """Only some columns of a table that DuckDB has: the others are not read.

        Of columns that have ``known`` texts, other texts are missing.
        """
        scan, names = self._duckdb(), set(columns)
        schema = Schema(tuple(c for c in self.schema.columns if c.name in names))
        some = tuple(name for name in scan.names if name in {*schema.names, self.target})
        read = partial(scan.columns, some, NARROW_BATCH_ROWS, known)
        caster = replace(self.caster, schema=schema)
        return replace(self, scan=BatchScan(some, read, "file"), schema=schema, caster=caster)

    def _duckdb(self) -> DuckDBScan:
        if not isinstance(self.scan, DuckDBScan):
            raise TypeError("parts can be asked only of a table that DuckDB has")
        return self.scan

    def _cast(self, batch: Batch, *, strict: bool = False) -> Batch:
        """The columns of the schema alone, in its types; one that is not there is missing."""
        names = self.schema.names
        if self.scan.names != names:
            batch = batch.select([name for name in names if name in batch.columns])
        return self.caster.cast(batch, strict=strict)

    def _labels(self, batch: Batch, start: int, stop: int) -> Labelled:
        if self.target is not None:
            return matrices.column_classes(batch.columns[self.target])
        if self.labels is None and self.unlabelled is not None:
            return Labelled(np.empty(0, dtype=object), np.full(batch.n_rows, -1, dtype=np.intp))
        if self.labels is None:
            raise MissingValueError(
                "there are no labels: requires y to be passed, but the target y is None.",
                hint="pass y, or target='column'",
            )
        self._check_length("y", self.labels.codes, stop, whole=False)
        return Labelled(self.labels.classes, self.labels.codes[start:stop])

    def _drop_unlabelled(self, rows: LabelledBatch, start: int) -> LabelledBatch:
        """The rows that have a label; the others are put aside, or refused."""
        missing = np.flatnonzero(rows.codes < 0)
        if len(missing):
            if self.unlabelled is None:
                raise self._missing_label(start + int(missing[0]))
            self._put_aside(rows.take(missing))
            rows = rows.take(np.flatnonzero(rows.codes >= 0))
        of_column = self.target is not None and self.classes is None
        return rows if of_column and not len(missing) else rows.drop_unused_classes()

    def _missing_label(self, row: int) -> MissingValueError:
        what = (
            f"Input y contains NaN or None: it has no value in row {row}."
            if self.target is None
            else f"the target {self.target!r} has no value in row {row}."
        )
        return MissingValueError(
            what, hint="leave unlabelled rows out; only NaiveBayes.fit learns from them"
        )

    def _put_aside(self, rows: LabelledBatch) -> None:
        none = np.zeros(rows.n_rows, dtype=np.intp)
        some = LabelledBatch(rows.batch, np.arange(1), none, rows.weight).drop_zero_weights()
        if self.unlabelled is not None and some.n_rows:
            self.unlabelled.append(some)

    def _weights(self, batch: Batch, start: int, stop: int) -> FloatArray | None:
        weight = self.weight
        if weight is None:
            return None
        if isinstance(weight, str):
            column = batch.columns[weight].tolist()
            values = [np.nan if value is None else value for value in column]
            return encoding.batch_weights(values, batch.n_rows)
        if weight.ndim:
            self._check_length("sample_weight", weight, stop, whole=False)
            weight = weight[start:stop]
        return encoding.batch_weights(weight, batch.n_rows)

    @staticmethod
    def _check_length(
        what: str, values: str | Array | None, n_rows: int, *, whole: bool = True
    ) -> None:
        """One value a row: as many as all rows, or at least as many as were read."""
        if not isinstance(values, np.ndarray) or not values.ndim:
            return
        if len(values) < n_rows or (whole and len(values) != n_rows):
            raise ShapeError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{'' if whole else 'at least '}{n_rows} rows, {what} has {len(values)}.",
                hint=f"give one value of {what} a row",
            )


# ---------------------------------------------------------------------- what a model is given


def labelled_scan(
    X: Tabular,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    sql: str | None = None,
    weight: str | ArrayLike | None = None,
    units: UnitSource | None = None,
    caster: Caster | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    constants: Callable[[], Row] = dict,
    classes: Labels | None = None,
    named: bool = False,
    model: str = "the model",
    max_classes: int | None = None,
) -> LabelledScan:
    """The rows of whatever a model is given; see :mod:`deciban.sources`.

    Parameters
    ----------
    X
        Any table, a matrix without names, or a list of texts.
    y, target
        The labels, or the name of their column.
    sql
        A query, when X is a DuckDB connection.
    weight
        The weights of the rows, or the name of their column.
    units
        The groups or the times of the rows, see :mod:`deciban.sources.units`.
    caster
        That of a fitted model, with its schema; without one, the schema is inferred.
    kinds
        Kinds of columns that are not inferred.
    ignore
        Columns that may be there besides those of the schema: those of the labels and of the
        groups or times in training.
    constants
        What columns that need not be there hold in every row, asked for when one is not there.
    classes
        Those of a fitted model, to whose type labels are cast.
    named
        Whether the columns had names in training: a matrix is then warned about.
    model
        The name of the model, for messages.
    max_classes
        How many different numbers may be labels; without it, any number of them.

    >>> rows = labelled_scan({"x": ["S", "L", "S"], "y": [1, 2, 1]}, target="y")
    >>> [(rows.batch.tolist(), rows.codes.tolist()) for rows in rows.labelled_batches()]
    [([{'x': 'S'}, {'x': 'L'}, {'x': 'S'}], [0, 1, 0])]

    """
    if not (max_classes is None or (type(max_classes) is int and max_classes > 0)):
        NumberClasses(max_classes)  # says what is wrong with it
    names = None if caster is None else caster.schema.names
    types = None if caster is None else caster.field_types(target, classes)
    scan, form = scan_features(X, sql=sql, names=names, named=named, model=model, types=types)
    if target is not None and (y is not None or form == "matrix"):
        raise _two_labels(target, both=y is not None)
    column = None if units is None else units.beside
    beside = {name for name in (target, weight, column) if isinstance(name, str)}
    for name in beside:
        scan.require(name)
    if caster is not None:
        if not all(name in scan.names for name in caster.types):
            caster = replace(caster, absent=constants())
        _check_names(scan.names, caster, {*beside, *ignore}, model)
    else:
        if form == "texts":
            kinds = {**dict.fromkeys(scan.names, "text"), **(kinds or {})}
        scan, schema = _infer(scan, beside, kinds)
        caster = Caster(schema)
    array = weight if weight is None or isinstance(weight, str) else np.asarray(weight)
    rows = LabelledScan(
        scan, caster.schema, _class_codes(y), target, array, form != "matrix", caster, classes,
        max_classes=max_classes, units=units,
    )  # fmt: skip
    if units is not None and units.is_auto:  # copies may lie anywhere: all rows are read now
        from deciban.sources.copies import copy_keys

        rows.scan = hold(scan)
        rows.units = replace(units, keys=copy_keys(rows.schema, list(rows.batches())))
    return rows


def _two_labels(target: str, *, both: bool) -> ParameterError:
    return ParameterError(
        f"labels are in the column {target!r} or in y; got "
        f"{'both' if both else 'an array, whose columns have no names'}.",
        hint="pass y alone for arrays",
    )


def few_texts(X: Tabular, schema: Schema) -> Batch | None:
    """A few messages for a model of texts alone, by the shortest way; None for anything else."""
    if type(X) is not list or not 0 < len(X) <= FEW_TEXTS or len(schema.columns) != 1:
        return None
    (column,) = schema.columns
    if column.kind != "text" or not all(type(text) is str for text in X):
        return None
    return Batch(len(X), {column.name: Strings(*utf8(X))})


def _class_codes(y: Any) -> Labelled | None:
    """The labels of all rows, of which some may be missing."""
    if y is None:
        return None
    if isinstance(y, list | tuple) and str in map(type, y):
        # NumPy would write a missing label as the text "nan", and widen all to the longest.
        y = labels.object_array(y)
    values = encoding.label_vector(y)
    values = values.astype(object) if values.dtype.kind == "U" else values
    return encoding.class_codes(values, missing=True)


def _infer(scan: Scan, beside: set[str], kinds: Mapping[str, str] | None) -> tuple[Scan, Schema]:
    """The schema of the first rows, and the scan with these rows still to be read."""
    if not isinstance(kinds, Mapping | None):
        raise ParameterError(
            f"kinds must be a dict of kinds by column, got {kinds!r}.",
            hint="such as {'zip': 'categorical'}; other columns are inferred",
        )
    features = [name for name in scan.names if name not in beside]
    texts = kinds is not None and all(kinds.get(name) == "text" for name in features)
    if isinstance(scan, DuckDBScan | SparkScan):
        first = list(scan.head(INFERENCE_ROWS))
    else:
        first, scan = peek(scan, 1 if texts else INFERENCE_ROWS)
    if not first:
        raise ShapeError(
            "Found array with 0 sample(s): there are no rows.", hint="a table needs rows"
        )
    sample = [batch.select(features) for batch in _head(first)]
    formats = scan.formats() if isinstance(scan, BatchScan) else None
    return scan, schemas.infer(sample, kinds, formats)


def _head(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The first rows, as many as kinds are inferred from: batches do not matter."""
    left = INFERENCE_ROWS
    for batch in batches:
        yield batch if batch.n_rows <= left else batch.slice(0, left)
        left -= min(left, batch.n_rows)


def _check_names(names: Sequence[str], caster: Caster, others: set[str], model: str) -> None:
    """Columns are found by name; one that is used must be there, and no other than in training."""
    for name in caster.types:
        if name not in names and name not in caster.absent:
            raise column_names.unknown(name, names)
    needed = caster.schema.names
    extra = [name for name in names if name not in needed and name not in others]
    if extra:
        close = column_names.nearest(extra[0], needed)
        raise ShapeError(
            f"column {extra[0]!r} was not there in training; X has {len(names)} features, but "
            f"{model} is expecting {len(needed)} features as input.",
            hint="leave it out" if close is None else f"leave it out; the nearest is {close!r}",
        )
