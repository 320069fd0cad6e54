"""Naive Bayes on mixed tables: numbers, categories, booleans, times, with holes.

The model itself needs no scikit-learn, whose import takes long; the estimator
is loaded when it is first used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.mixed.estimator import NaiveBayes

__all__ = ["NaiveBayes", "load"]


def __getattr__(name: str) -> Any:
    if name == "NaiveBayes":
        from deciban.mixed.estimator import NaiveBayes

        return NaiveBayes
    raise AttributeError(f"module 'deciban.mixed' has no attribute {name!r}")


def load(path: str | os.PathLike[str]) -> NaiveBayes:
    """The model of a ``.deciban`` file; nothing in the file can run."""
    from deciban import storage
    from deciban.mixed.estimator import NaiveBayes

    return NaiveBayes.from_stored(storage.load(path))
