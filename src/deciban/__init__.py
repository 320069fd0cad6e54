"""Bayesian classification on one exact table of counts.

Count once, decide anything: training fills a table of counts in one pass, and
everything after that is arithmetic on the table.

Public names are loaded when first used, so ``import deciban`` costs next to
nothing and imports none of the heavy libraries.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deciban import balance, conjugate, decision, errors, naive_bayes, text
    from deciban.aode import AODE
    from deciban.bayes import BayesClassifier
    from deciban.counts import Counts
    from deciban.errors import DecibanError
    from deciban.evaluation import Comparison, Evaluation, compare, evaluate
    from deciban.linear import LogisticRegression
    from deciban.loading import load
    from deciban.mixed import NaiveBayes

__version__ = "0.1.0"

__all__ = [
    "AODE",
    "BayesClassifier",
    "Comparison",
    "Counts",
    "DecibanError",
    "Evaluation",
    "LogisticRegression",
    "NaiveBayes",
    "balance",
    "compare",
    "conjugate",
    "decision",
    "errors",
    "evaluate",
    "load",
    "naive_bayes",
    "text",
]

_HOME = {
    "BayesClassifier": "deciban.bayes",
    "AODE": "deciban.aode",
    "Comparison": "deciban.evaluation",
    "Counts": "deciban.counts",
    "DecibanError": "deciban.errors",
    "Evaluation": "deciban.evaluation",
    "LogisticRegression": "deciban.linear",
    "NaiveBayes": "deciban.mixed",
    "compare": "deciban.evaluation",
    "evaluate": "deciban.evaluation",
    "load": "deciban.loading",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'deciban' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return import_module(f"deciban.{name}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
