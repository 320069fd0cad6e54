"""The rows of a report: read once, held in memory, as the model takes them and by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels, schema, sources
from deciban.errors import InputError, MissingValueError, ParameterError
from deciban.evaluation.classifier import Classifier
from deciban.explanation.rows import features, frame
from deciban.labels import Labels
from deciban.schema import Schema
from deciban.sources.columns import Batch, joined, taken
from deciban.tabular import numbers


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The model's columns, what each of them is, and the class of every row."""

    batch: Batch
    schema: Schema
    labels: Labels
    X: Any
    others: tuple[str, ...] = ()

    def select(self, model: Classifier, at: NDArray[np.intp]) -> LabelledRows:
        """Only some rows, as the model takes them."""
        columns = {name: taken(column, at) for name, column in self.batch.columns.items()}
        batch = Batch(len(at), columns)
        values = _as_model_input(model, batch)
        return LabelledRows(batch, self.schema, self.labels[at], values, self.others)

    def row(self, i: int) -> dict[str, Any]:
        """The values of one row."""
        at = np.array([i])
        return {name: taken(column, at).tolist()[0] for name, column in self.batch.columns.items()}


def read_rows(model: Classifier, X: Any, y: Any = None, target: str | None = None) -> LabelledRows:
    """The labelled rows of any table; labels are ``y`` or the column ``target``."""
    names = features(model)
    table = _scan(model, X, names)
    label = None if y is not None else target or getattr(model, "target_", None)
    if y is None and label is None:
        raise MissingValueError(
            "there are no labels: neither y nor the name of their column.",
            hint="pass y, or target='column'",
        )
    if y is not None and target is not None:
        raise ParameterError(
            f"labels are in y or in the column {target!r}; got both.", hint="pass one of them"
        )
    needed = [*names, *([] if label is None else [label])]
    for name in needed:
        table.require(name)
    parts = [batch for batch in table if batch.n_rows]
    if not parts:
        raise InputError("there are no rows.", hint="give a table with labelled rows")
    whole = {name: joined([part.columns[name] for part in parts]) for name in needed}
    truth = whole[label].tolist() if label is not None else list(y)
    batch = Batch(sum(p.n_rows for p in parts), {name: whole[name] for name in names})
    others = tuple(name for name in table.names if name not in needed)
    values = _as_model_input(model, batch)
    return LabelledRows(batch, _schema(model, batch), labels.objects(truth), values, others)


def _scan(model: Classifier, X: Any, names: Sequence[str]) -> sources.Scan:
    """The table; the columns of a plain matrix are the model's, in order."""
    matrix = isinstance(X, np.ndarray) or (isinstance(X, list) and X and isinstance(X[0], list))
    if not matrix or hasattr(model, "schema_"):
        return sources.scan(X)
    values = np.asarray(X)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InputError(
            f"X has the shape {values.shape}, the model {len(names)} features.",
            hint="one column for each feature",
        )
    return sources.scan(dict(zip(names, values.T, strict=True)))


def _schema(model: Classifier, batch: Batch) -> Schema:
    if hasattr(model, "schema_"):
        known: Schema = model.schema_
        return known
    return schema.infer([batch], dict.fromkeys(batch.columns, "numeric"))


def _as_model_input(model: Classifier, batch: Batch) -> Any:
    """The rows as the model takes them: a table, or a matrix of numbers."""
    if hasattr(model, "schema_"):
        return sources.Scan(tuple(batch.columns), lambda: iter([batch]))
    matrix = numbers(_schema(model, batch), batch)
    if not hasattr(model, "feature_names_in_"):
        return matrix
    return frame(matrix, list(batch.columns))
