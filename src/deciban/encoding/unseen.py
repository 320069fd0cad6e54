"""Values that training did not have: which, how many, and in which columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.kernels.dictionary import Dictionary
from deciban.labels import Array
from deciban.schema import ColumnSchema, Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Strings
from deciban.sources.tabular import Value

__all__ = ["NOTHING_UNSEEN", "Unseen", "UnseenValues", "reason", "unseen_values"]

RowNumbers = NDArray[np.intp]

#: So many different values of a column are kept as examples.
MAX_EXAMPLES = 3
#: What is said of a category.
NEVER_SEEN = "never seen"


@dataclass(frozen=True)
class UnseenValues:
    """How many values of a column training did not have, the first few different ones, and why.

    ``reason`` is ``"never seen"`` of a category, ``"not a number"`` of what stands in a column of
    numbers, and ``"not a date"``, ``"not a timestamp"`` or ``"not a time"`` in a column of those.
    """

    count: int
    examples: tuple[Value, ...]
    reason: str = NEVER_SEEN

    def __str__(self) -> str:
        what = f"{self.count:,} value{'s' if self.count != 1 else ''} {self.reason}"
        such = ", such as" if self.count > len(self.examples) else ":"
        return f"{what}{such} {', '.join(map(repr, self.examples))}"


class Unseen(Mapping[str, UnseenValues]):
    """The values that training did not have, by column; empty, and so false, where there are none.

    Examples are in the order of the rows, whatever threads and batches they came in.

    >>> Unseen({"city": UnseenValues(4, ("Bonn", "Ulm"))})
    city: 4 values never seen, such as 'Bonn', 'Ulm'
    >>> bool(Unseen()), Unseen()
    (False, no value was unseen)
    """

    def __init__(self, columns: Mapping[str, UnseenValues] | None = None) -> None:
        self._columns = dict(columns or {})

    def __getitem__(self, column: str) -> UnseenValues:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __add__(self, later: Unseen) -> Unseen:
        """Those of some rows, and of rows that come after them."""
        both = dict(self._columns)
        for name, values in later.items():
            both[name] = _join(both[name], values) if name in both else values
        return Unseen(both)

    def __repr__(self) -> str:
        if not self:
            return "no value was unseen"
        return "\n".join(f"{name}: {values}" for name, values in self.items())

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        rows = [(name, f"{v.count:,}", v.reason, ", ".join(map(repr, v.examples)))
                for name, v in self.items()]  # fmt: skip
        if not rows:
            return "<p>no value was unseen</p>"
        return html_tables(("", [("column", "values", "because", "such as"), *rows]))


#: What is unseen where everything was seen.
NOTHING_UNSEEN = Unseen()


def reason(column: ColumnSchema) -> str:
    """Why a value that cannot be cast to its column's type counts as unseen.

    >>> reason(ColumnSchema("age", "numeric", "")), reason(ColumnSchema("ripe", "boolean", ""))
    ('not a number', 'never seen')
    """
    return f"not a {column.unit or 'number'}" if column.numbers else NEVER_SEEN


def unseen_values(schema: Schema, batch: Batch, rows: Mapping[str, RowNumbers]) -> Unseen:
    """What some rows have that training did not.

    ``rows`` are those in which a column has a category never seen; what could not be cast is
    in the batch itself.
    """
    columns = {}
    for column in schema.columns:
        name = column.name
        parts = [(batch.columns[name], rows[name])] if name in rows else []
        parts += [(uncast.column, uncast.rows)] if (uncast := batch.uncast.get(name)) else []
        count = sum(len(some) for _, some in parts)
        if count:
            why = NEVER_SEEN if uncast is None else reason(column)
            columns[name] = UnseenValues(count, _examples(parts), why)
    return Unseen(columns) if columns else NOTHING_UNSEEN


def _examples(parts: Sequence[tuple[Column, RowNumbers]]) -> tuple[Value, ...]:
    """The first different values of some rows."""
    first: list[tuple[int, Value]] = []
    for column, rows in parts:
        some = column.take(rows)
        at = _first_rows(some)
        first += zip(rows[at].tolist(), some.take(at).tolist(), strict=True)
    first.sort(key=lambda pair: pair[0])
    return tuple(value for _, value in first[:MAX_EXAMPLES])


def _first_rows(column: Column) -> RowNumbers:
    """The rows in which the first few different values come first."""
    values: Array
    if isinstance(column, Strings):
        values = Dictionary().encode(column.offsets, column.data, column.missing)
    else:
        values = column.values
    return np.sort(np.unique(values, return_index=True)[1])[:MAX_EXAMPLES]


def _join(first: UnseenValues, later: UnseenValues) -> UnseenValues:
    examples = tuple(dict.fromkeys((*first.examples, *later.examples)))[:MAX_EXAMPLES]
    return UnseenValues(first.count + later.count, examples, first.reason)
