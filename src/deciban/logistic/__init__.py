"""Logistic regression: log-odds that are linear in the columns, fitted by their likelihood.

The solvers are in :mod:`deciban.logistic.solvers`; the estimator is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.logistic.estimator import LogisticRegression

__all__ = ["LogisticRegression"]

__getattr__ = lazy.attributes(__name__, {"LogisticRegression": "deciban.logistic.estimator"})
