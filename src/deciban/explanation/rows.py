"""One row as a user gives it: a dict, a one-row frame, a list of values, a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from importlib import import_module
from typing import Any

import numpy as np

from deciban import sources
from deciban.errors import InputError, ShapeError
from deciban.sources import naming

#: How the texts of times are read.
_READ: dict[str, Any] = {"date": date, "timestamp": datetime, "time": time}


def features(model: Any) -> list[str]:
    """The names of a model's features, in order; without names, x0, x1, ..."""
    if hasattr(model, "schema_"):
        return list(model.schema_.names)
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else list(names)


def ignored(model: Any) -> frozenset[str]:
    """The columns of a table that say nothing about any row: identifiers."""
    columns = model.schema_.columns if hasattr(model, "schema_") else ()
    return frozenset(c.name for c in columns if c.kind == "identifier")


def texts(model: Any) -> list[str]:
    """The columns of text."""
    schema = getattr(model, "schema_", None)
    return [c.name for c in schema.columns if c.kind == "text"] if schema else []


def one_row(model: Any, row: Any) -> dict[str, Any]:
    """The values of a row by the names of the features; what is not named is missing."""
    names = features(model)
    if isinstance(row, str):
        found: Mapping[str, Any] = {_text_column(model, names): row}
    elif isinstance(row, Mapping):
        found = {str(name): value for name, value in row.items()}
    elif hasattr(row, "columns") or hasattr(row, "collect_batches"):
        found = _of_frame(row)
    else:
        found = _of_values(row, names)
    known = {*names, getattr(model, "target_", None)}
    for name in found:
        if name not in known:
            raise naming.unknown(name, names)
    missing = getattr(model, "_hole", None)
    values = {name: _scalar(name, found.get(name, missing)) for name in names}
    return {**values, **_times(model, values)}


def table(model: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as the model takes them: by name, or as a matrix."""
    names = features(model)
    if hasattr(model, "schema_"):
        return {name: [row[name] for row in rows] for name in names}
    values = [[row[name] for name in names] for row in rows]
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(values, dtype=object)
    if not hasattr(model, "feature_names_in_"):
        return found
    return frame(found, names)


def frame(values: Any, names: list[str]) -> Any:
    """A matrix with the names that the model was fitted with."""
    try:
        return import_module("pandas").DataFrame(values, columns=names)
    except ImportError:
        return import_module("polars").DataFrame(values, schema=names, orient="row")


def _text_column(model: Any, names: list[str]) -> str:
    """The column that a text alone belongs to."""
    some = texts(model) or names
    if len(some) == 1:
        return some[0]
    raise InputError(
        f"a text alone does not say which of {len(some)} columns it is.",
        hint=f"give a dict, such as {{{some[0]!r}: ...}}" if some else "give a dict",
    )


def _of_frame(frame: Any) -> dict[str, Any]:
    rows = [row for batch in sources.batches(frame) for row in batch.tolist()]
    if len(rows) != 1:
        raise ShapeError(f"one row is explained, got {len(rows)}.", hint="take frame[i : i + 1]")
    return rows[0]


def _of_values(row: Any, names: list[str]) -> dict[str, Any]:
    row = row.toarray() if hasattr(row, "toarray") else row
    if not isinstance(row, Sequence | np.ndarray) and not hasattr(row, "tolist"):
        raise InputError(
            f"a row is needed, got {type(row).__name__}.",
            hint="give a dict, a one-row frame, or a list of values",
        )
    values: list[Any] = list(row.tolist() if hasattr(row, "tolist") else row)
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


def _scalar(name: str, value: Any) -> Any:
    """One value; a list of one is its value."""
    if isinstance(value, np.ndarray | list | tuple) and np.ndim(value) == 1 and len(value) == 1:
        value = value[0]
    if isinstance(value, np.ndarray | list | tuple | Mapping):
        raise ShapeError(f"{name!r} has {len(value)} values.", hint="explain one row at a time")
    return value.item() if isinstance(value, np.generic) else value


def read_time(unit: str, written: str) -> Any:
    """A date, a timestamp or a time of day from its text.

    >>> read_time("date", "2025-06-21")
    datetime.date(2025, 6, 21)
    """
    return _READ[unit].fromisoformat(written)


def _times(model: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Times that are written as text, as times."""
    schema = getattr(model, "schema_", None)
    found = {}
    for column in schema.columns if schema else ():
        value = values[column.name]
        if column.unit and isinstance(value, str):
            try:
                found[column.name] = read_time(column.unit, value)
            except ValueError:
                raise InputError(
                    f"column {column.name!r} is a {column.unit}, got {value!r}.",
                    hint="write it like 2025-06-21 or 2025-06-21T14:30:00",
                ) from None
    return found
