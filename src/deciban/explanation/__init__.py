"""Reasons in decibans: of one row, of many, and of the model as a whole.

Everything here follows from what every model answers: ``predict_proba``,
``evidence`` and ``prior_evidence``. :class:`Explainable` adds the methods to an
estimator.
"""

from __future__ import annotations

from deciban.explanation.bulk import Explanations
from deciban.explanation.counterfactual import Change, Counterfactual
from deciban.explanation.curve import Curve
from deciban.explanation.explainable import Explainable
from deciban.explanation.explained import Explanation, Part, Term
from deciban.explanation.importance import Importance, Weight, expected_evidence, weighed
from deciban.explanation.nomogram import Nomogram, Scale
from deciban.explanation.weights import DECIBANS, decibans, position
from deciban.families.piece import Piece

__all__ = [
    "DECIBANS",
    "Change",
    "Counterfactual",
    "Curve",
    "Explainable",
    "Explanation",
    "Explanations",
    "Importance",
    "Nomogram",
    "Part",
    "Piece",
    "Scale",
    "Term",
    "Weight",
    "decibans",
    "expected_evidence",
    "position",
    "weighed",
]
