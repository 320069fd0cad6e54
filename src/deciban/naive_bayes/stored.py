"""NaiveBayes in a file: its parameters, schema, choices and calibration beside its counts.

The choices are stored as well, so that a model answers as soon as it is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict as fields_of

import numpy as np
from msgspec.structs import asdict

from deciban import families
from deciban.checks import MAX_NUMBER
from deciban.errors import ModelFileError, ParameterError
from deciban.families.protocol import Family, ForKind
from deciban.files import Stored, document
from deciban.files.arrays import ArrayReader, left_out_from, left_out_to
from deciban.files.description import ColumnEntry, NaiveBayesEntry, TokenizerEntry
from deciban.files.model import restored_parameters
from deciban.kinds import PLAIN_KINDS, is_kind
from deciban.labels import Array, Labels
from deciban.models.calibration import DISCOUNT_GRID, Calibration
from deciban.models.class_offsets import MAX_OFFSET, ClassOffsets
from deciban.models.options import Options
from deciban.models.selection import Choice
from deciban.models.text_selection import TextChoice
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.plain import PlainDict, plain
from deciban.schema import ColumnSchema, Schema
from deciban.sources.formats import PLAIN_FORMATS, Format
from deciban.stats.categories import CATEGORIES
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS
from deciban.stats.statistic import FloatArray
from deciban.stats.words import WORDS
from deciban.text import Tokenizer
from deciban.text.tokenizer import DEFAULT_TOKENIZER

KIND = "NaiveBayes"


def to_stored(
    model: NaiveBayesModel, parameters: PlainDict, target: str | None, named: bool
) -> Stored:
    """The model as a file holds it."""
    description: PlainDict = {
        "parameters": stored_parameters(parameters),
        "target": target,
        "named": named,
        "columns": [fields_of(column) for column in model.schema.columns],
        "choices": [_plain_choice(choice) for choice in model.choices.values()],
        "options": plain(fields_of(model.options), strict=True),
        "prior": None if model.prior is None else np.asarray(model.prior).tolist(),
    }
    if model.schema.texts:
        description["tokenizer"] = model.tokenizer.describe()
        description["text_choices"] = [fields_of(choice) for choice in model.text_choices.values()]
    arrays: dict[str, Array] = {}
    if model.calibration is not None:
        arrays["calibration"] = np.append(model.calibration.loss, model.calibration.rows)
        if model.calibration.offsets is not None:
            arrays["class_offsets"] = model.calibration.offsets.for_classes(model.classes)
        arrays |= left_out_to(model.left_out, model.classes)
    return Stored(KIND, model.counts, description, arrays=arrays)


def _plain_choice(choice: Choice) -> PlainDict:
    entry = {**fields_of(choice), "loss": choice.loss if math.isfinite(choice.loss) else None}
    del entry["kind"]  # that of the column
    return entry


def stored_parameters(values: PlainDict) -> PlainDict:
    """Parameters as JSON can hold them; a tokenizer by its description."""
    rules = {name: v.describe() for name, v in values.items() if isinstance(v, Tokenizer)}
    parameters: PlainDict = plain({**values, **rules}, strict=True)
    return parameters


def from_stored(stored: Stored) -> NaiveBayesModel:
    """The model of a file, checked."""
    return read(stored)[0]


def read(stored: Stored) -> tuple[NaiveBayesModel, NaiveBayesEntry]:
    """The model of a file, checked, and what the file says of it."""
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    about = document.read(stored.description, NaiveBayesEntry)
    arrays = ArrayReader(stored.arrays)
    calibration = None if stored.counts is None else _calibration(arrays, stored.counts.classes)
    arrays.done()
    return model_of(about, stored.counts, calibration), about


def model_of(
    about: NaiveBayesEntry, counts: Counts | None, calibration: Calibration | None = None
) -> NaiveBayesModel:
    """The model that a description and counts make; it is estimated when it is first asked."""
    if counts is None:
        raise ModelFileError("the counts are missing.")
    schema, tokenizer = schema_of(about.columns), tokenizer_of(about.tokenizer)
    _check_tables(schema, counts, tokenizer)
    choices = _choices(about, schema, counts)
    texts = {entry.column: TextChoice(**asdict(entry)) for entry in about.text_choices}
    if not set(texts) <= set(schema.texts):
        raise ModelFileError("the text choices are not those of the columns.")
    try:
        options = Options(**asdict(about.options))
    except ParameterError as error:
        raise ModelFileError(f"the options are not those of a {KIND}: {error}") from None
    prior = stated_prior(about.prior, counts)
    about_columns = schema, counts, options, choices, texts, tokenizer
    return NaiveBayesModel(*about_columns, prior, calibration)


def estimator_parameters(about: NaiveBayesEntry, model: NaiveBayesModel) -> PlainDict:
    """What the estimator of a model was made with."""
    parameters = restored_parameters(about.parameters)
    stated = parameters.get("tokenizer") is not None
    return {**parameters, "tokenizer": model.tokenizer} if stated else parameters


def schema_of(entries: Sequence[ColumnEntry]) -> Schema:
    """The schema that a file states, checked."""
    columns = tuple(ColumnSchema(**asdict(entry)) for entry in entries)
    for column in columns:
        if column.kind not in PLAIN_KINDS and not is_kind(column.kind):
            raise ModelFileError(f"column {column.name!r} is of no known kind.")
        if column.format not in PLAIN_FORMATS and not Format(column.format).is_known:
            raise ModelFileError(f"{column.format!r:.40} is no known format of a column.")
    return Schema(columns)


def tokenizer_of(entry: TokenizerEntry | None) -> Tokenizer:
    """The tokenizer that a file states; the usual one where it states none."""
    try:
        return DEFAULT_TOKENIZER if entry is None else Tokenizer(**asdict(entry))
    except ParameterError as error:
        raise ModelFileError(f"the tokenizer is not known: {error}") from None


def _choices(about: NaiveBayesEntry, schema: Schema, counts: Counts) -> dict[str, Choice]:
    """The choices of all columns, each of a family that is estimated from what is counted of it."""
    kinds, choices = schema.counted_kinds, {}
    for entry in about.choices:
        if entry.family not in families.FAMILIES:
            raise ModelFileError(
                f"column {entry.column!r} is of the family {entry.family!r}, which is not known.",
                hint="register it before reading the file: deciban.families.register",
            )
        loss = math.inf if entry.loss is None else entry.loss
        choice = Choice(**{**asdict(entry), "loss": loss}, kind=kinds.get(entry.column, ""))
        _check_family(choice, families.FAMILIES[entry.family], counts)
        choices[entry.column] = choice
    if set(choices) != {*schema.numbers, *schema.categories}:
        raise ModelFileError("the choices are not those of the columns.")
    return choices


def _check_family(choice: Choice, family: Family, counts: Counts) -> None:
    """A column is counted as its family needs it, and of the kind that it is for."""
    table = counts.tables.get(family.statistic.name)
    if table is None or choice.column not in table.cells.columns.tolist():
        raise ModelFileError(f"column {choice.column!r} is not counted for {family.name!r}.")
    if isinstance(family, ForKind) and choice.kind.partition(":")[0] != family.kind:
        raise ModelFileError(
            f"column {choice.column!r} is {choice.kind}; {family.name!r} is for {family.kind} ones."
        )


def stated_prior(values: Sequence[float] | None, counts: Counts) -> FloatArray | None:
    """The priors that the user stated, checked; None where there are none."""
    if values is None:
        return None
    if len(values) != len(counts.classes) or abs(sum(values) - 1) > 1e-6:
        raise ModelFileError("the priors are not those of the classes.")
    return np.array(values)


def _calibration(arrays: ArrayReader, classes: Labels) -> Calibration | None:
    table = arrays.floats_if_any("calibration", (len(DISCOUNT_GRID) + 1,), 0.0, MAX_NUMBER)
    if table is None:
        return None
    rows = float(table[-1])
    most = MAX_OFFSET * rows
    amount = arrays.floats_if_any("class_offsets", (len(classes),), -most, most)
    offsets = None if amount is None else ClassOffsets(classes, amount)
    return Calibration(table[:-1], rows, left_out_from(arrays, classes), offsets)


def _check_tables(schema: Schema, counts: Counts, tokenizer: Tokenizer) -> None:
    """The counts have the columns of the schema."""
    expected = {
        CATEGORIES.name: schema.categories,
        MOMENTS.name: schema.numbers,
        HISTOGRAM.name: schema.numbers,
        WORDS.name: schema.texts,
    }
    for name, columns in expected.items():
        table = counts.tables.get(name)
        counted = () if table is None else tuple(table.cells.columns.tolist())
        if counted != columns or (table is not None and table.statistic.name != name):
            raise ModelFileError(f"the counts of {name!r} are not those of the columns.")
    check_texts(counts)
    words = counts.tables.get(WORDS.name)
    for known in () if words is None else words.cells.values or ():
        _check_known(known, tokenizer.buckets)
    if set(counts.tables) - set(expected):
        raise ModelFileError("the counts have a block that belongs to nothing.")


def check_texts(counts: Counts) -> None:
    """Refuse values that are texts and that no source of rows can have held."""
    columns = (column for table in counts.tables.values() for column in table.cells.values or ())
    texts = (label for column in columns for label in column.tolist() if isinstance(label, str))
    try:
        "".join(texts).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ModelFileError(f"a value has half a character: {error}.") from None


def _check_known(words: Labels, buckets: int | None) -> None:
    """Words are texts, buckets are numbers below their number."""
    if buckets is None:
        good = all(isinstance(word, str) for word in words.tolist())
    else:
        good = words.dtype.kind in "iu" and bool(np.all((words >= 0) & (words < buckets)))
    if len(words) and not good:
        raise ModelFileError("the words are not those of the tokenizer.")
