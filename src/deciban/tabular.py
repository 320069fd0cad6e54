"""Batches of columns to matrices: what is counted, and what is scored.

A schema's columns become two blocks: ``numbers``, a matrix of floats with NaN
for missing values, and ``categories``, a matrix of codes with -1 for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, labels
from deciban.encoding import Labelled
from deciban.errors import InputError, MissingValueError
from deciban.kernels.dictionary import Dictionary
from deciban.labels import Labels
from deciban.schema import ColumnSchema, Schema, number
from deciban.sources.columns import Batch, Booleans, Column, Integers, Numbers, Strings, Times

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]

_SECOND, _HOUR, _DAY = 10**6, 3600 * 10**6, 24 * 3600 * 10**6


def numbers(schema: Schema, batch: Batch) -> FloatArray:
    """The numeric columns, (rows, columns); infinity is refused."""
    found = [column for column in schema.columns if column.numbers]
    out = np.empty((batch.n_rows, len(found)))
    for j, column in enumerate(found):
        out[:, j] = _floats(column, batch.columns[column.name])
    if np.isinf(out).any():
        row, j = np.argwhere(np.isinf(out))[0]
        raise MissingValueError(
            f"Input X contains infinity in column {schema.numbers[j]!r}: {out[row, j]}.",
            hint="replace it by a large finite number, or leave it out as missing",
        )
    return out


def category_columns(schema: Schema, batch: Batch) -> list[Column]:
    """The categorical columns, derived ones included."""
    return [
        derived
        for column in schema.columns
        for derived in _derived(column, batch.columns[column.name])
    ]


def _floats(column: ColumnSchema, values: Column) -> FloatArray:
    if isinstance(values, Numbers):
        return values.values
    if isinstance(values, Integers):
        return values.numbers().values
    if isinstance(values, Strings):
        return _parsed(column.name, values)
    if isinstance(values, Times) != bool(column.unit):
        raise _unlike(column, values)
    known = values.values / _SECOND if isinstance(values, Times) else values.values
    return np.where(values.missing, np.nan, known)


def _parsed(name: str, texts: Strings) -> FloatArray:
    """Numbers that are written as text; each different text is read once."""
    table = Dictionary()
    codes = table.encode(texts.offsets, texts.data, texts.missing)
    found = np.full(len(table) + 1, np.nan)
    for i, text in enumerate(table.labels()):
        value = number(text)
        if value is None:
            raise InputError(
                f"column {name!r} is numeric and has the text {text[:40]!r}.",
                hint=f"state kinds={{{name!r}: 'categorical'}}, or clean it",
            )
        found[i] = value
    return found[codes]


def _unlike(column: ColumnSchema, values: Column) -> InputError:
    return InputError(
        f"column {column.name!r} was {column.unit or column.kind} in training and holds "
        f"{type(values).__name__.lower()} now.",
        hint="give it the type that it had in training",
    )


def _derived(column: ColumnSchema, values: Column) -> list[Column]:
    """A category as it is; a time's hour and day of the week, Monday being 0."""
    if column.kind in ("categorical", "boolean"):
        return [values]
    if column.kind != "time":
        return []
    if not isinstance(values, Times):
        if not values.missing.all():
            raise _unlike(column, values)
        values = Times(np.zeros(len(values), np.int64), values.missing, "timestamp")
    out: list[Column] = []
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
        return labels.label_array(table.labels()), codes
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
    def _texts(self) -> Dictionary | None:
        """The values as texts, if all of them are."""
        values = self.known.tolist()
        return Dictionary(values) if all(isinstance(v, str) for v in values) else None

    def fill(self, column: Column, out: Codes) -> None:
        """Write the code of each row of a column."""
        if isinstance(column, Strings) and self._texts is not None:
            out[:] = self._texts.lookup(column.offsets, column.data, column.missing)
            out[out == -2] = len(self.known)
            return
        values, codes = factorise(column)
        at = labels.positions(values, self.known)
        out[:] = np.append(np.where(at < 0, len(self.known), at), -1)[codes]


def codes(lookups: Sequence[Lookup], columns: Sequence[Column], n_rows: int) -> Codes:
    """The codes of categorical columns, (rows, columns)."""
    out = np.empty((n_rows, len(columns)), dtype=np.int64)
    for j, (lookup, column) in enumerate(zip(lookups, columns, strict=True)):
        lookup.fill(column, out[:, j])
    return out


def classes(column: Column) -> Labelled:
    """A column of labels: the classes in order, and the code of each row; -1 is missing.

    >>> found = classes(Integers(np.array([7, 3, 7]), np.zeros(3, bool)))
    >>> found.classes, found.codes
    (array([3, 7]), array([1, 0, 1]))
    """
    if isinstance(column, Strings):
        found, codes = factorise(column)
        ordered = labels.sort(found.tolist())
        return Labelled(ordered, np.append(labels.positions(found, ordered), -1)[codes])
    if isinstance(column, Numbers):
        return encoding.class_codes(column.values, "target", missing=True)
    if isinstance(column, Integers | Booleans) and not column.missing.any():
        return encoding.class_codes(column.values, "target")
    return Labelled(*labels.factorise(labels.object_array(column.tolist())))
