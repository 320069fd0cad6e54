"""Measured evidence in a file: the means of columns, and curves by their values.

A file without any was written before they were measured, or by a model that has not been.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ModelFileError
from deciban.explanation.measurement import as_written, build_curve
from deciban.families.piece import Piece, as_number
from deciban.files.document import field
from deciban.labels import Labels
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.schema import Schema

FloatArray = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

#: The key of a description that has the values of the curves.
KEY = "curves"
_WEIGHT, _MEANS, _CURVES = "evidence_weight", "evidence_means", "evidence_curves"


def to_stored(
    measured: MeasuredEvidence | None, classes: Labels
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a description and its arrays say of it, by the classes of the model."""
    if measured is None:
        return {}, {}
    known = measured.among(classes)
    tables = [np.column_stack([p.log_likelihood, _rows(p)]) for p in known.curves]
    arrays = {
        _WEIGHT: known.weight,
        _MEANS: np.stack([known.mean, known.absolute]),
        _CURVES: np.concatenate([np.empty((0, len(classes) + 1)), *tables]),
    }
    return {KEY: [_describe(piece) for piece in known.curves]}, arrays


def _describe(piece: Piece) -> dict[str, Any]:
    """The values of a curve, which are numbers between cut points, or categories."""
    if piece.edges is None:
        return {"column": piece.feature, "values": list(piece.values), "edges": None}
    values = [as_number(value) for value in piece.values]
    return {"column": piece.feature, "values": values, "edges": list(piece.edges)}


def _rows(piece: Piece) -> FloatArray:
    return np.zeros(len(piece.values)) if piece.rows is None else piece.rows.sum(axis=1)


def from_stored(
    about: Mapping[str, Any], arrays: Arrays, schema: Schema, classes: Labels
) -> MeasuredEvidence | None:
    """The evidence of a file, checked, whose arrays are taken out; None if it has none."""
    names = (_WEIGHT, _MEANS, _CURVES)
    parts = [arrays.pop(name, None) for name in names]
    if KEY not in about and all(part is None for part in parts):
        return None
    weight, means = (
        _check(name, part, shape)
        for name, part, shape in zip(
            names, parts, [(len(classes),), (2, len(schema.names), len(classes))], strict=False
        )
    )
    if np.any(weight < 0) or np.any(means[1] < 0):
        raise ModelFileError("a weight or an absolute value of measured evidence is below zero.")
    entries = [_check_entry(entry, schema) for entry in field(about, KEY, list)]
    sizes = [len(entry["values"]) for entry in entries]
    table = _check(_CURVES, parts[2], (sum(sizes), len(classes) + 1))
    each = np.split(table, np.cumsum(sizes)[:-1]) if sizes else []
    curves = tuple(_curve(e, t, schema) for e, t in zip(entries, each, strict=True))
    return MeasuredEvidence(classes, weight, means[0], means[1], curves)


def _check_entry(entry: Any, schema: Schema) -> dict[str, Any]:
    """The record of a curve, of a column that there is and of some values."""
    if not isinstance(entry, dict) or set(entry) != {"column", "values", "edges"}:
        raise ModelFileError("a curve must be a record of its column, values and edges.")
    name, values = entry["column"], entry["values"]
    if name not in schema.names:
        raise ModelFileError(f"there is a curve of {name!r}, which is no column.")
    plain = isinstance(values, list) and all(isinstance(v, str | int | float) for v in values)
    if not plain or not values:
        raise ModelFileError(f"the curve of {name!r} needs values.")
    return entry


def _curve(entry: dict[str, Any], table: FloatArray, schema: Schema) -> Piece:
    name, values = entry["column"], entry["values"]
    column, mean, rows = schema.columns[schema.names.index(name)], table[:, :-1], table[:, -1]
    if entry["edges"] is None:
        return build_curve(column, tuple(values), None, mean, rows)
    edges = _numbers(name, entry["edges"])
    if len(edges) != len(values) - 1 or np.any(np.diff(edges) <= 0):
        raise ModelFileError(f"the cut points of {name!r} must rise, one between two values.")
    try:
        written = as_written(column, _numbers(name, values))
    except (ValueError, OverflowError):
        written = ()
    if len(written) != len(values):
        raise ModelFileError(f"the curve of {name!r} has values that are no times.")
    return build_curve(column, written, tuple(edges.tolist()), mean, rows)


def _numbers(name: str, values: Any) -> FloatArray:
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ModelFileError(f"the curve of {name!r} must be of numbers.")
    numbers = np.array(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ModelFileError(f"the curve of {name!r} must be of finite numbers.")
    return numbers


def _check(name: str, array: NDArray[Any] | None, shape: tuple[int, ...]) -> FloatArray:
    if array is None or array.dtype != np.float64 or array.shape != shape:
        raise ModelFileError(f"{name} must be floats of shape {shape}.")
    if not np.isfinite(array).all():
        raise ModelFileError(f"{name} has a number that is not finite.")
    return array
