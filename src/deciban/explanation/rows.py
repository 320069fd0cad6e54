"""Features of a model, and rows in the form that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deciban.sources.frames import named_frame
from deciban.sources.row import read_row


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
    return list(schema.texts) if schema else []


def one_row(model: Any, row: Any) -> dict[str, Any]:
    """The values of a row by the names of the features; what is not named is missing."""
    return read_row(
        row,
        features(model),
        schema=getattr(model, "schema_", None),
        ignore=getattr(model, "target_", None),
        missing=getattr(model, "_hole", None),
    )


def table(model: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as the model takes them: by name, or as a matrix."""
    names = features(model)
    if hasattr(model, "schema_"):
        return [{name: row[name] for name in names} for row in rows]
    values = [[row[name] for name in names] for row in rows]
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(values, dtype=object)
    if not hasattr(model, "feature_names_in_"):
        return found
    return named_frame(found, names)
