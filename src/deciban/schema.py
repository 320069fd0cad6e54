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
``cyclic:PERIOD``     numbers that begin again after a period, such as ``cyclic:360`` of
                      degrees: only where it is stated; values are taken modulo the period
====================  ================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from deciban.errors import InputError, ParameterError
from deciban.kernels.dictionary import Dictionary
from deciban.kinds import CYCLIC, HOUR, WEEKDAY, Inferred, check_kind, period_of
from deciban.sources import column_names, formats
from deciban.sources.batch import Batch
from deciban.sources.columns import Booleans, Column, Integers, Numbers, Strings, Times
from deciban.sources.formats import Format, text_types
from deciban.sources.literals import parse_number, time_unit

#: Kinds are inferred from about this many rows.
INFERENCE_ROWS = 10_000
#: A text column with a larger share of different values does not repeat.
MAX_DISTINCT_SHARE = 0.5
#: Fewer rows are too few to say that values do not repeat.
MIN_ROWS = 20
#: ... or, where they are sentences, fewer than this.
MIN_SENTENCE_ROWS = 4
#: Texts with at least this many words on average are sentences.
SENTENCE_WORDS = 3.0
#: So many texts are looked at for that.
SENTENCE_SAMPLE_TEXTS = 1_000
#: Characters of scripts that put no spaces between words: each is about a word. It is compiled
#: when a text is met, not whenever this is imported.
UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
#: Digits with a zero before them are a code, such as a postal one.
LEADING_ZERO = re.compile(r"\s*[+-]?0[0-9]")


@dataclass(frozen=True)
class ColumnSchema:
    """A column's name, its kind, and the reason for it."""

    name: str
    kind: str
    reason: str
    unit: Literal["", "date", "timestamp", "time"] = ""
    #: How its fields are written in files, see :mod:`deciban.sources.formats`; empty: plainly.
    format: str = ""

    @property
    def period(self) -> float | None:
        """After how much its numbers begin again; None where they do not."""
        return period_of(self.kind)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numeric columns that it is counted as."""
        counted = self.kind in ("numeric", "time") or self.kind.startswith(f"{CYCLIC}:")
        return (self.name,) if counted else ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The column itself, if it is a text."""
        return (self.name,) if self.kind == "text" else ()

    @property
    def categories(self) -> tuple[str, ...]:
        """The categorical columns that it is counted as."""
        return (self.name,) if self.kind in ("categorical", "boolean") else tuple(self.derived)

    @property
    def used(self) -> bool:
        """Whether it is counted at all: only then must a row have it."""
        return self.kind != "identifier"

    @property
    def derived(self) -> dict[str, str]:
        """The categories derived from a time, and their kinds."""
        if self.kind != "time":
            return {}
        hour = {f"{self.name} (hour)": HOUR} if self.unit in ("timestamp", "time") else {}
        day = {f"{self.name} (weekday)": WEEKDAY} if self.unit in ("timestamp", "date") else {}
        return hour | day


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    >>> table = Batch(2, {"age": Numbers(np.array([41.0, 27.5]))})
    >>> print(infer([table]))
    age  numeric  numbers
    """

    columns: tuple[ColumnSchema, ...]
    #: All columns, also those that are ignored, and those that are counted at all.
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    used: tuple[str, ...] = field(init=False, repr=False, compare=False)
    #: What is counted: the numbers, the columns that they are, the categories, and the texts.
    numbers: tuple[str, ...] = field(init=False, repr=False, compare=False)
    numeric_columns: tuple[ColumnSchema, ...] = field(init=False, repr=False, compare=False)
    categories: tuple[str, ...] = field(init=False, repr=False, compare=False)
    texts: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        derived = {
            "names": tuple(column.name for column in self.columns),
            "used": tuple(column.name for column in self.columns if column.used),
            "numbers": tuple(name for column in self.columns for name in column.numbers),
            "numeric_columns": tuple(column for column in self.columns if column.numbers),
            "categories": tuple(name for column in self.columns for name in column.categories),
            "texts": tuple(name for column in self.columns for name in column.texts),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @cached_property
    def periods(self) -> dict[int, float]:
        """The periods of cyclic columns, by their place among the numeric ones."""
        cyclic = f"{CYCLIC}:"
        pairs = ((j, c) for j, c in enumerate(self.numeric_columns) if c.kind.startswith(cyclic))
        return {j: float(column.kind.removeprefix(cyclic)) for j, column in pairs}

    @cached_property
    def counted_kinds(self) -> dict[str, str]:
        """The kind of each counted column; what is derived from a time has its own."""
        derived = {name: kind for c in self.columns for name, kind in c.derived.items()}
        return derived | {column.name: column.kind for column in self.columns}

    @cached_property
    def field_types(self) -> dict[str, str]:
        """The formats in which the fields of a file are to be read, as those of training were."""
        numbers = {c.name: "number" for c in self.columns if c.numbers and not c.unit}
        return numbers | text_types({column.name: column.format for column in self.columns})

    def __str__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        lines = (f"{c.name:{width}}  {c.kind}  {c.reason}" for c in self.columns)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        rows = [(c.name, c.kind, c.reason) for c in self.columns]
        return html_tables(("", [("column", "kind", "because"), *rows]))


def infer(
    sample: Sequence[Batch],
    stated: Mapping[str, str] | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Schema:
    """The schema of some rows of a table; kinds that are stated are taken as they are.

    ``formats`` say how columns were written, or what their type says that they are.
    """
    if not sample:
        return Schema(())
    kinds, names, written = stated or {}, tuple(sample[0].columns), formats or {}
    for name, kind in kinds.items():
        _check_stated(name, kind, names)
    return Schema(
        tuple(
            _infer_column(
                name, [b.columns[name] for b in sample], kinds.get(name), written.get(name)
            )
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


def check_columns(schema: Schema) -> None:
    """Some column must be left to learn from."""
    if not (schema.numbers or schema.categories or schema.texts):
        raise nothing_to_learn(schema)


def nothing_to_learn(schema: Schema) -> InputError:
    """No column is of use: what each of them is."""
    if not schema.columns:
        return InputError(
            "no column is left to learn from: there is none besides the labels.",
            hint="give a table with columns that say something about them",
        )
    reasons = "; ".join(f"{c.name!r} is {c.kind} ({c.reason})" for c in schema.columns[:3])
    return InputError(
        f"no column is left to learn from: {reasons}.",
        hint="state what a column is, such as kinds={'name': 'categorical'}",
    )


def _check_stated(name: str, kind: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise column_names.unknown(name, names)
    check_kind(name, kind)


def _infer_column(
    name: str, parts: list[Column], stated: str | None, written: Format | None
) -> ColumnSchema:
    first = parts[0]
    unit = first.unit if isinstance(first, Times) else ""
    form = written or (formats.TEXT if isinstance(first, Strings) else None)
    if stated is not None:
        kind, reason, unit = stated, "as stated", _stated_unit(name, parts, stated)
    else:
        kind, reason = _kind(parts, written)
        if kind == "time" and not unit:
            unit = formats.iso_unit([p for p in parts if isinstance(p, Strings)])
    if form is formats.TEXT and kind not in ("categorical", "text", "identifier"):
        form = None  # numbers that are written as text
    return ColumnSchema(name, kind, reason, unit, "" if form is None else form.name)


def _kind(parts: list[Column], written: Format | None) -> tuple[str, str]:
    """The kind of a column and the reason for it, by its type and its values."""
    first = parts[0]
    if written == formats.CATEGORY:
        return "categorical", "a categorical column"
    if written == formats.BAG:
        return "text", "lists of texts: a bag of words"
    described = "" if written is None else written.describe()
    if isinstance(first, Times):
        return "time", described or f"a {first.unit}"
    if isinstance(first, Booleans):
        return "boolean", "true or false"
    if isinstance(first, Strings):
        return _kind_of_texts([p for p in parts if isinstance(p, Strings)])
    kind, reason = _kind_of_numbers([p for p in parts if isinstance(p, Numbers | Integers)])
    return kind, described if described and kind == "numeric" else reason


def _stated_unit(
    name: str, parts: list[Column], stated: str
) -> Literal["", "date", "timestamp", "time"]:
    """The unit of a column of times, also of those that are written as text.

    Whether values can be of other kinds shows when they are cast.
    """
    first = parts[0]
    if isinstance(first, Times) and period_of(stated) is None:
        return first.unit
    if stated != "time" and not isinstance(first, Times):
        return ""
    texts = {str(text) for part in parts for text in part.tolist() if text is not None}
    unit = time_unit(texts) if isinstance(first, Strings) else ""
    if not unit:
        some = ", ".join(repr(text[:40]) for text in sorted(texts)[:3]) or "nothing"
        raise ParameterError(
            f"column {name!r} cannot be {stated}: it holds {type(first).__name__.lower()}: {some}.",
            hint="convert it first, such as to 2025-06-21, or leave its kind out",
        )
    return unit


def _kind_of_texts(parts: list[Strings]) -> tuple[Inferred, str]:
    known = sum(int(np.count_nonzero(~p.missing)) for p in parts)
    table = Dictionary()
    for p in parts:
        table.encode(p.offsets, p.data, p.missing)
    distinct = len(table)
    if known >= MIN_ROWS and (unit := formats.iso_unit(parts)):
        return "time", f"a {unit}"
    repeat = distinct <= MAX_DISTINCT_SHARE * known
    words = 0.0 if repeat else _words_per_text(parts[0])
    few = known < (MIN_ROWS if words < SENTENCE_WORDS else MIN_SENTENCE_ROWS)
    if few or repeat:
        return "categorical", f"texts: {distinct:,} different values in {known:,}"
    if all(parse_number(label) is not None for label in table.labels()) and not any(
        LEADING_ZERO.match(label) for label in table.labels()
    ):
        return "numeric", "numbers written as text"
    reason = f"{distinct:,} different texts in {known:,} rows"
    if words >= SENTENCE_WORDS:
        return "text", f"{reason}, of {words:.0f} words each"
    return "identifier", f"{reason}: ignored, none would be seen again; state its kind to keep it"


def _words_per_text(texts: Strings) -> float:
    """About how many words a text has, by the first of those that have any letter."""
    filled = np.flatnonzero(~texts.missing & (np.diff(texts.offsets) > 0))[:SENTENCE_SAMPLE_TEXTS]
    some = map(str, texts.take(filled).tolist())
    n_words = sum(len(text.split()) + len(re.findall(UNSPACED, text)) for text in some)
    return n_words / max(1, len(filled))


def _kind_of_numbers(parts: list[Numbers | Integers]) -> tuple[Inferred, str]:
    missing = np.concatenate([p.missing for p in parts])
    if missing.all():
        return "numeric", "no value at all: it says nothing"
    values = np.concatenate([np.asarray(p.values, dtype=np.float64) for p in parts])
    with np.errstate(over="ignore", invalid="ignore"):  # infinity is refused when it is counted
        consecutive = len(values) >= MIN_ROWS and bool(np.all(np.diff(values) == 1))
    if consecutive and not missing.any():
        return "identifier", "a row number: ignored; state its kind to keep it"
    return "numeric", "numbers"
