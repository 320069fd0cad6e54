"""Measuring: what the columns of a model say in some rows, on average and by their values.

Where what a value says depends on the other columns, a model has no table of it. But the mean
over rows with about the same value can be taken: a column's contribution is told from those of
the others in every row, so that its means, value beside value, are its curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import factorise, numbers
from deciban.families.piece import Piece
from deciban.models.measured_evidence import MeasuredEvidence, finite
from deciban.models.protocol import Model
from deciban.models.scores import DECIBANS, decibans
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Times
from deciban.sources.labelled import LabelledBatch
from deciban.sources.literals import parse_time
from deciban.sources.tabular import Value

FloatArray = NDArray[np.float64]

#: Numbers are cut into so many bins of equal frequency.
N_BINS = 16


def measure(model: Model, part: LabelledBatch, *, curves: bool = False) -> MeasuredEvidence:
    """What the columns of a model say in labelled rows; with ``curves``, also by their values."""
    contributions = model.contributions(part.batch)
    y, evidence = part.codes_among(model.classes), decibans(contributions)
    measured = MeasuredEvidence.of_rows(evidence, y, part.weights, model.classes)
    if not curves:
        return measured
    pieces = mean_curves(model.schema, part.batch, contributions, part.weights)
    return replace(measured, curves=tuple(pieces))


def mean_curves(
    schema: Schema, batch: Batch, contributions: FloatArray, weight: FloatArray
) -> Iterator[Piece]:
    """The mean contribution of about the same values, of every column but texts and identifiers.

    ``contributions`` are in nats, (rows, columns, classes).
    """
    nats = finite(DECIBANS * contributions) / DECIBANS
    for j, cells in value_cells(schema, batch):
        rows = np.zeros((len(cells.values), nats.shape[2]))
        total, known = np.zeros_like(rows), cells.at >= 0
        np.add.at(rows, cells.at[known], weight[known, None])
        np.add.at(total, cells.at[known], weight[known, None] * nats[known, j])
        mean = total / np.where(rows > 0, rows, 1.0)
        yield build_curve(schema.columns[j], cells.values, cells.edges, mean, rows[:, 0])


def build_curve(
    column: ColumnSchema,
    values: tuple[Value, ...],
    edges: tuple[float, ...] | None,
    mean: FloatArray,
    rows: FloatArray,
) -> Piece:
    """The piece of a measured curve: the mean contribution of each value, and its rows."""
    each = np.repeat(rows[:, None] / mean.shape[1], mean.shape[1], axis=1)
    share = each / max(rows.sum(), np.finfo(np.float64).tiny)
    kind: Literal["category", "number"] = "category" if edges is None else "number"
    names = tuple(map(str, values)) if column.unit and edges is not None else ()
    return Piece(column.name, column.name, kind, values, mean, share, each, None, edges, names)


# ---------------------------------------------------------------------- values


#: The first and the last second that Python's calendar has, from the beginning of 1970.
_PYTHON_SECONDS = -62_135_596_800.0, 253_402_300_799.0


class ValueCells(NamedTuple):
    """The values of a column or of its bins, the cell of every row (-1 is none), cut points."""

    values: tuple[Value, ...]
    at: NDArray[np.intp]
    edges: tuple[float, ...] | None


def value_cells(schema: Schema, batch: Batch) -> Iterator[tuple[int, ValueCells]]:
    """The cells of every column but texts and identifiers, with its place in the schema."""
    matrix = numbers(schema, batch)
    for j, column in enumerate(schema.columns):
        if column.numbers:
            x = matrix[:, schema.numbers.index(column.name)]
            if not np.isnan(x).all():
                yield j, _number_cells(column, x)
        elif column.categories:
            values, at = factorise(batch.columns[column.name])
            if len(values):
                yield j, ValueCells(tuple(values.tolist()), at.astype(np.intp), None)


def _number_cells(column: ColumnSchema, x: FloatArray) -> ValueCells:
    """Bins of equal frequency, each with the value in its middle."""
    ordered = np.sort(x[~np.isnan(x)])
    edges = np.unique(ordered[np.arange(1, N_BINS) * len(ordered) // N_BINS])
    edges = edges[edges > ordered[0]]
    starts = np.concatenate([[0], np.searchsorted(ordered, edges), [len(ordered)]])
    middles = ordered[(starts[:-1] + starts[1:] - 1) // 2]
    at = np.where(np.isnan(x), -1, np.searchsorted(edges, x, side="right"))
    return ValueCells(as_written(column, middles), at, tuple(edges.tolist()))


def as_written(column: ColumnSchema, x: FloatArray) -> tuple[Value, ...]:
    """Numbers as a row would hold them: whole, or times, of which Python has those of 9,999 years.

    >>> as_written(ColumnSchema("day", "time", "", unit="date"), np.array([-1e11, 0.0]))
    (datetime.date(1, 1, 1), datetime.date(1970, 1, 1))
    """
    if column.unit:
        micro = np.round(np.clip(x, *_PYTHON_SECONDS) * 1e6).astype(np.int64)
        written = Times(micro, np.zeros(len(x), dtype=bool), column.unit).tolist()
        return tuple(parse_time(column.unit, text) for text in written if text)
    whole = bool(np.all(x == np.round(x))) and bool(np.all(np.abs(x) < 2**53))
    return tuple(x.astype(np.int64).tolist() if whole else x.tolist())
