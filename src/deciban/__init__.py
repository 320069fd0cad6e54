"""Bayesian classification on one exact table of counts.

Count once, decide anything: training fills a table of counts in one pass, and
everything after that is arithmetic on the table.

Public names are loaded when first used, so ``import deciban`` costs next to
nothing and imports none of the heavy libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy
from deciban.version import __version__ as __version__

if TYPE_CHECKING:
    from deciban import balance, conjugate, decision, errors, naive_bayes, text
    from deciban.aode import AODE
    from deciban.ensemble import BayesClassifier
    from deciban.errors import DecibanError
    from deciban.evaluation import Comparison, Evaluation, compare, evaluate
    from deciban.files.model import load
    from deciban.logistic import LogisticRegression
    from deciban.naive_bayes import NaiveBayes
    from deciban.sources.open import scan
    from deciban.stats.counts import Counts

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
    "scan",
    "text",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "AODE": "deciban.aode",
        "BayesClassifier": "deciban.ensemble",
        "Comparison": "deciban.evaluation",
        "Counts": "deciban.stats.counts",
        "DecibanError": "deciban.errors",
        "Evaluation": "deciban.evaluation",
        "LogisticRegression": "deciban.logistic",
        "NaiveBayes": "deciban.naive_bayes",
        "balance": "deciban.balance",
        "compare": "deciban.evaluation",
        "conjugate": "deciban.conjugate",
        "decision": "deciban.decision",
        "errors": "deciban.errors",
        "evaluate": "deciban.evaluation",
        "load": "deciban.files.model",
        "naive_bayes": "deciban.naive_bayes",
        "scan": "deciban.sources.open",
        "text": "deciban.text",
    },
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
