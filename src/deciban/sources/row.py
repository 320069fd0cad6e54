"""One row as a user gives it: a dict, a one-row frame, a list of values, a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deciban.errors import InputError, ShapeError
from deciban.schema import Schema
from deciban.sources import column_names
from deciban.sources.literals import parse_time
from deciban.sources.open import batches
from deciban.sources.tabular import Row, Tabular, Value

__all__ = ["read_row"]


def read_row(
    row: Value,
    schema: Schema,
    *,
    ignore: str | None = None,
    absent: float | None = None,
) -> dict[str, Value]:
    """The values of a row by the names of a model's columns.

    A column that the row does not have is ``absent``; the column ``ignore`` may be there.
    Times that are written as text become times, and a text alone is the column of text.

    >>> from deciban.schema import ColumnSchema
    >>> schema = Schema((ColumnSchema("age", "numeric", ""), ColumnSchema("size", "text", "")))
    >>> read_row([3, "S"], schema), read_row("S", schema)
    ({'age': 3, 'size': 'S'}, {'age': None, 'size': 'S'})
    """
    names = schema.names
    if isinstance(row, str):
        entries: Row = {_text_column(schema): row}
    elif isinstance(row, Mapping):
        entries = {str(name): value for name, value in row.items()}
    elif hasattr(row, "columns") or hasattr(row, "collect_batches"):
        entries = _read_frame(row)
    else:
        entries = _read_values(row, names)
    for name in entries:
        if name not in names and name != ignore:
            raise column_names.unknown(name, names)
    values = {
        column.name: _scalar(
            column.name, entries.get(column.name, absent), bag=column.format == "bag"
        )
        for column in schema.columns
    }
    return {**values, **_read_times(schema, values)}


def _text_column(schema: Schema) -> str:
    """The column that a text alone belongs to."""
    some = schema.texts or schema.names
    if len(some) == 1:
        return some[0]
    raise InputError(
        f"a text alone does not say which of {len(some)} columns it is.",
        hint=f"give a dict, such as {{{some[0]!r}: ...}}" if some else "give a dict",
    )


def _read_frame(frame: Tabular) -> dict[str, Value]:
    rows = [row for batch in batches(frame) for row in batch.tolist()]
    if len(rows) != 1:
        raise ShapeError(f"one row is explained, got {len(rows)}.", hint="take frame[i : i + 1]")
    return rows[0]


def _read_values(row: Value, names: Sequence[str]) -> dict[str, Value]:
    row = row.toarray() if hasattr(row, "toarray") else row
    if not isinstance(row, Sequence | np.ndarray) and not hasattr(row, "tolist"):
        raise InputError(
            f"a row is needed, got {type(row).__name__}.",
            hint="give a dict, a one-row frame, or a list of values",
        )
    values: list[Value] = list(row.tolist() if hasattr(row, "tolist") else row)
    if len(values) == 1 and isinstance(values[0], Mapping):
        return {str(name): value for name, value in values[0].items()}
    if len(values) == 1 and isinstance(values[0], list | tuple | np.ndarray):
        values = list(values[0])
    if len(values) != len(names):
        raise ShapeError(
            f"the row has {len(values)} values, the model {len(names)} features.",
            hint="give one value for each, or a dict",
        )
    return dict(zip(names, values, strict=True))


def _scalar(name: str, value: Value, *, bag: bool = False) -> Value:
    """One value; a list of one is its value, and the lists of a bag stay lists."""
    if bag and isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return list(value)
    if isinstance(value, np.ndarray | list | tuple) and len(value) == 1 and np.ndim(value) <= 1:
        value = value[0]
    if isinstance(value, np.ndarray | list | tuple | Mapping) and not bag:
        raise ShapeError(f"{name!r} has {len(value)} values.", hint="explain one row at a time")
    return value.item() if isinstance(value, np.generic) else value


def _read_times(schema: Schema, values: Row) -> dict[str, Value]:
    """Times that are written as text, as times; what is none stays as it is."""
    times = {}
    for column in schema.columns:
        value = values[column.name]
        if column.unit and isinstance(value, str):
            moment = parse_time(column.unit, value)
            times[column.name] = value if moment is None else moment
    return times
