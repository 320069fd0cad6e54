"""Classifiers whose log-odds are linear in the columns, fitted from their errors."""

from __future__ import annotations

from deciban.linear.estimator import LogisticRegression

__all__ = ["LogisticRegression"]
