"""What the data is: each column in a few words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import factorise
from deciban.report.rows import LabelledRows
from deciban.schema import ColumnSchema
from deciban.sources.columns import Column, Strings, Times

#: So many categories are named.
MAX_NAMED_CATEGORIES = 3


@dataclass(frozen=True)
class ColumnSummary:
    """A column: what it is, how much of it is missing, and what it holds."""

    name: str
    kind: str
    missing: int
    different: int | None
    holds: str


def summarize_columns(rows: LabelledRows) -> list[ColumnSummary]:
    """The columns of the model, in order."""
    return [_summarize(c, rows.batch.columns[c.name]) for c in rows.schema.columns]


def _summarize(about: ColumnSchema, column: Column) -> ColumnSummary:
    missing = int(column.missing.sum())
    if missing == len(column):
        return ColumnSummary(about.name, about.kind, missing, 0, "nothing")
    if about.kind == "text" and isinstance(column, Strings):
        size = np.diff(column.offsets)[~column.missing]
        holds = f"{np.mean(size):,.0f} bytes a row"
        return ColumnSummary(about.name, about.kind, missing, None, holds)
    values, codes = factorise(column)
    known = codes[codes >= 0]
    if about.numbers and not isinstance(column, Strings | Times):
        holds = _numbers(np.asarray(values, dtype=np.float64)[known])
    elif isinstance(column, Times):
        holds = _times(column)
    else:
        holds = _categories([str(v) for v in values.tolist()], np.bincount(known))
    return ColumnSummary(about.name, about.kind, missing, len(values), holds)


def _numbers(values: NDArray[np.float64]) -> str:
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
    return f"{_number(low)} to {_number(high)}, median {_number(middle)}"


def _number(value: float) -> str:
    """As people write it.

    >>> _number(1490400.0), _number(0.25)
    ('1,490,400', '0.25')
    """
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.6g}"


def _times(column: Times) -> str:
    known = column.values[~column.missing]
    some = Times(np.array([known.min(), known.max()]), np.zeros(2, dtype=bool), column.unit)
    return " to ".join(text or "" for text in some.tolist())


def _categories(names: list[str], amounts: NDArray[np.intp]) -> str:
    order = np.argsort(-amounts, kind="stable")[:MAX_NAMED_CATEGORIES].tolist()
    shares = [f"{_cut(names[i])} {100 * amounts[i] / amounts.sum():.0f} %" for i in order]
    return ", ".join(shares) + (" …" if len(names) > MAX_NAMED_CATEGORIES else "")


def _cut(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
