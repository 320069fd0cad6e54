"""Naive Bayes: on any table (``NaiveBayes``), and scikit-learn's five classifiers.

The five have scikit-learn's constructors, methods, fitted attributes and numbers; and beyond
that, each of them::

    a + b                  # as if fitted on both data sets; a - b takes b back
    m.forget(X, y)         # take rows back, exactly
    m.decide(X, loss=[[0, 5], [1, 0]], abstain=0.2)
    m.evidence(X)          # decibans per row, column and class

A model is its table of counts, ``m.counts_``: it is filled in one pass, by all cores, and
everything else is computed from it. Models need no scikit-learn, whose import takes long;
estimators are loaded when they are first used.

Read in this order: ``blocks`` and ``texts`` (columns that are estimated together), ``model``,
``leave_one_out``, ``pieces`` and ``word_evidence`` (what it says of columns and words), ``em``,
``em_rows`` and ``semi_supervised`` (missing labels), ``stored``, ``checks`` and the estimator; the
five are in ``dropins``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.naive_bayes.dropins.bags import BernoulliNB, ComplementNB, MultinomialNB
    from deciban.naive_bayes.dropins.categorical import CategoricalNB
    from deciban.naive_bayes.dropins.gaussian import GaussianNB
    from deciban.naive_bayes.estimator import NaiveBayes

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "BernoulliNB": "deciban.naive_bayes.dropins.bags",
        "CategoricalNB": "deciban.naive_bayes.dropins.categorical",
        "ComplementNB": "deciban.naive_bayes.dropins.bags",
        "GaussianNB": "deciban.naive_bayes.dropins.gaussian",
        "MultinomialNB": "deciban.naive_bayes.dropins.bags",
        "NaiveBayes": "deciban.naive_bayes.estimator",
    },
)
