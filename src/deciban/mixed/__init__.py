"""Naive Bayes on mixed tables: numbers, categories, booleans, times, with holes."""

from __future__ import annotations

from deciban.mixed.estimator import NaiveBayes

__all__ = ["NaiveBayes"]
