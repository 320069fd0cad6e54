"""AODE, averaged one-dependence estimators, on mixed tables (Webb, Boughton and Wang, 2005).

Naive Bayes takes columns to be independent within a class. Here each column in
turn is taken as a *parent* on which all others depend, and the joint
probabilities of all parents are averaged::

    P(c, x) = P(c) * mean_i ( P(x_i | c) * prod_{j != i} P(x_j | c, x_i) )

Nothing is searched for: training is counting, here of pairs of values. The
counts add up, and rows can be subtracted again.

Read in this order: ``cut_points`` (bins of numbers), ``pair_counts`` (what is
counted), ``counting``, ``one_dependence`` (parameters and likelihoods),
``calibration``, ``model``, ``stored`` and the estimator. The model needs no
scikit-learn, whose import takes long; the estimator is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.aode.estimator import AODE

__all__ = ["AODE"]

__getattr__ = lazy.attributes(__name__, {"AODE": "deciban.aode.estimator"})
