"""Model files: as an estimator that learns, or as the pure model that scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deciban

if TYPE_CHECKING:
    from deciban.mixed import NaiveBayes
    from deciban.mixed.model import Model
    from deciban.schema import ColumnSchema


@dataclass(frozen=True)
class Opened:
    """What scoring needs: the model, and the column that it predicts."""

    model: Model
    target: str | None


def estimator(path: str) -> NaiveBayes:
    """The estimator in a file, ready to learn more."""
    load: Any = deciban.load
    found: NaiveBayes = load(path)
    return found


def opened(path: str) -> Opened:
    """The pure model in a file."""
    found = estimator(path)
    return Opened(found.model_, getattr(found, "target_", None))


def is_counted(model: Model, column: ColumnSchema) -> bool:
    """Whether a column says something; the others are ignored."""
    return bool({column.name, *column.numbers, *column.categories} & model.choices.keys())


def save(model: NaiveBayes, path: str) -> int:
    """Write a model as a whole; its size in bytes."""
    writer: Any = model
    writer.save(path)
    return Path(path).stat().st_size


def format_version(path: str) -> int | None:
    """The version of the file's format."""
    from deciban.storage import archive

    return archive.read(path).version
