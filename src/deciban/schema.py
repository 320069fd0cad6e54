"""What each column of a table is, and why.

====================  ================================================================
kind                  rule, on the first rows of a table
====================  ================================================================
``numeric``           numbers; whole or not, few values or many: whether a bell curve,
                      bins or every value by itself serves best is chosen after counting.
                      Also texts that do not repeat and are all numbers, and columns
                      without any value
``categorical``       texts that repeat
``boolean``           true or false: a category with two values
``time``              dates and times: a number, and the hour of the day and the day of
                      the week as categories
``text``              texts that do not repeat, of several words each: a bag of words
``identifier``        texts that do not repeat, of one word or two, or the whole numbers
                      one after the other: ignored, they say nothing about new rows
====================  ================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from deciban.errors import InputError, ParameterError
from deciban.kernels.dictionary import Dictionary
from deciban.sources import naming
from deciban.sources.columns import (
    Batch,
    Booleans,
    Column,
    Integers,
    Numbers,
    Strings,
    Times,
    taken,
)

Kind = Literal["numeric", "categorical", "boolean", "time", "text", "identifier"]

#: Kinds are inferred from about this many rows.
SAMPLE = 10_000
#: A text column with a larger share of different values does not repeat.
DISTINCT = 0.5
#: Fewer rows are too few to say that values do not repeat.
FEW = 20
#: ... or, where they are sentences, fewer than this.
FEWER = 4
#: Texts with at least this many words on average are sentences.
WORDS = 3.0
#: So many texts are looked at for that.
LOOKED_AT = 1_000
#: Characters of scripts that put no spaces between words: each is about a word.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class ColumnSchema:
    """A column's name, its kind, and the reason for it."""

    name: str
    kind: Kind
    reason: str
    unit: Literal["", "date", "timestamp", "time"] = ""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numeric columns that it is counted as."""
        return (self.name,) if self.kind in ("numeric", "time") else ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The column itself, if it is a text."""
        return (self.name,) if self.kind == "text" else ()

    @property
    def categories(self) -> tuple[str, ...]:
        """The categorical columns that it is counted as."""
        if self.kind in ("categorical", "boolean"):
            return (self.name,)
        hour = (f"{self.name} (hour)",) if self.unit in ("timestamp", "time") else ()
        day = (f"{self.name} (weekday)",) if self.unit in ("timestamp", "date") else ()
        return hour + day if self.kind == "time" else ()


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    >>> table = Batch(2, {"age": Numbers(np.array([41.0, 27.5]))})
    >>> print(infer([table]))
    age  numeric  numbers
    """

    columns: tuple[ColumnSchema, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns, also those that are ignored."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The numeric columns that are counted."""
        return tuple(name for column in self.columns for name in column.numbers)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The categorical columns that are counted."""
        return tuple(name for column in self.columns for name in column.categories)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns of text."""
        return tuple(name for column in self.columns for name in column.texts)

    def __str__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        lines = (f"{c.name:{width}}  {c.kind}  {c.reason}" for c in self.columns)
        return "\n".join(lines)


def infer(sample: list[Batch], stated: Mapping[str, str] | None = None) -> Schema:
    """The schema of some rows of a table; kinds that are stated are taken as they are."""
    if not sample:
        return Schema(())
    names = tuple(sample[0].columns)
    for name, kind in (stated or {}).items():
        _check_stated(name, kind, names)
    return Schema(
        tuple(
            _column(name, [b.columns[name] for b in sample], (stated or {}).get(name))
            for name in names
        )
    )


def check_same(one: Schema, other: Schema) -> None:
    """Refuse to put models of different columns together."""
    mine, theirs = ({c.name: (c.kind, c.unit) for c in side.columns} for side in (one, other))
    for name in {**mine, **theirs}:
        if mine.get(name) != theirs.get(name):
            sides = [side[name][0] if name in side else "absent" for side in (mine, theirs)]
            raise InputError(
                f"column {name!r} is {sides[0]} in one model and {sides[1]} in the other.",
                hint="state the kinds of columns where inference differs",
            )


def nothing_to_learn(schema: Schema) -> InputError:
    """No column is of use: what each of them is."""
    reasons = "; ".join(f"{c.name!r} is {c.kind} ({c.reason})" for c in schema.columns[:3])
    return InputError(
        f"no column is left to learn from: {reasons}.",
        hint="state what a column is, such as kinds={'name': 'categorical'}",
    )


def _check_stated(name: str, kind: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise naming.unknown(name, names)
    if kind not in get_args(Kind):
        raise ParameterError(
            f"the kind of column {name!r} is one of {', '.join(get_args(Kind))}; got {kind!r}.",
            hint="leave it out to have it inferred",
        )


def _column(name: str, parts: list[Column], stated: str | None) -> ColumnSchema:
    first = parts[0]
    unit = first.unit if isinstance(first, Times) else ""
    if stated is not None:
        _check_possible(name, first, stated)
        return ColumnSchema(name, stated, "as stated", unit)  # type: ignore[arg-type]
    if isinstance(first, Times):
        return ColumnSchema(name, "time", f"a {first.unit}", unit)
    if isinstance(first, Booleans):
        return ColumnSchema(name, "boolean", "true or false")
    if isinstance(first, Strings):
        return ColumnSchema(name, *_of_texts([p for p in parts if isinstance(p, Strings)]))
    numbers = [p for p in parts if isinstance(p, Numbers | Integers)]
    if all(bool(p.missing.all()) for p in numbers):
        return ColumnSchema(name, "numeric", "no value at all: it says nothing")
    if _consecutive(numbers):
        return ColumnSchema(name, "identifier", "whole numbers one after the other: a row number")
    return ColumnSchema(name, "numeric", "numbers")


def _check_possible(name: str, column: Column, stated: str) -> None:
    """Only dates and times are times; whether texts are numbers shows when they are read."""
    if stated == "time" and not isinstance(column, Times):
        raise ParameterError(
            f"column {name!r} cannot be {stated}: it holds {type(column).__name__.lower()}.",
            hint="convert it first, or leave its kind out",
        )


def _of_texts(parts: list[Strings]) -> tuple[Kind, str]:
    known = sum(int(np.count_nonzero(~p.missing)) for p in parts)
    table = Dictionary()
    for p in parts:
        table.encode(p.offsets, p.data, p.missing)
    distinct = len(table)
    repeated = distinct <= DISTINCT * known
    words = 0.0 if repeated else _words_each(parts[0])
    few = known < (FEW if words < WORDS else FEWER)
    if few or repeated:
        return "categorical", f"texts: {distinct:,} different values in {known:,}"
    if all(number(label) is not None for label in table.labels()):
        return "numeric", "numbers written as text"
    said = f"{distinct:,} different texts in {known:,} rows"
    if words >= WORDS:
        return "text", f"{said}, of {words:.0f} words each"
    return "identifier", f"{said}: ignored, it would not be seen again"


def _words_each(texts: Strings) -> float:
    """About how many words a text has, by the first of those that have any letter."""
    written = np.flatnonzero(~texts.missing & (np.diff(texts.offsets) > 0))[:LOOKED_AT]
    some = map(str, taken(texts, written).tolist())
    n_words = sum(len(text.split()) + len(UNSPACED.findall(text)) for text in some)
    return n_words / max(1, len(written))


def number(text: str) -> float | None:
    """The finite number that a text is, or None; an empty text is a missing one.

    >>> number(" 1.5e3 "), number(""), number("1_000")
    (1500.0, nan, None)
    """
    if not text.strip():
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") and "_" not in text else None


def _consecutive(parts: list[Numbers | Integers]) -> bool:
    """Whether the values are i, i + 1, i + 2, ..."""
    values = np.concatenate([np.asarray(p.values, dtype=np.float64) for p in parts])
    missing = any(bool(p.missing.any()) for p in parts)
    with np.errstate(over="ignore"):
        return not missing and len(values) >= FEW and bool(np.all(np.diff(values) == 1))
