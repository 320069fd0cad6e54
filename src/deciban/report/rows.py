"""The rows of a report: read once, held in memory, as the model takes them and by column."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from deciban import labels, schema, sources
from deciban.encoding.matrices import Caster, numbers
from deciban.encoding.unseen import Unseen, unseen_values
from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.evaluation.classifier import (
    Classifier,
    HasFeatureNames,
    HasSchema,
    feature_names,
    target_of,
)
from deciban.explanation import Explainable
from deciban.labels import Labels
from deciban.models.columns import constant_values, required_columns
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.frames import named_frame
from deciban.sources.matrix import scan_named
from deciban.sources.scan import Scan, scan_batches
from deciban.sources.tabular import Tabular, Value


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The model's columns, what each of them is, and the class of every row."""

    batch: Batch
    schema: Schema
    labels: Labels
    X: Tabular
    others: tuple[str, ...] = ()
    unseen: Unseen = field(default_factory=Unseen)

    def select(self, model: Classifier, at: NDArray[np.intp]) -> LabelledRows:
        """Only some rows, as the model takes them."""
        batch = self.batch.take(at)
        values = _as_model_input(model, batch)
        return replace(self, batch=batch, labels=self.labels[at], X=values)

    def row(self, i: int) -> dict[str, Value]:
        """The values of one row."""
        return self.batch.slice(i, i + 1).tolist()[0]


def read_rows(
    model: Classifier, X: Tabular, y: Iterable[Hashable] | None = None, target: str | None = None
) -> LabelledRows:
    """The labelled rows of any table; labels are ``y`` or the column ``target``."""
    names = feature_names(model)
    table = _scan(model, X, names)
    label = None if y is not None else target or target_of(model)
    if y is None and label is None:
        raise MissingValueError(
            "there are no labels: neither y nor the name of their column.",
            hint="pass y, or target='column'",
        )
    if y is not None and target is not None:
        raise ParameterError(
            f"labels are in y or in the column {target!r}; got both.", hint="pass one of them"
        )
    if label is not None:
        table.require(label)
    parts = [batch for batch in table if batch.n_rows]
    if not parts:
        raise InputError("there are no rows.", hint="give a table with labelled rows")
    columns, unseen = _cast(model, table, parts, names)
    truth = list(() if y is None else y)
    if label is not None:
        truth = [value for part in parts for value in part.columns[label].tolist()]
    batch = Batch.concatenate(columns)
    others = tuple(name for name in table.names if name not in {*names, label})
    values = _as_model_input(model, batch)
    return LabelledRows(
        batch, _schema(model, batch), labels.object_array(truth), values, others, unseen
    )


def _cast(
    model: Classifier, table: Scan, parts: Sequence[Batch], names: Sequence[str]
) -> tuple[list[Batch], Unseen]:
    """The model's columns in the types of training, and what training did not have."""
    if not (isinstance(model, HasSchema) and isinstance(model, Explainable)):
        first = parts[0].select([table.require(name) for name in names])
        caster = Caster(_schema(model, first))
        return [caster.cast(part.select(names), strict=True) for part in parts], Unseen()
    inside, unseen = model.model_, Unseen()
    for name in required_columns(inside):
        table.require(name)
    caster = replace(inside.caster, absent=constant_values(inside))
    columns = [caster.cast(part).select(names) for part in parts]
    for part in columns:
        unseen += unseen_values(inside.schema, part, inside.unseen_rows(part))
    return columns, unseen


def _scan(model: Classifier, X: Tabular, names: Sequence[str]) -> Scan:
    """The table; the columns of a plain matrix are the model's, in order."""
    if isinstance(model, HasSchema):
        return sources.scan(X, types=model.schema_.field_types)
    matrix = scan_named(X, names)
    return sources.scan(X) if matrix is None else matrix


def _schema(model: Classifier, batch: Batch) -> Schema:
    if isinstance(model, HasSchema):
        return model.schema_
    return schema.infer([batch], dict.fromkeys(batch.columns, "numeric"))


def _as_model_input(model: Classifier, batch: Batch) -> Tabular:
    """The rows as the model takes them: a table, or a matrix of numbers."""
    if isinstance(model, HasSchema):
        return scan_batches(batch.columns, [batch])
    matrix = numbers(_schema(model, batch), batch)
    if not isinstance(model, HasFeatureNames):
        return matrix
    return named_frame(matrix, list(batch.columns))
