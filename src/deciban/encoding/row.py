"""One row to numbers and codes, without making a table of it.

A value whose type is that of its column is looked up at once. A row that holds any other, such as
a number written as text, goes the way of tables: :func:`row_batch`, cast like any batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import NamedTuple

import numpy as np

from deciban.encoding.casting import ColumnType
from deciban.encoding.matrices import Caster
from deciban.schema import ColumnSchema
from deciban.sources import objects
from deciban.sources.batch import Batch
from deciban.sources.tabular import Row, Value

__all__ = ["EncodedRow", "RowEncoder", "row_batch"]

#: What is read as a number as it is.
_NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
#: The Python types of categories, by the type of their column.
_CATEGORIES: Mapping[ColumnType, type] = {"text": str, "integer": int, "boolean": bool}
#: The code of what takes a table to tell.
_ODD = -2


class EncodedRow(NamedTuple):
    """The numbers of a row, NaN where missing; the codes of its categories, -1 where; its texts.

    A category that is not known has the code that the next one will get.
    """

    numbers: list[float]
    codes: list[int]
    texts: list[str | None]


class _Reader(NamedTuple):
    """How a column is read: ``what`` is a number, a text or a category of the type ``of``."""

    name: str
    what: str
    of: type | None
    known: dict[Value, int]
    period: float | None


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """Reads rows in the types of training; ``known`` has the codes of each column of categories.

    >>> import numpy as np
    >>> from deciban.schema import ColumnSchema, Schema
    >>> schema = Schema((ColumnSchema("n", "numeric", ""), ColumnSchema("s", "categorical", "")))
    >>> encoder = RowEncoder.of(Caster(schema, {"s": np.array(["S", "M"])}))
    >>> encoder.encode({"n": 3, "s": "M"}), encoder.encode({"n": "3", "s": "M"})
    (EncodedRow(numbers=[3.0], codes=[1], texts=[]), None)
    """

    readers: tuple[_Reader, ...] | None
    known: dict[str, dict[Value, int]]
    names: frozenset[str]

    @classmethod
    def of(cls, caster: Caster) -> RowEncoder:
        """The encoder of a model's rows; it reads none itself where columns hold times."""
        known = {
            name: {value: code for code, value in enumerate(values.tolist())}
            for name, values in caster.known.items()
        }
        readers = []
        for column in caster.schema.columns:
            if column.name in caster.types:
                reader = _reader(column, caster.types[column.name], known)
                if reader is None:
                    return cls(None, known, frozenset(caster.schema.names))
                readers.append(reader)
        return cls(tuple(readers), known, frozenset(caster.schema.names))

    def encode(self, row: Row, *, grow: bool = False) -> EncodedRow | None:
        """The row in numbers and codes; None where a value has not the type of its column.

        With ``grow``, categories that are not known become known.
        """
        if self.readers is None:
            return None
        numbers: list[float] = []
        codes: list[int] = []
        texts: list[str | None] = []
        for name, what, of, known, period in self.readers:
            value = row.get(name)
            if what == "number":
                number = _number(value, period)
                if number is None:
                    return None
                numbers.append(number)
            elif what == "text":
                if value is not None and not _is_text(value):
                    return None
                texts.append(value)
            else:
                code = known.get(value) if type(value) is of else _strange(value)
                if code is None:
                    code = _unknown(value, known, grow=grow)
                if code == _ODD:
                    return None
                codes.append(code)
        return EncodedRow(numbers, codes, texts)

    def knows(self, row: Row) -> bool:
        """Whether all categories of a row, in the types of their columns, are known."""
        values = ((known, row.get(name)) for name, known in self.known.items())
        return all(value is None or value in known for known, value in values)


def _reader(
    column: ColumnSchema, of: ColumnType, known: Mapping[str, dict[Value, int]]
) -> _Reader | None:
    """How a column is read; None where only a table can tell."""
    if column.unit or column.format == "bag":
        return None
    if column.kind == "text":
        return _Reader(column.name, "text", str, {}, None)
    if column.numbers:
        return _Reader(column.name, "number", None, {}, column.period)
    if of not in _CATEGORIES:
        return None
    return _Reader(column.name, "category", _CATEGORIES[of], known.get(column.name, {}), None)


def _number(value: Value, period: float | None) -> float | None:
    """A finite number, or NaN; None where it is none or takes a table to tell."""
    if value is None:
        return nan
    if type(value) not in _NUMBERS:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if number in (inf, -inf):
        return None
    if period is not None and not isnan(number):
        number %= period
        return 0.0 if number == period else number
    return number


def _is_text(value: Value) -> bool:
    """Whether a value is a text whose words can be read; what is no Unicode, tables refuse."""
    if type(value) is not str:
        return False
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def _strange(value: Value) -> int:
    """The code of a value that is not of the type of its column: only missing ones have one."""
    missing = value is None or (type(value) is float and value != value)
    return -1 if missing else _ODD


def _unknown(value: Value, known: dict[Value, int], *, grow: bool) -> int:
    """The code of a category that is not known: one more than there are; of no text, missing."""
    if not _is_category(value):
        return _ODD
    if not grow:
        return -1 if value == "" else len(known)
    known[value] = len(known)
    return known[value]


def _is_category(value: Value) -> bool:
    """Whether a value that is not known can be counted."""
    if type(value) is int:
        return bool(-(2**63) <= value < 2**63)
    if type(value) is str and not value.isascii():
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return False
    return True


def row_batch(row: Row, caster: Caster, *, strict: bool = False) -> Batch:
    """A row as a batch, cast to the types of training; a column that it lacks is missing.

    >>> from deciban.schema import ColumnSchema, Schema
    >>> row_batch({"n": "3"}, Caster(Schema((ColumnSchema("n", "numeric", ""),)))).tolist()
    [{'n': 3.0}]
    """
    names = caster.schema.names
    columns = {name: objects.column(name, [row[name]]) for name in names if name in row}
    return caster.cast(Batch(1, columns), strict=strict)
