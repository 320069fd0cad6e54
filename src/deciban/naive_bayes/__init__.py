"""scikit-learn's five naive Bayes classifiers, on one exact table of counts.

Same constructors, methods and fitted attributes, same numbers; and beyond
that, for each of them::

    a + b                  # as if fitted on both data sets; a - b takes b back
    m.forget(X, y)         # take rows back, exactly
    m.decide(X, loss=[[0, 5], [1, 0]], abstain=0.2)
    m.evidence(X)          # decibans per row, column and class

The model is its table of counts, ``m.counts_``: it is filled in one pass, by
all cores, and everything else is computed from it.
"""

from __future__ import annotations

from deciban.naive_bayes.bags import BernoulliNB, ComplementNB, MultinomialNB
from deciban.naive_bayes.categorical import CategoricalNB
from deciban.naive_bayes.gaussian import GaussianNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
