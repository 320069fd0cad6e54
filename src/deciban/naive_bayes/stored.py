"""NaiveBayes in a file: its parameters, schema, choices and calibration beside its counts.

The choices are stored as well, so that a model answers as soon as it is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from deciban import families
from deciban.errors import ModelFileError, ParameterError
from deciban.files import Stored
from deciban.files.document import check_keys, field, records
from deciban.kinds import is_kind
from deciban.labels import Labels
from deciban.models.calibration import DISCOUNT_GRID, Calibration
from deciban.models.options import Options
from deciban.models.selection import Choice
from deciban.models.text_selection import TextChoice
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.schema import ColumnSchema, Schema
from deciban.sources.formats import Format
from deciban.stats.categories import CATEGORIES
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS
from deciban.stats.statistic import FloatArray
from deciban.stats.words import WORDS
from deciban.text import Tokenizer

KIND = "NaiveBayes"
_KEYS = (
    "parameters",
    "target",
    "named",
    "columns",
    "choices",
    "options",
    "prior",
    "tokenizer",
    "text_choices",
)
_COLUMN = {"name": str, "kind": str, "reason": str, "unit": str}
_UNITS = ("", "date", "timestamp", "time")
_CHOICE = {"column": str, "family": str, "bins": int, "smoothing": float, "missing": bool}
_TEXT_CHOICE = {
    "column": str, "weighting": str, "contrast": float, "smoothing": float, "length": float,
    "scale": float, "rows": int,
}  # fmt: skip


def to_stored(
    model: NaiveBayesModel, parameters: dict[str, Any], target: str | None, named: bool
) -> Stored:
    """The model as a file holds it."""
    description: dict[str, Any] = {
        "parameters": plain(parameters),
        "target": target,
        "named": named,
        "columns": [asdict(column) for column in model.schema.columns],
        "choices": [_plain_choice(choice) for choice in model.choices.values()],
        "options": plain(asdict(model.options)),
        "prior": None if model.prior is None else np.asarray(model.prior).tolist(),
    }
    if model.schema.texts:
        description["tokenizer"] = model.tokenizer.describe()
        description["text_choices"] = [asdict(choice) for choice in model.text_choices.values()]
    arrays = {}
    if model.calibration is not None:
        arrays["calibration"] = np.append(model.calibration.loss, model.calibration.rows)
    return Stored(KIND, model.counts, description, arrays=arrays)


def _plain_choice(choice: Choice) -> dict[str, Any]:
    entry = {**asdict(choice), "loss": choice.loss if math.isfinite(choice.loss) else None}
    del entry["kind"]  # that of the column
    return entry


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Arrays as lists: what JSON can hold."""
    return {name: _plain_value(value) for name, value in values.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Tokenizer):
        return value.describe()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def from_stored(stored: Stored) -> NaiveBayesModel:
    """The model of a file, checked."""
    about = stored.description
    check_keys(about, *_KEYS)
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    schema = read_schema(about)
    choices = _choices(about, schema)
    if set(choices) != {*schema.numbers, *schema.categories}:
        raise ModelFileError("the choices are not those of the columns.")
    tokenizer = _tokenizer(about)
    _check_tables(schema, stored.counts, tokenizer)
    return NaiveBayesModel.of(
        schema,
        stored.counts,
        _options(about),
        prior=stated_prior(about, stored.counts),
        calibration=_calibration(stored),
        tokenizer=tokenizer,
        choices=choices,
        text_choices=_text_choices(about, schema),
    )


def read_schema(about: Mapping[str, Any]) -> Schema:
    """The schema in a description, checked."""
    entries = field(about, "columns", list)
    columns = tuple(
        ColumnSchema(**known, format=_format(entry))
        for entry, known in zip(
            entries, records(entries, "column", _COLUMN, ["format"]), strict=True
        )
    )
    for column in columns:
        if not is_kind(column.kind) or column.unit not in _UNITS:
            raise ModelFileError(f"column {column.name!r} is of no known kind.")
    return Schema(columns)


def _format(entry: Mapping[str, Any]) -> str:
    """How the fields of a column are written; files of before have no word about it."""
    form: str = field({"format": "", **entry}, "format", str)
    if form and not Format(form).is_known:
        raise ModelFileError(f"{form!r:.40} is no known format of a column.")
    return form


def _choices(about: Mapping[str, Any], schema: Schema) -> dict[str, Choice]:
    """The choices of all columns, checked."""
    entries = field(about, "choices", list)
    choices = []
    for entry, fields in zip(entries, records(entries, "choice", _CHOICE, ["loss"]), strict=True):
        loss, kind = entry.get("loss"), schema.counted_kinds.get(fields["column"], "")
        if loss is not None and type(loss) is not float:
            raise ModelFileError(f"a loss must be a number, got {loss!r}.")
        choices.append(Choice(**fields, loss=math.inf if loss is None else loss, kind=kind))
    for family in dict.fromkeys(choice.family for choice in choices):
        _check_settings([choice for choice in choices if choice.family == family])
    return {choice.column: choice for choice in choices}


def _check_settings(choices: list[Choice]) -> None:
    """Refuse choices of one family that it cannot be estimated by."""
    try:
        families.get(choices[0].family).settings("bayes", choices)
    except ParameterError as error:
        for choice in choices if len(choices) > 1 else ():
            _check_settings([choice])
        raise ModelFileError(f"column {choices[0].column!r}: {error}") from None


def _options(about: Mapping[str, Any]) -> Options:
    entry = field(about, "options", dict)
    check_keys(entry, *Options.__dataclass_fields__)
    try:
        return Options(**entry)
    except (ParameterError, TypeError) as error:
        raise ModelFileError(f"the options are not those of {KIND}: {error}") from None


def _tokenizer(about: Mapping[str, Any]) -> Tokenizer:
    if "tokenizer" not in about:
        return Tokenizer()
    try:
        return Tokenizer(**field(about, "tokenizer", dict))
    except (TypeError, ParameterError) as error:
        raise ModelFileError(f"the tokenizer is not known: {error}") from None


def _text_choices(about: Mapping[str, Any], schema: Schema) -> dict[str, TextChoice]:
    choices = {}
    entries = field(about, "text_choices", list) if "text_choices" in about else []
    for entry in records(entries, "text choice", _TEXT_CHOICE):
        choice = TextChoice(**entry)
        try:
            choice.settings("bayes")
        except ParameterError as error:
            raise ModelFileError(f"column {choice.column!r}: {error}") from None
        choices[choice.column] = choice
    if not set(choices) <= set(schema.texts):
        raise ModelFileError("the text choices are not those of the columns.")
    return choices


def stated_prior(about: Mapping[str, Any], counts: Counts) -> FloatArray | None:
    """The priors that the user stated, checked; None where there are none."""
    if about.get("prior") is None:
        return None
    values = field(about, "prior", list)
    good = len(values) == len(counts.classes) and all(type(v) is float for v in values)
    if not good or min(values) < 0 or abs(sum(values) - 1) > 1e-6:
        raise ModelFileError("the priors are not those of the classes.")
    return np.array(values)


def _calibration(stored: Stored) -> Calibration | None:
    arrays = dict(stored.arrays)
    table = arrays.pop("calibration", None)
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")
    if table is None:
        return None
    size = len(DISCOUNT_GRID)
    if table.dtype != np.float64 or table.shape != (size + 1,):
        raise ModelFileError(f"the calibration must be {size + 1} floats.")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise ModelFileError("the calibration must be finite and not below zero.")
    return Calibration(table[:-1], float(table[-1]))


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
    words = counts.tables.get(WORDS.name)
    for known in () if words is None else words.cells.values or ():
        _check_known(known, tokenizer.buckets)
    if set(counts.tables) - set(expected):
        raise ModelFileError("the counts have a block that belongs to nothing.")


def _check_known(words: Labels, buckets: int | None) -> None:
    """Words are texts, buckets are numbers below their number."""
    if buckets is None:
        good = all(isinstance(word, str) for word in words.tolist())
    else:
        good = words.dtype.kind in "iu" and bool(np.all((words >= 0) & (words < buckets)))
    if len(words) and not good:
        raise ModelFileError("the words are not those of the tokenizer.")
