"""BayesClassifier: several views of a table, pooled, for the best answer.

Four *views* are learned, each of which gives a margin to every class:

- ``linear``: the evidence of the counts, each column with a weight of its own,
  and a linear term on the raw columns (a logistic regression whose offset is
  the evidence)
- ``products``: a logistic regression on the numbers, their squares and products
- ``trees``: shallow boosted trees on binned columns
- ``pairs``: AODE, where its table fits

Each row is judged by views that have not seen it: the counts leave it out, the
rest is learned in folds. On these judgements the shares of the views are
fitted; they are positive and add up to one, so that the pool is a weighted
geometric mean of probabilities. What every view says is a sum over columns, and
so is the pool: it explains itself in decibans.

Columns of text are read apart (``words``), and what they say is added to the
pool, as far as rows that neither has seen bear it out.

Read in this order: ``margins`` (what a view says, its loss), ``folds``,
``columns`` (what views see), ``evidence``, ``linear``, ``trees``, ``pairs``,
``pool``, ``words``, ``weighing``, ``terms`` and ``model`` (all of it together), ``learning``,
``report``, ``files``, and the estimator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.ensemble.estimator import BayesClassifier

__all__ = ["BayesClassifier"]

__getattr__ = lazy.attributes(__name__, {"BayesClassifier": "deciban.ensemble.estimator"})
