"""LogisticRegression in a file: its settings, coefficients and, of a stream, the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ModelFileError
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.logistic.solvers import Prior

KIND = "LogisticRegression"
FloatArray = NDArray[np.float64]


def to_stored(model: Any) -> Stored:
    """The model as a file holds it."""
    parameters = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    if isinstance(model.class_weight, dict):
        parameters["class_weight"] = [[_plain(k), _plain(v)] for k, v in model.class_weight.items()]
    labels = {"classes": model.classes_}
    if hasattr(model, "feature_names_in_"):
        labels["columns"] = model.feature_names_in_
    arrays = {"coef": model.coef_, "intercept": model.intercept_, "iterations": model.n_iter_}
    for number, posterior in enumerate(model._posteriors or []):
        arrays |= {f"centre{number}": posterior.centre, f"precision{number}": posterior.precision}
    description = {"parameters": parameters, "posteriors": len(model._posteriors or [])}
    return Stored(KIND, None, description, labels, arrays)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def from_stored(stored: Stored, known: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the fitted attributes, checked."""
    if stored.kind != KIND or stored.counts is not None:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND} without counts.")
    check_keys(stored.description, "parameters", "posteriors")
    parameters = field(stored.description, "parameters", dict)
    check_keys(parameters, *known)
    arrays = dict(stored.arrays)
    state = _coefficients(stored, arrays, parameters)
    state["_posteriors"] = _posteriors(stored, arrays, state, bool(parameters.get("fit_intercept")))
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    return _weighted(parameters), state


def _weighted(parameters: dict[str, Any]) -> dict[str, Any]:
    pairs = parameters.get("class_weight")
    if not isinstance(pairs, list):
        return parameters
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ModelFileError("class_weight must be pairs of a class and its weight.")
    return parameters | {"class_weight": dict(pairs)}


def _coefficients(
    stored: Stored, arrays: dict[str, NDArray[Any]], parameters: dict[str, Any]
) -> dict[str, Any]:
    for name in stored.labels:
        if name not in ("classes", "columns"):
            raise ModelFileError(f"labels {name!r} belong to nothing.")
    if "classes" not in stored.labels or len(stored.labels["classes"]) < 2:
        raise ModelFileError("at least two classes are needed.")
    classes = stored.labels["classes"]
    scores = 1 if len(classes) == 2 else len(classes)
    coef = arrays.pop("coef", None)
    columns = coef.shape[1] if coef is not None and coef.ndim == 2 else 0
    coef = _floats("coef", coef, (scores, columns))
    intercept = _floats("intercept", arrays.pop("intercept", None), (scores,))
    state: dict[str, Any] = {"classes_": classes, "coef_": coef, "intercept_": intercept}
    solved = scores if parameters.get("multi_class") == "ovr" else 1
    steps = arrays.pop("iterations", None)
    if steps is None or steps.dtype.kind != "i" or steps.shape not in ((solved,), (1,)):
        raise ModelFileError("the numbers of iterations must be whole, one for each problem.")
    state |= {"n_iter_": steps, "n_features_in_": columns}
    if "columns" in stored.labels:
        if len(stored.labels["columns"]) != columns:
            raise ModelFileError(f"there are not as many names as columns: {columns}.")
        state["feature_names_in_"] = np.asarray(stored.labels["columns"], dtype=object)
    return state


def _posteriors(
    stored: Stored, arrays: dict[str, NDArray[Any]], state: dict[str, Any], intercept: bool
) -> list[Prior] | None:
    number = field(stored.description, "posteriors", int)
    scores, columns = state["coef_"].shape
    if number not in (0, 1, scores):
        raise ModelFileError(f"there cannot be {number} posteriors of {scores} scores.")
    shape = (columns + intercept, scores // max(number, 1))
    size = shape[0] * shape[1]
    found = []
    for at in range(number):
        centre = _floats(f"centre{at}", arrays.pop(f"centre{at}", None), shape)
        precision = arrays.pop(f"precision{at}", None)
        full = precision is not None and precision.shape == (size, size) != shape
        precision = _floats(f"precision{at}", precision, (size, size) if full else shape)
        if np.any((np.diagonal(precision) if full else precision) < 0):
            raise ModelFileError("a precision is below zero.")
        found.append(Prior(centre, precision))
    return found or None


def _floats(name: str, array: NDArray[Any] | None, shape: tuple[int, ...]) -> FloatArray:
    """Finite floats of that shape."""
    if array is None or array.dtype != np.float64 or array.shape != shape:
        raise ModelFileError(f"{name} must be floats of shape {shape}.")
    if not np.all(np.isfinite(array)):
        raise ModelFileError(f"{name} has a number that is not finite.")
    return np.ascontiguousarray(array)
