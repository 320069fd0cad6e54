"""Naive Bayes on mixed tables: numbers, categories, booleans, times, with holes.

The model itself needs no scikit-learn, whose import takes long; the estimator
is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.mixed.estimator import NaiveBayes

__all__ = ["NaiveBayes"]


def __getattr__(name: str) -> Any:
    if name == "NaiveBayes":
        from deciban.mixed.estimator import NaiveBayes

        return NaiveBayes
    raise AttributeError(f"module 'deciban.mixed' has no attribute {name!r}")
