"""One rule for what comes after training: a value is cast to the type that its column had then.

====================  ==============================================================================
the column had        what is cast to it
====================  ==============================================================================
numbers               numbers of any type; texts that are; true is 1 and false 0, also as texts
whole numbers         the same, where they are whole: 1.0 and "1" are 1
true or false         1 and 0; true, false, yes, no, t, f, y, n, on, off as texts, in any case
texts                 anything, as it is written: 1 and 1.0 are "1", or "1.0" where only that is
                      known; true is "true", or "True" where only that is known; times in ISO form
dates, timestamps,    each other, as far as the one holds the other; texts in ISO form
times of a day
====================  ==============================================================================

Whole numbers, truth values and texts are types of categories. What cannot be cast is missing. In
every column but one of texts, a text of blanks or one of the usual markers such as "NA" is missing.
Texts are read as the fields of the training file were written, such as 1.234,5, or else plainly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding.target import Labelled
from deciban.errors import InputError
from deciban.kernels.dictionary import Dictionary
from deciban.kernels.texts import utf8
from deciban.schema import ColumnSchema
from deciban.sources import objects
from deciban.sources.columns import (
    Booleans,
    Column,
    Integers,
    Mask,
    Mixed,
    Numbers,
    Strings,
    Times,
    concatenate,
    decode_dictionary,
    missing_column,
)
from deciban.sources.formats import Format, parse
from deciban.sources.literals import parse_boolean, parse_integer, parse_number, parse_time
from deciban.sources.options import USUAL_MARKERS
from deciban.sources.tabular import Value

__all__ = [
    "ColumnType",
    "cast",
    "cast_labels",
    "check_same_types",
    "refuse",
    "type_of_values",
]

#: The type of a column's values; ``"any"`` where they are of several types, or none is known yet.
ColumnType = Literal["number", "integer", "boolean", "text", "date", "timestamp", "time", "any"]
#: A column, and the rows whose values could not be cast.
Result: TypeAlias = tuple[Column, Mask]

_NONE = np.empty(0, dtype=bool)
_EMPTY: Mapping[ColumnType, Column] = {
    "number": Numbers(np.empty(0)),
    "integer": Integers(np.empty(0, np.int64), _NONE),
    "boolean": Booleans(_NONE, _NONE),
    "text": Strings(np.zeros(1, np.int64), np.empty(0, np.uint8), _NONE),
    "date": Times(np.empty(0, np.int64), _NONE, "date"),
    "timestamp": Times(np.empty(0, np.int64), _NONE, "timestamp"),
    "time": Times(np.empty(0, np.int64), _NONE, "time"),
}
#: Truth values as files write them.
_NUMBER_OF_TRUTH = {"true": "1", "false": "0"}
_DAY = 24 * 3600 * 10**6  # in microseconds
#: So many values are named in an error.
MAX_NAMED_VALUES = 3


def check_same_types(one: Mapping[str, ColumnType], other: Mapping[str, ColumnType]) -> None:
    """Refuse to put models together whose categories are of different types: "1" is not 1.

    >>> check_same_types({"zone": "text"}, {"zone": "integer"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: column 'zone' has text as categories in one model and integer ...
    """
    for name, of in one.items():
        pair = {of, other.get(name, of)}
        if len(pair) > 1 and "any" not in pair and pair != {"integer", "number"}:
            raise InputError(
                f"column {name!r} has {of} as categories in one model and {other[name]} in the "
                "other.",
                hint="train both on the same types of values",
            )


def type_of_values(known: labels.Labels) -> ColumnType:
    """The type of some labels; ``"any"`` where they are of several types, or there are none.

    >>> type_of_values(np.array(["a", "b"])), type_of_values(np.array([1, "b"], dtype=object))
    ('text', 'any')
    """
    kinds: dict[str, ColumnType] = {"b": "boolean", "i": "integer", "f": "number", "U": "text"}
    if known.dtype.kind in kinds:
        return kinds[known.dtype.kind]
    words = len(known) > 0 and all(isinstance(value, str) for value in known.tolist())
    return "text" if words else "any"


def cast(
    column: ColumnSchema, of: ColumnType, values: Column, known: Collection[Value] = ()
) -> Result:
    """Values as a type, and which of them cannot be: those are missing.

    ``known`` are the values of a category, among which a text is spelled if it can be.

    >>> zone = ColumnSchema("zone", "categorical", "")
    >>> cast(zone, "integer", objects.column("zone", ["1", "2.0", "x", None]))[0].tolist()
    [1, 2, None, None]
    >>> cast(zone, "text", objects.column("zone", [1.0, 2.5]), {"1.0"})[0].tolist()
    ['1.0', '2.5']
    """
    if of == "any":
        of = "text" if isinstance(values, Times) else "any"
    if of == "any" or values.missing.all():
        n = len(values)
        return (values if of == "any" else missing_column(_EMPTY[of], n)), np.zeros(n, bool)
    if isinstance(values, Mixed):
        return _cast_each(column, of, values, known)
    if of == "text":
        return _to_text(values, known)
    if isinstance(values, Strings):
        return _parse(column, of, values)
    return _CONVERSIONS.get(of, _to_time)(values, of)


def refuse(column: ColumnSchema, bad: Mask, values: Column) -> InputError:
    """The error about values that cannot be cast, where rows are counted."""
    rows: NDArray[np.intp] = np.flatnonzero(bad)
    named = list(dict.fromkeys(values.take(rows[:1000]).tolist()))
    shown = ", ".join(f"{str(value)[:40]!r}" for value in named[:MAX_NAMED_VALUES])
    more = ", ..." if len(named) > MAX_NAMED_VALUES else ""
    what = "the text " if isinstance(values, Strings) else ""
    return InputError(
        f"column {column.name!r} is {column.unit or column.kind} and has {what}{shown}{more}.",
        hint=f"state kinds={{{column.name!r}: 'categorical'}}, or clean it",
    )


def cast_labels(labelled: Labelled, classes: labels.Labels) -> Labelled:
    """Labels in the type of known classes: "1" is the class 1. What is no class stays as it is.

    >>> cast = cast_labels(Labelled(np.array(["1", "x"], dtype=object), np.array([0, 1])),
    ...                    np.array([0, 1]))
    >>> cast.classes[cast.codes].tolist()
    [1, 'x']
    """
    unknown = np.flatnonzero(labels.positions(labelled.classes, classes) < 0)
    of = type_of_values(classes)
    if of == "any" or not len(unknown):
        return labelled
    values, known = labelled.classes.tolist(), classes.tolist()
    for i in unknown.tolist():
        came = objects.column("", [values[i]])
        label = cast(ColumnSchema("", "categorical", ""), of, came, known)[0].tolist()[0]
        values[i] = label if label in known else values[i]
    distinct, at = labels.factorise(labels.object_array(values))
    return Labelled(labels.label_array(distinct.tolist()), np.append(at, -1)[labelled.codes])


def _cast_each(
    column: ColumnSchema, of: ColumnType, mixed: Mixed, known: Collection[Value]
) -> Result:
    """Values of several types, each as it is cast where it is among its own."""
    rows, casts, uncast = [], [], []
    for own, came in objects.of_one_kind(column.name, mixed):
        values, bad = cast(column, of, came, known)
        rows.append(own)
        casts.append(
            values.numbers() if isinstance(values, Integers) and of == "number" else values
        )
        uncast.append(bad)
    back = np.argsort(np.concatenate(rows))
    return concatenate(casts).take(back), np.concatenate(uncast)[back]


# ---------------------------------------------------------------------- texts


def _parse(column: ColumnSchema, of: ColumnType, texts: Strings) -> Result:
    """What texts say; each different one is read once."""
    table = Dictionary()
    codes = table.encode(texts.offsets, texts.data, texts.missing)
    texts_seen = list(map(str.strip, table.labels()))
    marked = [text in USUAL_MARKERS for text in texts_seen]
    written = _written_values(column, texts_seen)
    values = [
        None if mark else _parse_text(of, text if form is None else form)
        for text, mark, form in zip(texts_seen, marked, written, strict=True)
    ]
    bad = [value is None and not mark for value, mark in zip(values, marked, strict=True)]
    none = all(value is None for value in values)
    distinct = missing_column(_EMPTY[of], len(values)) if none else objects.column("", values)
    return decode_dictionary(distinct, codes), np.append(bad, False)[codes].astype(bool)


def _written_values(column: ColumnSchema, texts: Sequence[str | None]) -> list[Value]:
    """Values of texts that are written as those of training were, such as 1.234,5; else None."""
    form = Format(column.format)
    if not column.format or not (form.kind or form.is_pattern):
        return [None] * len(texts)
    column_of_texts = Strings(*utf8(list(texts)))
    ways = [parse(column_of_texts, each).tolist() for each in (form, *form.with_thousands)]
    return [
        next((value for value in some if value is not None), None)
        for some in zip(*ways, strict=True)
    ]


def _parse_text(of: ColumnType, text: Value) -> Any:
    """The value of a text, or None: the one place where texts are read as a column's type."""
    if not isinstance(text, str):
        return text
    text = _NUMBER_OF_TRUTH.get(text.lower(), text) if of in ("number", "integer") else text
    if of == "number":
        return parse_number(text)
    if of == "integer":
        return parse_integer(text)
    return parse_boolean(text) if of == "boolean" else parse_time(of, text)


# ---------------------------------------------------------------------- other types


def _to_number(values: Column, of: ColumnType) -> Result:
    if isinstance(values, Booleans):
        filled = np.where(values.missing, np.nan, values.values)
        return Numbers(filled, whole=True), np.zeros(len(values), bool)
    return (
        _unlike(values, of) if isinstance(values, Times) else (values, np.zeros(len(values), bool))
    )


def _to_integer(values: Column, of: ColumnType) -> Result:
    if isinstance(values, Times | Strings):
        return _unlike(values, of)
    whole = values.values
    if isinstance(values, Numbers):
        with np.errstate(invalid="ignore"):
            fits = (whole % 1 == 0) & (np.abs(whole) < 2.0**63)
        whole = np.where(fits, whole, 0)
        return Integers(whole.astype(np.int64), ~fits), ~fits & ~values.missing
    return Integers(whole.astype(np.int64), values.missing), np.zeros(len(values), bool)


def _to_boolean(values: Column, of: ColumnType) -> Result:
    if isinstance(values, Times | Strings):
        return _unlike(values, of)
    fits = ((values.values == 0) | (values.values == 1)) & ~values.missing
    return Booleans((values.values == 1) & fits, ~fits), ~fits & ~values.missing


def _to_time(values: Column, of: ColumnType) -> Result:
    """A timestamp is cut to its date or to its time of day; a date is its midnight."""
    if not isinstance(values, Times) or of not in ("date", "timestamp", "time"):
        return _unlike(values, of)
    if values.unit != of and ({values.unit, of} == {"date", "time"} or values.unit == "time"):
        return _unlike(values, of)
    moments = values.values
    if values.unit == "timestamp" and of != "timestamp":
        since_midnight = moments % _DAY
        moments = moments - since_midnight if of == "date" else since_midnight
    return Times(moments, values.missing, of), np.zeros(len(values), bool)


def _unlike(values: Column, of: ColumnType) -> Result:
    """No value can be cast."""
    return missing_column(_EMPTY[of], len(values)), ~values.missing


_CONVERSIONS: Mapping[ColumnType, Callable[[Column, ColumnType], Result]] = {
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
}


def _to_text(values: Column, known: Collection[Value]) -> Result:
    """Values as they are written; each different one is written once."""
    bad = np.zeros(len(values), bool)
    if isinstance(values, Strings):
        return values, bad
    distinct, codes = labels.factorise(values.values)
    each = values.with_values(distinct, np.zeros(len(distinct), bool))
    words: list[str | None] = [_spell(value, known) for value in each.tolist()]
    at = np.where(values.missing, -1, codes).astype(np.int64)
    return decode_dictionary(Strings(*utf8(words)), at), bad


def _spell(value: Value, known: Collection[Value]) -> str:
    """The first way to write a value that is known; the first of all if none is."""
    if isinstance(value, bool):
        ways = ["true", "True", "TRUE"] if value else ["false", "False", "FALSE"]
    elif isinstance(value, float) and value.is_integer():
        ways = [str(int(value)), repr(value)]
    elif isinstance(value, int):
        ways = [str(value), f"{value}.0"]
    else:
        ways = [str(value), str(value).replace(" ", "T")]
    return next((way for way in ways if way in known), ways[0])
