"""Model files: as an estimator that learns, or as the pure model that scores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import deciban

if TYPE_CHECKING:
    from deciban.mixed import NaiveBayes
    from deciban.mixed.model import Model


@dataclass(frozen=True)
class Opened:
    """What scoring needs: the model, and the column that it predicts."""

    model: Model
    target: str | None


def estimator(path: str) -> NaiveBayes:
    """The estimator in a file, ready to learn more."""
    found: Any = deciban.load(path)  # type: ignore[attr-defined]
    return found  # type: ignore[no-any-return]


def opened(path: str) -> Opened:
    """The pure model in a file."""
    found = estimator(path)
    return Opened(found.model_, getattr(found, "target_", None))


def save(model: NaiveBayes, path: str) -> int:
    """Write a model as a whole; its size in bytes."""
    model.save(path)  # type: ignore[attr-defined]
    return os.path.getsize(path)  # noqa: PTH202  (a pathlib import for one call)


def format_version(path: str) -> int | None:
    """The version of the file's format."""
    from deciban.storage import archive

    return archive.read(path).version
