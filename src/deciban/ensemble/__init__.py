"""BayesClassifier: an ensemble of base learners on one table, stacked.

Up to five *base learners* give logits to every row and class:

- ``linear``: the evidence of the counts, each column with a weight of its own,
  and a linear term on the raw columns (a logistic regression whose offset is
  the weighted evidence)
- ``products``: a logistic regression on the numbers, their squares and products
- ``trees``: shallow boosted trees on binned columns
- ``pairs``: AODE, where its table fits
- ``logistic``: a logistic regression on the columns alone, where rows are few, but many for it

Each row has held-out logits of each of them: the counts leave the row out, the
rest is fitted in folds. On these the weights of the base learners are fitted; they
are positive and add up to one, so that the ensemble is a weighted geometric mean
of probabilities. The logits of every base learner are a sum over columns, and
so are those of the ensemble: it explains itself in decibans.

Columns of text are read by base learners of their own (``text_learner``), and what
these add to the class frequencies is added, by weights fitted on held-out rows.

Read in this order: ``logits``, ``features`` (what base learners see),
``training_table`` (rows and folds, and the scores of rows held out), ``evidence_weights``,
``linear``, ``trees``, ``model`` (the terms that all of them add), ``base_learners``, ``stacking``,
``phrases``, ``phrase_rows``, ``phrase_counts``, ``text_learner``, ``training``, ``summary``,
``stored`` and the estimator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.ensemble.estimator import BayesClassifier

__all__ = ["BayesClassifier"]

__getattr__ = lazy.attributes(__name__, {"BayesClassifier": "deciban.ensemble.estimator"})
