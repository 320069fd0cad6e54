"""Model files: as an estimator that learns, or as the pure model that scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deciban.mixed import files
from deciban.mixed.model import Model
from deciban.schema import ColumnSchema
from deciban.storage import archive
from deciban.storage.model import unpacked

if TYPE_CHECKING:
    from deciban.mixed import NaiveBayes


@dataclass(frozen=True)
class Opened:
    """What scoring needs: the model, and the column that it predicts."""

    model: Model
    target: str | None
    format_version: int


def estimator(path: str) -> NaiveBayes:
    """The estimator in a file, ready to learn more."""
    from deciban.mixed import load

    return load(path)


def opened(path: str) -> Opened:
    """The pure model in a file; scikit-learn is not needed for it."""
    content = archive.read(path)
    stored = unpacked(path, content)
    with archive.about(path):
        target = stored.description.get("target")
        return Opened(files.from_stored(stored), target, content.version)


def is_counted(model: Model, column: ColumnSchema) -> bool:
    """Whether a column says something; the others are ignored."""
    return bool({column.name, *column.numbers, *column.categories} & model.choices.keys())


def save(model: NaiveBayes, path: str) -> int:
    """Write a model as a whole; its size in bytes."""
    model.save(path)
    return Path(path).stat().st_size
