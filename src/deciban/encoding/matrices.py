"""Batches to matrices: what is counted, and what is scored.

First the columns are cast to the types that they had in training. Those of a schema then become
two matrices: *numbers*, floats with NaN for a missing value, and *codes* of categories with -1
for it. A time is both: its seconds are a number; the hour of the day and the day of the week are
categories. Cyclic numbers are taken modulo their period.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding import casting
from deciban.encoding.casting import ColumnType
from deciban.encoding.target import Labelled, class_codes
from deciban.errors import InputError, MissingValueError
from deciban.kernels.categorical import count_column
from deciban.kernels.dictionary import Dictionary
from deciban.labels import Labels
from deciban.schema import ColumnSchema, Schema
from deciban.sources import objects
from deciban.sources.batch import Batch, Uncast
from deciban.sources.columns import (
    Booleans,
    CodedTexts,
    Column,
    Integers,
    Numbers,
    Strings,
    TextCodes,
    TextList,
    Times,
)
from deciban.sources.tabular import Row, Value

__all__ = [
    "Caster",
    "Lookup",
    "categories",
    "category_codes",
    "category_columns",
    "column_classes",
    "encode",
    "factorise",
    "numbers",
    "text_column",
    "unseen_rows",
]

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]
Coded = tuple[Labels, Codes | TextCodes]

_SECOND, _HOUR, _DAY = 10**6, 3600 * 10**6, 24 * 3600 * 10**6  # in microseconds
#: The columns that have a type as they are.
_FITTING: Mapping[ColumnType, tuple[type, ...]] = {
    "number": (Numbers, Integers),
    "integer": (Integers,),
    "boolean": (Booleans,),
    "text": (Strings, TextList, CodedTexts),
    "any": (Numbers, Integers, Booleans, Strings, TextList, CodedTexts),
}
_NO_ROWS: NDArray[np.intp] = np.empty(0, dtype=np.intp)
_NO_VALUES: Labels = np.empty(0, dtype=object)
_ALL = (*_FITTING["any"], Times)
#: Integers that span no more than this many times their number, and so many more, have a table.
_SPREAD, _SPREAD_MORE = 8, 1024


@dataclass(frozen=True, eq=False)
class Caster:
    """The types that the columns of a model had in training: what comes later is cast to them.

    ``known`` has the values of categories. Without any, as in training itself, the kind that is
    stated of a column rules alone. Columns of the kinds ``ignored`` are left as they are. A
    column that is not there has its value of ``absent`` in every row, or is missing.
    :mod:`deciban.encoding.casting` has the rule.

    >>> from deciban.sources import batches
    >>> rows = next(batches({"age": ["41", "old"]}))
    >>> cast = Caster(Schema((ColumnSchema("age", "numeric", ""),))).cast(rows)
    >>> cast.tolist(), cast.uncast["age"].rows
    ([{'age': 41.0}, {'age': None}], array([1]))
    """

    schema: Schema
    known: Mapping[str, Labels] = field(default_factory=dict)
    ignored: tuple[str, ...] = ("identifier",)
    absent: Row = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[str, ColumnType]:
        """The type of every column that is used, by its kind and the categories known of it.

        >>> schema = Schema((ColumnSchema("zone", "categorical", ""),))
        >>> Caster(schema, {"zone": np.array([1, 2])}).types
        {'zone': 'integer'}
        """
        types: dict[str, ColumnType] = {}
        for column in self.schema.columns:
            name, kind = column.name, column.kind
            if kind in self.ignored:
                continue
            if kind in ("categorical", "boolean"):
                values = self.known.get(name, _NO_VALUES)
                nothing: ColumnType = "boolean" if kind == "boolean" else "any"
                types[name] = casting.type_of_values(values) if len(values) else nothing
            else:
                types[name] = "text" if kind == "text" else column.unit or "number"
        return types

    @cached_property
    def _field_types(self) -> dict[str, str]:
        plain = {name: of for name, of in self.types.items() if of in ("text", "number")}
        return {**plain, **self.schema.field_types}

    def field_types(
        self, target: str | None = None, classes: Labels | None = None
    ) -> Mapping[str, str]:
        """How columns were written in training, where the fields of a small file may mislead.

        A category "1" beside "x" is a text, also in a file where all categories look like
        numbers; and so are the labels in the column ``target``, if the classes are texts.

        >>> schema = Schema((ColumnSchema("zone", "categorical", ""),))
        >>> Caster(schema, {"zone": np.array(["1", "x"])}).field_types()
        {'zone': 'text'}
        """
        if target is None or classes is None or casting.type_of_values(classes) != "text":
            return self._field_types
        return {**self._field_types, target: "text"}

    @cached_property
    def _fitting(self) -> list[tuple[str, tuple[type, ...], str]]:
        """By column: the classes that need no cast, and the unit of times."""
        types = [(name, self.types.get(name)) for name in self.schema.names]
        return [(n, _ALL if of is None else _FITTING.get(of, ()), of or "") for n, of in types]

    def cast(self, batch: Batch, *, strict: bool = False) -> Batch:
        """The rows in the columns and types of training; what cannot be cast is missing.

        ``strict`` refuses such values: rows that are counted have none.
        """
        columns = batch.columns
        odd = [
            j
            for j, (name, fitting, of) in enumerate(self._fitting)
            if type(column := columns.get(name)) not in fitting
            and not (type(column) is Times and column.unit == of)
        ]
        return self._cast(batch, odd, strict) if odd else batch

    def _cast(self, batch: Batch, odd: Sequence[int], strict: bool) -> Batch:
        """The rows with some columns cast, which are not of their type or not there."""
        columns, uncast = dict(batch.columns), dict(batch.uncast)
        for column in (self.schema.columns[j] for j in odd):
            name = column.name
            of, came = self.types.get(name), columns.get(name)
            came = self._fill(name, batch.n_rows) if came is None else came
            if of is None:
                columns[name] = came
                continue
            columns[name], bad = casting.cast(column, of, came, self._spelled(name))
            if bad.any():
                if strict:
                    raise casting.refuse(column, bad, came)
                uncast[name] = Uncast(np.flatnonzero(bad), came)
        return Batch(batch.n_rows, columns, uncast)

    def _fill(self, name: str, n_rows: int) -> Column:
        """A column that is not there."""
        value = self.absent.get(name)
        if value is None:
            return Numbers(np.full(n_rows, np.nan))
        return objects.column(name, [value] * n_rows)

    def _spelled(self, name: str) -> Collection[Value]:
        """The categories among which a text is spelled."""
        known = self.known.get(name)
        return () if known is None or self.types[name] != "text" else set(known.tolist())


def encode(schema: Schema, lookups: Sequence[Lookup], batch: Batch) -> tuple[FloatArray, Codes]:
    """The numbers of some rows, and the codes of their categories among known ones."""
    codes = category_codes(lookups, category_columns(schema, batch), batch.n_rows)
    return numbers(schema, batch), codes


def numbers(schema: Schema, batch: Batch) -> FloatArray:
    """The numeric columns, (rows, columns); infinity is refused."""
    columns = schema.numeric_columns
    out = np.empty((batch.n_rows, len(columns)))
    for j, column in enumerate(columns):
        out[:, j] = _floats(column, batch.columns[column.name])
    if np.isinf(out).any():
        row, j = np.argwhere(np.isinf(out))[0]
        raise MissingValueError(
            f"Input X contains infinity in column {columns[j].name!r}: {out[row, j]}.",
            hint="replace it by a large finite number, or leave it out as missing",
        )
    for j, period in schema.periods.items():
        out[:, j] = _wrap(out[:, j], period)
    return out


def _wrap(values: FloatArray, period: float) -> FloatArray:
    """Values modulo a period; what rounding makes a whole period is zero."""
    rest = np.mod(values, period)
    return np.where(rest == period, 0.0, rest)


def category_columns(schema: Schema, batch: Batch) -> list[Column]:
    """The categorical columns, derived ones included."""
    return [
        derived
        for column in schema.columns
        for derived in _derive(column, batch.columns[column.name])
    ]


def text_column(batch: Batch, name: str) -> Strings:
    """A column of texts."""
    column = batch.columns[name]
    if isinstance(column, Strings):
        return column
    raise _not_cast(ColumnSchema(name, "text", ""), column)


def _floats(column: ColumnSchema, values: Column) -> FloatArray:
    if isinstance(values, Numbers):
        return values.values
    if isinstance(values, Strings | Booleans) or isinstance(values, Times) != bool(column.unit):
        raise _not_cast(column, values)
    known = values.values / _SECOND if isinstance(values, Times) else values.values
    return np.where(values.missing, np.nan, known)


def _not_cast(column: ColumnSchema, values: Column) -> InputError:
    return InputError(
        f"column {column.name!r} was {column.unit or column.kind} in training and holds "
        f"{type(values).__name__.lower()} now.",
        hint="cast the rows first: model.caster.cast(batch)",
    )


def _derive(column: ColumnSchema, values: Column) -> list[Column]:
    """A category as it is; a time's hour and day of the week, Monday being 0."""
    if column.kind in ("categorical", "boolean"):
        return [values]
    if column.kind != "time":
        return []
    if not isinstance(values, Times):
        raise _not_cast(column, values)
    out: list[Column] = []
    if column.unit in ("timestamp", "time"):
        out.append(Integers(values.values // _HOUR % 24, values.missing))
    if column.unit in ("timestamp", "date"):
        out.append(Integers((values.values // _DAY + 3) % 7, values.missing))
    return out


def factorise(column: Column) -> tuple[Labels, Codes]:
    """The values that a column has, and the code of each row; -1 is missing."""
    if isinstance(column, CodedTexts) and len(column.dictionary) <= len(column):
        values, codes = known_codes(column)
        used = count_column(codes, np.zeros(len(codes), np.intp), None, len(values), 1)[0] > 0
        return values[used], np.append(np.cumsum(used) - 1, -1)[codes]
    if isinstance(column, Strings):
        return _factorise_texts(column)
    values, at = labels.factorise(column.values)
    if isinstance(column, Numbers):
        return values, at.astype(np.int64)
    return values, np.where(column.missing, -1, at)


def categories(schema: Schema, batch: Batch, max_texts: int) -> list[Coded]:
    """Values and codes of the categorical columns; few texts of a dictionary need not all occur."""
    return [
        known_codes(column)
        if isinstance(column, CodedTexts) and len(column.dictionary) <= max_texts
        else factorise(column)
        for column in category_columns(schema, batch)
    ]


def known_codes(column: CodedTexts) -> Coded:
    """The texts of a dictionary, each once, and the code of each row among them; -1 is missing."""
    values, places = _factorise_texts(column.dictionary)
    once = len(values) == len(places)
    return values, column.codes if once else np.append(places, -1)[column.codes]


def _factorise_texts(column: Strings) -> tuple[Labels, Codes]:
    table = Dictionary()
    codes = table.encode(column.offsets, column.data, column.missing)
    return labels.label_array(table.labels()), codes


@dataclass(frozen=True, eq=False)
class Lookup:
    """The codes of known values: ``S`` for one that is not known, -1 for a missing one.

    An empty text that is not known is missing.
    """

    known: Labels

    @cached_property
    def _texts(self) -> Dictionary | None:
        """The values as texts, if all of them are."""
        values = self.known.tolist()
        return Dictionary(values) if all(isinstance(v, str) for v in values) else None

    @cached_property
    def _table(self) -> tuple[int, Codes] | None:
        """The least value and the codes of it and those above, if values are close together."""
        if self.known.dtype.kind not in "ib" or not len(self.known):
            return None
        known = self.known.astype(np.int64)
        low, size = int(known.min()), int(known.max()) - int(known.min()) + 1
        if size > _SPREAD * len(known) + _SPREAD_MORE:
            return None
        codes = np.full(size, len(known), dtype=np.int64)
        codes[known - low] = np.arange(len(known))
        return low, codes

    def fill(self, column: Column, out: Codes) -> None:
        """Write the code of each row of a column."""
        if isinstance(column, Strings) and self._texts is not None:
            out[:] = self._texts.lookup(column.offsets, column.data, column.missing)
            unknown = out == -2
            if unknown.any():
                empty = np.diff(column.offsets) == 0
                out[unknown] = np.where(empty[unknown], -1, len(self.known))
        elif isinstance(column, Integers | Booleans) and self._table is not None:
            low, codes = self._table
            at = column.values.astype(np.int64, copy=False)
            near = (at >= low) & (at <= low + len(codes) - 1)
            out[:] = np.where(near, codes[np.where(near, at - low, 0)], len(self.known))
            out[column.missing] = -1
        else:
            values, codes = factorise(column)
            at = labels.positions(values, self.known)
            out[:] = np.append(np.where(at < 0, len(self.known), at), -1)[codes]

    def unseen(self, column: Column) -> NDArray[np.intp]:
        """The rows whose value is not known."""
        if isinstance(column, Booleans) and len(self.known) == 2:
            return _NO_ROWS
        if isinstance(column, Strings) and self._texts is not None:
            known = self._texts.lookup(column.offsets, column.data, column.missing)
            if known.min(initial=0) > -2:
                return _NO_ROWS
        codes = np.empty(len(column), dtype=np.int64)
        self.fill(column, codes)
        return np.flatnonzero(codes == len(self.known))


def unseen_rows(
    schema: Schema, lookups: Sequence[Lookup], batch: Batch
) -> dict[str, NDArray[np.intp]]:
    """The rows in which a category was never seen, by column; what is derived from times is not."""
    columns, unseen = batch.columns, {}
    for name, lookup in zip(schema.categories, lookups, strict=True):
        column = columns.get(name)
        rows = _NO_ROWS if column is None else lookup.unseen(column)
        if len(rows):
            unseen[name] = rows
    return unseen


def category_codes(lookups: Sequence[Lookup], columns: Sequence[Column], n_rows: int) -> Codes:
    """The codes of categorical columns among known values, (rows, columns)."""
    out = np.empty((n_rows, len(columns)), dtype=np.int64)
    for j, (lookup, column) in enumerate(zip(lookups, columns, strict=True)):
        lookup.fill(column, out[:, j])
    return out


def column_classes(column: Column) -> Labelled:
    """A column of labels: the classes in order, and the code of each row; -1 is missing.

    >>> labelled = column_classes(Integers(np.array([7, 3, 7]), np.zeros(3, bool)))
    >>> labelled.classes, labelled.codes
    (array([3, 7]), array([1, 0, 1]))
    """
    if isinstance(column, Strings):
        texts, codes = factorise(column)
        return Labelled(*labels.sort_codes(texts.tolist(), codes))
    if isinstance(column, Numbers):
        return class_codes(column.values, "target", missing=True)
    if isinstance(column, Integers | Booleans) and not column.missing.any():
        return class_codes(column.values, "target")
    return Labelled(*labels.factorise(labels.object_array(column.tolist())))
