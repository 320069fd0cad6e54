"""Measured evidence in a file: the means of columns, and curves by their values.

A file without any was written before they were measured, or by a model that has not been.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ModelFileError
from deciban.explanation.measurement import as_written, build_curve
from deciban.families.piece import Piece, as_number
from deciban.files.arrays import ArrayReader
from deciban.files.description import CurveEntry
from deciban.labels import Array, Labels
from deciban.models.measured_evidence import MeasuredEvidence
from deciban.plain import PlainDict
from deciban.schema import Schema

FloatArray = NDArray[np.float64]

#: The key of a description that has the values of the curves.
KEY = "curves"
_WEIGHT, _MEANS, _CURVES = "evidence_weight", "evidence_means", "evidence_curves"


def to_stored(
    measured: MeasuredEvidence | None, classes: Labels
) -> tuple[PlainDict, dict[str, Array]]:
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


def _describe(piece: Piece) -> PlainDict:
    """The values of a curve, which are numbers between cut points, or categories."""
    if piece.edges is None:
        return {"column": piece.feature, "values": list(piece.values), "edges": None}
    values = [as_number(value) for value in piece.values]
    return {"column": piece.feature, "values": values, "edges": list(piece.edges)}


def _rows(piece: Piece) -> FloatArray:
    return np.zeros(len(piece.values)) if piece.rows is None else piece.rows.sum(axis=1)


def from_stored(
    entries: Sequence[CurveEntry] | None, arrays: ArrayReader, schema: Schema, classes: Labels
) -> MeasuredEvidence | None:
    """The evidence of a file, checked, whose arrays are taken out; None if it has none."""
    if entries is None:
        return None
    n_columns, n_classes = len(schema.names), len(classes)
    weight = arrays.floats(_WEIGHT, (n_classes,), least=0.0)
    means = arrays.floats(_MEANS, (2, n_columns, n_classes))
    if np.any(means[1] < 0):
        raise ModelFileError("an absolute value of measured evidence is below zero.")
    sizes = [len(entry.values) for entry in entries]
    table = arrays.floats(_CURVES, (sum(sizes), n_classes + 1))
    each = np.split(table, np.cumsum(sizes)[:-1]) if sizes else []
    curves = tuple(_curve(e, t, schema) for e, t in zip(entries, each, strict=True))
    return MeasuredEvidence(classes, weight, means[0], means[1], curves)


def _curve(entry: CurveEntry, table: FloatArray, schema: Schema) -> Piece:
    name, values = entry.column, entry.values
    if name not in schema.names:
        raise ModelFileError(f"there is a curve of {name!r}, which is no column.")
    column, mean, rows = schema.columns[schema.names.index(name)], table[:, :-1], table[:, -1]
    if entry.edges is None:
        return build_curve(column, tuple(values), None, mean, rows)
    edges = np.array(entry.edges, dtype=np.float64)
    if len(edges) != len(values) - 1 or np.any(edges[1:] <= edges[:-1]):
        raise ModelFileError(f"the cut points of {name!r} must rise, one between two values.")
    if any(isinstance(value, str) for value in values):
        raise ModelFileError(f"the curve of {name!r} must be of numbers.")
    try:
        written = as_written(column, np.array(values, dtype=np.float64))
    except (ValueError, OverflowError):
        written = ()
    if len(written) != len(values):
        raise ModelFileError(f"the curve of {name!r} has values that are no times.")
    return build_curve(column, written, tuple(edges.tolist()), mean, rows)
