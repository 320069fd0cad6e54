"""A table that holds its labels: the features, the labels and the weights apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import encoding, labels
from deciban.encoding import Labelled
from deciban.errors import ParameterError
from deciban.sources.batch import Batch
from deciban.sources.open import scan
from deciban.sources.scan import scan_batches, select
from deciban.sources.tabular import Tabular, Value

__all__ = ["SplitTable", "split_target"]


@dataclass(frozen=True, eq=False)
class SplitTable:
    """What a model is given, the labels of the rows, and their weights as the caller has them."""

    X: Tabular
    labels: Labelled
    weight: Any


def split_target(
    X: Tabular,
    target: str,
    weight: Any = None,
    *,
    by_name: bool = True,
    types: Mapping[str, str] | None = None,
) -> SplitTable:
    """Take the column of labels, and that of weights if it is named, out of a table.

    ``by_name``: whether the model finds columns by their names; otherwise X is a frame,
    and what is left of it is one. ``types`` are the formats that its columns had in training.

    >>> split = split_target({"x": [1, 2], "y": ["a", "b"]}, "y")
    >>> split.X.names, split.labels.codes
    (('x',), array([0, 1]))
    """
    if isinstance(X, np.ndarray):
        raise ParameterError(
            f"an array has no column {target!r}: its columns have no names.", hint="pass y"
        )
    table = scan(X, types=types)
    beside = [name for name in (target, weight) if isinstance(name, str)]
    for name in beside:
        table.require(name)
    batches = [batch for batch in table if batch.n_rows]
    labelled = encoding.class_codes(
        labels.object_array(_values(batches, target)), f"column {target!r}"
    )
    if isinstance(weight, str):
        weight = [np.nan if value is None else value for value in _values(batches, weight)]
    rest = [name for name in table.names if name not in beside]
    return SplitTable(
        select(scan_batches(table.names, batches), rest) if by_name else X[rest], labelled, weight
    )


def _values(batches: list[Batch], name: str) -> list[Value]:
    return [value for batch in batches for value in batch.columns[name].tolist()]
