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
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.logistic.columns import ColumnSummary
from deciban.logistic.model import LogisticModel

KIND = "LogisticRegression"
FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

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
    solved, ``posteriors`` the centre and precision of each, if they are known.
    """

    parameters: Mapping[str, Any]
    n_iter: NDArray[np.integer[Any]]
    posteriors: tuple[tuple[FloatArray, FloatArray], ...] = ()


def to_stored(model: LogisticModel, training: Training) -> Stored:
    """The model and its training as a file holds them."""
    parameters = {name: _plain(value) for name, value in training.parameters.items()}
    weights = training.parameters.get("class_weight")
    if isinstance(weights, dict):
        parameters["class_weight"] = [[_plain(k), _plain(v)] for k, v in weights.items()]
    labels = {"classes": model.classes}
    if model.feature_names is not None:
        labels["columns"] = model.feature_names
    arrays = {"coef": model.coef, "intercept": model.intercept, "iterations": training.n_iter}
    if model.columns is not None:
        arrays |= {array: getattr(model.columns, name) for name, array in _COLUMNS.items()}
    for i, (centre, precision) in enumerate(training.posteriors):
        arrays |= {f"centre{i}": centre, f"precision{i}": precision}
    description = {"parameters": parameters, "posteriors": len(training.posteriors)}
    return Stored(KIND, None, description, labels, arrays)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def from_stored(stored: Stored) -> LogisticModel:
    """The model of a file, checked."""
    return read(stored)[0]


def read(stored: Stored) -> tuple[LogisticModel, Training]:
    """The model of a file and its training, checked; the names of parameters are not."""
    if stored.kind != KIND or stored.counts is not None:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND} without counts.")
    check_keys(stored.description, "parameters", "posteriors")
    for name in stored.labels:
        if name not in ("classes", "columns"):
            raise ModelFileError(f"labels {name!r} belong to nothing.")
    parameters = field(stored.description, "parameters", dict)
    arrays = dict(stored.arrays)
    model = _read_model(stored, arrays, parameters)
    n_iter = _read_iterations(arrays, len(model.coef) if _one_vs_rest(parameters) else 1)
    intercept = bool(parameters.get("fit_intercept"))
    posteriors = _read_posteriors(stored, arrays, model, intercept)
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    return model, Training(_with_class_weights(parameters), n_iter, posteriors)


def _read_model(stored: Stored, arrays: Arrays, parameters: Mapping[str, Any]) -> LogisticModel:
    classes, names = stored.labels.get("classes"), stored.labels.get("columns")
    if classes is None or len(classes) < 2:
        raise ModelFileError("at least two classes are needed.")
    n_logits = 1 if len(classes) == 2 else len(classes)
    coef = arrays.pop("coef", None)
    n_columns = coef.shape[1] if coef is not None and coef.ndim == 2 else 0
    if names is not None and len(names) != n_columns:
        raise ModelFileError(f"there are not as many names as columns: {n_columns}.")
    return LogisticModel(
        classes,
        _check_floats("coef", coef, (n_logits, n_columns)),
        _check_floats("intercept", arrays.pop("intercept", None), (n_logits,)),
        _one_vs_rest(parameters) and len(classes) > 2,
        None if names is None else np.asarray(names, dtype=object),
        _read_columns(arrays, len(classes), n_columns),
    )


def _read_columns(arrays: Arrays, n_classes: int, n_columns: int) -> ColumnSummary | None:
    """The summary of the columns; None where the file has nothing of it."""
    parts = {name: arrays.pop(array, None) for name, array in _COLUMNS.items()}
    if all(part is None for part in parts.values()):
        return None
    values, table = parts["values"], (n_classes, n_columns)
    n_values = len(values) if values is not None and values.ndim == 2 else 0
    shapes = (n_classes,), table, table, (max(1, n_values), n_columns)
    summary = ColumnSummary(
        *(_check_floats(_COLUMNS[n], parts[n], s) for n, s in zip(parts, shapes, strict=True))
    )
    if np.any(summary.weight < 0) or not summary.weight.any() or np.any(summary.deviation < 0):
        raise ModelFileError("a weight or a deviation of the columns is below zero.")
    if np.any(np.diff(summary.values, axis=0) < 0):
        raise ModelFileError("the values of a column must not fall.")
    return summary


def _one_vs_rest(parameters: Mapping[str, Any]) -> bool:
    stated = parameters.get("multi_class", "softmax")
    if stated not in ("softmax", "ovr"):
        raise ModelFileError(f"multi_class must be 'softmax' or 'ovr', got {stated!r}.")
    return bool(stated == "ovr")


def _read_iterations(arrays: Arrays, n_problems: int) -> NDArray[np.integer[Any]]:
    n_iter = arrays.pop("iterations", None)
    if n_iter is None or n_iter.dtype.kind != "i" or n_iter.shape not in ((n_problems,), (1,)):
        raise ModelFileError("the numbers of iterations must be whole, one for each problem.")
    return n_iter


def _read_posteriors(
    stored: Stored, arrays: Arrays, model: LogisticModel, intercept: bool
) -> tuple[tuple[FloatArray, FloatArray], ...]:
    n = field(stored.description, "posteriors", int)
    n_logits, n_columns = model.coef.shape
    if n not in (0, 1, n_logits):
        raise ModelFileError(f"there cannot be {n} posteriors of {n_logits} scores.")
    shape = (n_columns + intercept, n_logits // max(n, 1))
    return tuple(_read_posterior(arrays, i, shape) for i in range(n))


def _read_posterior(
    arrays: Arrays, i: int, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """A centre of that shape, and a precision of the same shape or a matrix of its size."""
    size = shape[0] * shape[1]
    centre = _check_floats(f"centre{i}", arrays.pop(f"centre{i}", None), shape)
    precision = arrays.pop(f"precision{i}", None)
    full = precision is not None and precision.shape == (size, size) != shape
    precision = _check_floats(f"precision{i}", precision, (size, size) if full else shape)
    if np.any((np.diagonal(precision) if full else precision) < 0):
        raise ModelFileError("a precision is below zero.")
    return centre, precision


def _with_class_weights(parameters: dict[str, Any]) -> dict[str, Any]:
    """Weights of classes as a dict, as estimators take them."""
    pairs = parameters.get("class_weight")
    if not isinstance(pairs, list):
        return parameters
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ModelFileError("class_weight must be pairs of a class and its weight.")
    return parameters | {"class_weight": dict(pairs)}


def _check_floats(name: str, array: NDArray[Any] | None, shape: tuple[int, ...]) -> FloatArray:
    """Finite floats of that shape."""
    if array is None or array.dtype != np.float64 or array.shape != shape:
        raise ModelFileError(f"{name} must be floats of shape {shape}.")
    if not np.all(np.isfinite(array)):
        raise ModelFileError(f"{name} has a number that is not finite.")
    return np.ascontiguousarray(array)
