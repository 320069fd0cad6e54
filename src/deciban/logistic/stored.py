"""Logistic regression in a file: the model, and what an estimator needs to go on learning.

Files written before columns were summarised have none of its arrays; such a model answers as
ever, measures its reasons from x = 0 and has no curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ModelFileError
from deciban.files import Stored, document
from deciban.files.arrays import ArrayReader, left_out_from, left_out_to
from deciban.files.description import LogisticEntry
from deciban.files.model import plain_parameters, restored_parameters, units_from
from deciban.labels import Array
from deciban.logistic.columns import ColumnSummary
from deciban.logistic.model import LogisticModel
from deciban.plain import Plain, plain
from deciban.sources.unit_sample import TrainingUnits

KIND = "LogisticRegression"
FloatArray = NDArray[np.float64]

#: The arrays of the summary of columns, by its fields.
_COLUMNS = {
    "weight": "class_weights",
    "mean": "column_means",
    "deviation": "column_deviations",
    "values": "column_values",
}


@dataclass(frozen=True, eq=False)
class Training:
    """How a model was fitted.

    ``parameters`` are those of the estimator, ``n_iter`` the iterations of each problem that was
    solved, ``posteriors`` the centre and precision of each, if they are known. ``penalty`` is the
    one that the rows chose, None where it was stated. ``units`` are the groups or times of the
    rows, if they had any.
    """

    parameters: Mapping[str, Plain]
    n_iter: NDArray[np.integer[Any]]
    posteriors: tuple[tuple[FloatArray, FloatArray], ...] = ()
    penalty: float | None = None
    units: TrainingUnits | None = None


def to_stored(model: LogisticModel, training: Training) -> Stored:
    """The model and its training as a file holds them."""
    parameters = plain(plain_parameters(dict(training.parameters)), strict=True)
    labels = {"classes": model.classes}
    if model.feature_names is not None:
        labels["columns"] = model.feature_names
    arrays: dict[str, Array] = {
        "coef": model.coef,
        "intercept": model.intercept,
        "iterations": training.n_iter,
    }
    if model.columns is not None:
        arrays |= {array: getattr(model.columns, name) for name, array in _COLUMNS.items()}
    if model.bounds is not None:
        arrays["bounds"] = model.bounds
    if training.penalty is not None:
        arrays["penalty"] = np.array([training.penalty])
    for i, (centre, precision) in enumerate(training.posteriors):
        arrays |= {f"centre{i}": centre, f"precision{i}": precision}
    arrays |= left_out_to(model.left_out, model.classes)
    description = {"parameters": parameters, "posteriors": len(training.posteriors)}
    return Stored(KIND, None, description, labels, arrays)


def from_stored(stored: Stored) -> LogisticModel:
    """The model of a file, checked."""
    return read(stored)[0]


def read(stored: Stored) -> tuple[LogisticModel, Training]:
    """The model of a file and its training, checked; the names of parameters are not."""
    if stored.kind != KIND or stored.counts is not None:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND} without counts.")
    about = document.read(stored.description, LogisticEntry)
    for name in stored.labels:
        if name not in ("classes", "columns"):
            raise ModelFileError(f"labels {name!r} belong to nothing.")
    parameters, arrays = about.parameters, ArrayReader(stored.arrays)
    model = _read_model(stored, arrays, parameters)
    n_problems = len(model.coef) if _one_vs_rest(parameters) else 1
    (n_counted,) = arrays.shape("iterations", 1)
    n_iter = arrays.whole("iterations", (n_problems if n_counted > 1 else 1,), 0, 1 << 53)
    intercept = bool(parameters.get("fit_intercept"))
    posteriors = _read_posteriors(about.posteriors, arrays, model, intercept)
    model = model.with_left_out(left_out_from(arrays, model.classes))
    penalty = float(arrays.floats("penalty", (1,), least=0.0)[0]) if "penalty" in arrays else None
    arrays.done()
    units = units_from(about.units)
    return model, Training(restored_parameters(parameters), n_iter, posteriors, penalty, units)


def _read_model(
    stored: Stored, arrays: ArrayReader, parameters: Mapping[str, Plain]
) -> LogisticModel:
    classes, names = stored.labels.get("classes"), stored.labels.get("columns")
    if classes is None or len(classes) < 2:
        raise ModelFileError("at least two classes are needed.")
    n_logits = 1 if len(classes) == 2 else len(classes)
    _, n_columns = arrays.shape("coef", 2)
    if names is not None and len(names) != n_columns:
        raise ModelFileError(f"there are not as many names as columns: {n_columns}.")
    return LogisticModel(
        classes,
        arrays.floats("coef", (n_logits, n_columns)),
        arrays.floats("intercept", (n_logits,)),
        _one_vs_rest(parameters) and len(classes) > 2,
        None if names is None else np.asarray(names, dtype=object),
        _read_columns(arrays, len(classes), n_columns),
        bounds=_read_bounds(arrays, n_columns),
    )


def _read_bounds(arrays: ArrayReader, n_columns: int) -> FloatArray | None:
    """The range of every column, which zero is in; None where none is kept."""
    if "bounds" not in arrays:
        return None
    bounds = arrays.floats("bounds", (2, n_columns))
    if (bounds[0] > 0).any() or (bounds[1] < 0).any():
        raise ModelFileError("the bounds of a column leave zero out.")
    return bounds


def _read_columns(arrays: ArrayReader, n_classes: int, n_columns: int) -> ColumnSummary | None:
    """The summary of the columns; None where the file has nothing of it."""
    if not any(name in arrays for name in _COLUMNS.values()):
        return None
    table, n_values = (n_classes, n_columns), max(1, arrays.shape(_COLUMNS["values"], 2)[0])
    summary = ColumnSummary(
        arrays.floats(_COLUMNS["weight"], (n_classes,), least=0.0),
        arrays.floats(_COLUMNS["mean"], table),
        arrays.floats(_COLUMNS["deviation"], table, least=0.0),
        arrays.floats(_COLUMNS["values"], (n_values, n_columns)),
    )
    if not summary.weight.any() or np.any(np.diff(summary.values, axis=0) < 0):
        raise ModelFileError("the columns have no weight, or values that fall.")
    return summary


def _one_vs_rest(parameters: Mapping[str, Plain]) -> bool:
    stated = parameters.get("multi_class", "softmax")
    if stated not in ("softmax", "ovr"):
        raise ModelFileError(f"multi_class must be 'softmax' or 'ovr', got {stated!r}.")
    return bool(stated == "ovr")


def _read_posteriors(
    n: int, arrays: ArrayReader, model: LogisticModel, intercept: bool
) -> tuple[tuple[FloatArray, FloatArray], ...]:
    """Of each problem a centre, and a precision of its shape or a matrix of its size."""
    n_logits, n_columns = model.coef.shape
    if n not in (0, 1, n_logits):
        raise ModelFileError(f"there cannot be {n} posteriors of {n_logits} scores.")
    shape = (n_columns + intercept, n_logits // max(n, 1))
    matrix = (shape[0] * shape[1],) * 2
    posteriors = []
    for i in range(n):
        full = arrays.shape(f"precision{i}", 2) == matrix != shape
        centre = arrays.floats(f"centre{i}", shape)
        precision = arrays.floats(f"precision{i}", matrix if full else shape)
        if np.any((np.diagonal(precision) if full else precision) < 0):
            raise ModelFileError("a precision is below zero.")
        posteriors.append((centre, precision))
    return tuple(posteriors)
