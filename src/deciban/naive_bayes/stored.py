"""NaiveBayes in a file: its parameters, schema, choices and calibration beside its counts.

The choices are stored as well, so that a model answers as soon as it is read.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from deciban.errors import ModelFileError, ParameterError
from deciban.families.settings import Settings
from deciban.files import Stored
from deciban.files.document import check_keys, field
from deciban.labels import Labels
from deciban.models.calibration import GRID, Calibration
from deciban.models.readings import READINGS, Reading
from deciban.models.selection import Choice, Shape, Wishes
from deciban.naive_bayes.model import Model
from deciban.naive_bayes.texts import BLOCK
from deciban.naive_bayes.wishes import check_words
from deciban.schema import ColumnSchema, Kind, Schema
from deciban.stats.counts import Counts
from deciban.text import Tokenizer

KIND = "NaiveBayes"
_KEYS = (
    "parameters",
    "target",
    "named",
    "columns",
    "choices",
    "wishes",
    "prior",
    "tokenizer",
    "readings",
)
_OTHERS = ("smoothing", "min_df", "max_words")
_UNITS = ("", "date", "timestamp", "time")


def to_stored(model: Model, parameters: dict[str, Any], target: str | None, named: bool) -> Stored:
    """The model as a file holds it."""
    description: dict[str, Any] = {
        "parameters": plain(parameters),
        "target": target,
        "named": named,
        "columns": [asdict(column) for column in model.schema.columns],
        "choices": [asdict(choice) for choice in model.choices.values()],
        "wishes": plain(asdict(model.wishes)),
        "prior": None if model.prior is None else np.asarray(model.prior).tolist(),
    }
    if model.schema.texts:
        description["tokenizer"] = model.tokenizer.describe()
        description["readings"] = [asdict(reading) for reading in model.readings.values()]
    arrays = {}
    if model.calibration is not None:
        arrays["calibration"] = np.append(model.calibration.loss, model.calibration.rows)
    return Stored(KIND, model.counts, description, arrays=arrays)


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Arrays as lists: what JSON can hold."""
    return {name: _plain_value(value) for name, value in values.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Tokenizer):
        return value.describe()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def from_stored(stored: Stored) -> Model:
    """The model of a file, checked."""
    about = stored.description
    check_keys(about, *_KEYS)
    if stored.kind != KIND:
        raise ModelFileError(f"the file holds a {stored.kind}, not a {KIND}.")
    if stored.counts is None:
        raise ModelFileError("the counts are missing.")
    schema = Schema(tuple(column(entry) for entry in field(about, "columns", list)))
    model = Model(
        schema,
        stored.counts,
        _wishes(about),
        stated_prior(about, stored.counts),
        _calibration(stored),
        _tokenizer(about),
        _readings(about, schema),
    )
    choices = {entry.column: entry for entry in map(_choice, field(about, "choices", list))}
    if set(choices) != {*schema.numbers, *schema.categories}:
        raise ModelFileError("the choices are not those of the columns.")
    _check_tables(model)
    model.__dict__["choices"] = choices
    return model


def column(entry: Any) -> ColumnSchema:
    """A column of the schema, checked."""
    found: ColumnSchema = _entry(entry, ColumnSchema)
    if found.kind not in get_args(Kind) or found.unit not in _UNITS:
        raise ModelFileError(f"column {found.name!r} is of no known kind.")
    return found


def _choice(entry: Any) -> Choice:
    found: Choice = _entry(entry, Choice)
    if found.shape not in get_args(Shape):
        raise ModelFileError(f"column {found.column!r} has no known shape.")
    try:
        Settings("bayes", found.smoothing, bins=found.bins)
    except ParameterError as error:
        raise ModelFileError(f"column {found.column!r}: {error}") from None
    return found


def _entry(entry: Any, kind: Any) -> Any:
    """A small record, every field of the type it must have."""
    types = {
        "str": str,
        "Kind": str,
        "Shape": str,
        "Weighting": str,
        "int": int,
        "float": float,
        "bool": bool,
    }
    wanted = {name: types.get(str(t), str) for name, t in kind.__annotations__.items()}
    if not isinstance(entry, dict):
        raise ModelFileError(f"a {kind.__name__} must be a record.")
    check_keys(entry, *wanted)
    return kind(**{name: field(entry, name, of) for name, of in wanted.items()})


def _wishes(about: Any) -> Wishes:
    entry = field(about, "wishes", dict)
    check_keys(entry, "numeric", "missing", "smoothing", "method", "text", "min_df", "max_words")
    entry = {"text": "auto", "min_df": 1, "max_words": None, **entry}  # the first files have none
    words = {name: field(entry, name, str) for name in ("numeric", "missing", "method", "text")}
    if words["text"] not in READINGS:
        raise ModelFileError(f"texts cannot be read as {words['text']!r}.")
    stated = entry.get("smoothing")
    numbers = stated.values() if isinstance(stated, dict) else [stated]
    try:
        for value in numbers:
            Settings(words["method"], 1.0 if value == "auto" else value)  # type: ignore[arg-type]
        check_words(entry["min_df"], entry["max_words"])
    except ParameterError as error:
        raise ModelFileError(str(error)) from None
    wished: dict[str, Any] = {**words, **{n: entry.get(n) for n in _OTHERS}}
    return Wishes(**wished)


def _tokenizer(about: Any) -> Tokenizer:
    if "tokenizer" not in about:
        return Tokenizer()
    try:
        return Tokenizer(**field(about, "tokenizer", dict))
    except (TypeError, ParameterError) as error:
        raise ModelFileError(f"the tokenizer is not known: {error}") from None


def _readings(about: Any, schema: Schema) -> dict[str, Reading]:
    found = {}
    for entry in field(about, "readings", list) if "readings" in about else []:
        reading: Reading = _entry(entry, Reading)
        try:
            reading.settings("bayes")
        except ParameterError as error:
            raise ModelFileError(f"column {reading.column!r}: {error}") from None
        found[reading.column] = reading
    if not set(found) <= set(schema.texts):
        raise ModelFileError("the readings are not those of the columns.")
    return found


def stated_prior(about: Any, counts: Counts) -> Any:
    """The priors that the user stated, checked; None where there are none."""
    stated = about.get("prior")
    if stated is None:
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
    if table.dtype != np.float64 or table.shape != (len(GRID) + 1,):
        raise ModelFileError(f"the calibration must be {len(GRID) + 1} floats.")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise ModelFileError("the calibration must be finite and not below zero.")
    return Calibration(table[:-1], float(table[-1]))


def _check_tables(model: Model) -> None:
    """The counts have the columns of the schema."""
    expected = {
        "categories": ("categorical", model.schema.categories),
        "moments": ("gaussian", model.schema.numbers),
        "histogram": ("histogram", model.schema.numbers),
        BLOCK: ("words", model.schema.texts),
    }
    for name, (family, columns) in expected.items():
        table = model.counts.tables.get(name)
        found = () if table is None else tuple(table.cells.columns.tolist())
        if found != columns or (table is not None and table.family != family):
            raise ModelFileError(f"the counts of {name!r} are not those of the columns.")
    for words in model.words:
        _check_known(words.known, model.tokenizer.buckets)
    if set(model.counts.tables) - set(expected):
        raise ModelFileError("the counts have a block that belongs to nothing.")


def _check_known(words: Labels, buckets: int | None) -> None:
    """Words are texts, buckets are numbers below their number."""
    if buckets is None:
        good = all(isinstance(word, str) for word in words.tolist())
    else:
        good = words.dtype.kind in "iu" and bool(np.all((words >= 0) & (words < buckets)))
    if len(words) and not good:
        raise ModelFileError("the words are not those of the tokenizer.")
