"""Batches of columns to matrices: what is counted, and what is scored.

A schema's columns become two blocks: ``numbers``, a matrix of floats with NaN
for missing values, and ``categories``, a matrix of codes with -1 for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import MissingValueError
from deciban.kernels.dictionary import Dictionary
from deciban.labels import Labels
from deciban.schema import ColumnSchema, Schema
from deciban.source.columns import Batch, Booleans, Column, Integers, Numbers, Strings, Times

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]

_SECOND, _HOUR, _DAY = 10**6, 3600 * 10**6, 24 * 3600 * 10**6


def numbers(schema: Schema, batch: Batch) -> FloatArray:
    """The numeric columns, (rows, columns); infinity is refused."""
    columns = [_floats(batch.columns[column.name]) for column in schema.columns if column.numbers]
    out = np.column_stack([np.empty((batch.n_rows, 0)), *columns])
    bad = np.argwhere(np.isinf(out))
    if len(bad):
        name = schema.numbers[int(bad[0, 1])]
        raise MissingValueError(
            f"Input X contains infinity in column {name!r}.",
            hint="replace it by a large finite number, or leave it out as missing",
        )
    return np.ascontiguousarray(out)


def category_columns(schema: Schema, batch: Batch) -> list[Column]:
    """The categorical columns, derived ones included."""
    return [
        derived
        for column in schema.columns
        for derived in _derived(column, batch.columns[column.name])
    ]


def _floats(column: Column) -> FloatArray:
    if isinstance(column, Numbers):
        return column.values
    if isinstance(column, Integers):
        return column.numbers().values
    if isinstance(column, Times):
        return np.where(column.missing, np.nan, column.values / _SECOND)
    if isinstance(column, Booleans):
        return np.where(column.missing, np.nan, column.values.astype(np.float64))
    raise MissingValueError(
        "a numeric column holds texts.", hint="give it the kind it had in training"
    )


def _derived(column: ColumnSchema, values: Column) -> list[Column]:
    """A category as it is; a time's hour and day of the week, Monday being 0."""
    if column.kind in ("categorical", "boolean"):
        return [values]
    out: list[Column] = []
    if column.kind == "time" and isinstance(values, Times):
        if column.unit in ("timestamp", "time"):
            out.append(Integers(values.values // _HOUR % 24, values.missing))
        if column.unit in ("timestamp", "date"):
            out.append(Integers((values.values // _DAY + 3) % 7, values.missing))
    return out


def factorise(column: Column) -> tuple[Labels, Codes]:
    """The values that a column has, and the code of each row; -1 is missing."""
    if isinstance(column, Strings):
        table = Dictionary()
        codes = table.encode(column.offsets, column.data, column.missing)
        return labels.narrowed(table.labels()), codes
    if isinstance(column, Numbers):
        found, at = labels.factorise(column.values)
        return found, at.astype(np.int64)
    found, at = labels.factorise(column.values)
    return found, np.where(column.missing, -1, at)


@dataclass(frozen=True, eq=False)
class Lookup:
    """The codes of known values: ``S`` for one that is not known, -1 for a missing one."""

    known: Labels

    @cached_property
    def _texts(self) -> Dictionary:
        return Dictionary(
            [label if isinstance(label, str) else "" for label in self.known.tolist()]
        )

    def codes(self, column: Column) -> Codes:
        """The code of each row of a column."""
        if isinstance(column, Strings) and all(isinstance(v, str) for v in self.known.tolist()):
            found = self._texts.lookup(column.offsets, column.data, column.missing)
            return np.where(found == -2, len(self.known), found)
        values, codes = factorise(column)
        at = labels.positions(values, self.known)
        return np.append(np.where(at < 0, len(self.known), at), -1)[codes]


def target(column: Column) -> NDArray[Any]:
    """A column of labels as an array of objects, None where missing."""
    return labels.objects(column.tolist())


def codes(lookups: Sequence[Lookup], columns: Sequence[Column], n_rows: int) -> Codes:
    """The codes of categorical columns, (rows, columns)."""
    parts = [lookup.codes(column) for lookup, column in zip(lookups, columns, strict=True)]
    return np.ascontiguousarray(np.column_stack([np.empty((n_rows, 0), np.int64), *parts]))
