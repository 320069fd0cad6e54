"""The units of the rows of a matrix: groups or times beside it, or in a column of a frame.

Rows of a matrix are sampled by their places in it, so that whole groups are kept as they are of
tables (:mod:`deciban.sources.unit_sample`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.errors import InputError
from deciban.labels import Labels
from deciban.sources import column_names, frames
from deciban.sources.batch import Batch, Codes, LabelledBatch, Units
from deciban.sources.columns import Column, Integers, Numbers
from deciban.sources.matrix import CheckedMatrix, FloatArray, canonical, is_sparse
from deciban.sources.row_keys import Keys, mix, row_keys
from deciban.sources.tabular import Tabular
from deciban.sources.units import UnitSource

__all__ = ["places", "rows_by_place", "take_units", "units_of"]

#: The one column of rows that are known by their places.
_PLACE = "place"


def take_units(X: Tabular, source: UnitSource | None) -> tuple[Tabular, UnitSource | None]:
    """A matrix without the column of its units, and these; a frame alone has such a column.

    >>> import pandas
    >>> X = pandas.DataFrame({"x": [1.0, 2.0], "who": ["a", "b"]})
    >>> rest, source = take_units(X, UnitSource("group", "who"))
    >>> list(rest.columns), source.column.tolist()
    (['x'], ['a', 'b'])
    """
    name = None if source is None else source.beside
    if source is None or name is None:
        return X, source
    names = frames.names_of(X)
    if not names:
        raise InputError(
            f"a matrix has no column {name!r}: its columns have no names.",
            hint="give one value a row, or a data frame",
        )
    if name not in names:
        raise column_names.unknown(name, names)
    return frames.without_column(X, name), replace(source, column=frames.column(name, X[name]))


def units_of(source: UnitSource, X: CheckedMatrix) -> Units:
    """The unit of every row of a matrix."""
    n_rows = X.shape[0]
    if source.is_auto:
        return Units("group", _copy_keys(X))
    source.check_length(n_rows)
    columns = {} if source.name is None or source.column is None else {source.name: source.column}
    return source.of_rows(Batch(n_rows, columns), 0, n_rows)


def rows_by_place(
    units: Units, codes: Codes, classes: Labels, weight: FloatArray | None
) -> LabelledBatch:
    """Rows of a matrix that weigh anything, each known by its place in it."""
    places = Integers(np.arange(len(codes)), np.zeros(len(codes), dtype=bool))
    rows = LabelledBatch(Batch(len(codes), {_PLACE: places}), classes, codes, weight, units)
    return rows if weight is None else rows.take(np.flatnonzero(weight > 0))


def places(rows: LabelledBatch) -> Codes:
    """The places of rows in their matrix."""
    column = rows.batch.columns[_PLACE]
    return np.asarray(column.values if isinstance(column, Integers) else (), dtype=np.intp)


def _copy_keys(X: CheckedMatrix) -> Keys:
    """Keys of rows that are equal for rows that hold the same."""
    if is_sparse(X):
        return _sparse_keys(X)
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = {name: _column(name, X[:, j]) for j, name in enumerate(names)}
    return row_keys(Batch(X.shape[0], columns))


def _column(name: str, values: CheckedMatrix) -> Column:
    if values.dtype.kind in "biuf":
        return Numbers(values.astype(np.float64))
    return frames.column(name, values)


def _sparse_keys(X: CheckedMatrix) -> Keys:
    """The exclusive or of the hashes of all numbers that are not zero, with their columns."""
    X = canonical(X)
    values, row = X.data.astype(np.float64), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    there = values != 0
    column = mix(X.indices[there].astype(np.uint64))
    out = np.zeros(X.shape[0], dtype=np.uint64)
    np.bitwise_xor.at(out, row[there], mix(values[there].view(np.uint64) ^ column))
    return mix(out)
