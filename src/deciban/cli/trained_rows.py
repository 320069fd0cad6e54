"""Rows that a model was trained on: remembered when it learns, and noticed when it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from deciban.cli.reading import WatchedTable
from deciban.estimators.classifier import TableClassifier
from deciban.sources import Scan
from deciban.sources.trained_rows import TrainedRows, hashes


def remember(model: Any, rows: WatchedTable, target: str) -> None:
    """Let a model that has just learned some rows know them again."""
    if isinstance(model, TableClassifier):
        model.trained_rows_ = TrainedRows.of(_hashes(model, rows.scan(), target), rows.rows_read)


def change(model: Any, rows: WatchedTable, target: str, *, forget: bool) -> None:
    """Rows that came are known from now on, rows that went no longer."""
    if not isinstance(model, TableClassifier) or model.trained_rows_ is None:
        return
    keys = _hashes(model, rows.scan(), target)
    if forget:
        model.trained_rows_ = model.trained_rows_.without(keys, rows.rows_read)
    else:
        model.trained_rows_ = model.trained_rows_ + TrainedRows.of(keys, rows.rows_read)


def merge(model: Any, parts: Sequence[Any]) -> None:
    """A model that others were merged to knows the rows of all of them."""
    if isinstance(model, TableClassifier):
        known = [part.trained_rows_ for part in parts if isinstance(part, TableClassifier)]
        some = [rows for rows in known if rows is not None]
        model.trained_rows_ = reduce(add, some) if len(some) == len(parts) else None


def warning(
    model: object, rows: Scan, target: str, hint: str = "add --leave-one-out, or give rows"
) -> str | None:
    """What to say about rows of which many were learned; None where they are new."""
    if not isinstance(model, TableClassifier) or model.trained_rows_ is None:
        return None
    share = model.trained_rows_.share_known(_hashes(model, rows, target))
    if not share:
        return None
    what = "these rows are" if share > 0.95 else f"about {100 * share:.0f} % of these rows are"
    return (
        f"{what} rows that the model was trained on, which flatters it. "
        f"Hint: {hint} that it has not seen."
    )


def _hashes(model: TableClassifier[Any], rows: Scan, target: str) -> Any:
    caster = model.model_.caster
    names = [name for name in model.schema_.names if name in rows.names]
    parts = [
        hashes(caster, batch.select(names), batch.columns[target]) for batch in rows if batch.n_rows
    ]
    return np.concatenate([np.empty(0, dtype=np.uint32), *parts])
