"""Naive Bayes on mixed tables: numbers, categories, booleans, times, with holes.

The estimator is loaded when it is asked for: the pure model scores without
scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deciban.mixed.estimator import NaiveBayes

__all__ = ["NaiveBayes"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'deciban.mixed' has no attribute {name!r}")
    from deciban.mixed.estimator import NaiveBayes

    return NaiveBayes
