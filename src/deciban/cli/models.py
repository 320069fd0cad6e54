"""Model files: as an estimator that learns, or as the pure model that scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deciban.files import archive
from deciban.files.model import unpacked
from deciban.naive_bayes import stored as files
from deciban.naive_bayes.model import NaiveBayesModel as Model
from deciban.schema import ColumnSchema
from deciban.sources.field_types import FieldType

if TYPE_CHECKING:
    from deciban.naive_bayes import NaiveBayes


@dataclass(frozen=True)
class Opened:
    """What scoring needs: the model, and the column that it predicts."""

    model: Model
    target: str | None
    format_version: int


def estimator(path: str) -> NaiveBayes:
    """The estimator in a file, ready to learn more."""
    from deciban.files.loading import load

    found: NaiveBayes = load(path)
    return found


def opened(path: str) -> Opened:
    """The pure model in a file; scikit-learn is not needed for it."""
    content = archive.read(path)
    stored = unpacked(path, content)
    with archive.errors_about(path):
        target = stored.description.get("target")
        return Opened(files.from_stored(stored), target, content.version)


def is_counted(model: Model, column: ColumnSchema) -> bool:
    """Whether a column says something; the others are ignored."""
    return bool({column.name, *column.numbers, *column.categories} & model.choices.keys())


def types(model: Model, target: str | None = None) -> dict[str, FieldType]:
    """How columns were written in training, where the fields of a small file may mislead.

    A category "1" beside "x" is a text, also in a file where all categories look like numbers.
    """
    found: dict[str, FieldType] = {
        c.name: "number" for c in model.schema.columns if c.kind == "numeric"
    }
    known = {target: model.counts.classes} if target is not None else {}
    table = model.counts.tables.get("categories")
    if table is not None:
        known |= dict(zip(table.cells.columns.tolist(), table.cells.values or (), strict=True))
    for name, values in known.items():
        if len(values) and all(isinstance(value, str) for value in values.tolist()):
            found[name] = "text"
    return found


def save(model: NaiveBayes, path: str) -> int:
    """Write a model as a whole; its size in bytes."""
    model.save(path)
    return Path(path).stat().st_size
