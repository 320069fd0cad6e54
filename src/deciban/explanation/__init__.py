"""Reasons in decibans: of one row, of many, and of the model as a whole.

Everything here follows from what every model answers: its prior, the contributions of columns and
the tables that it adds up (:mod:`deciban.models.protocol`). Read in this order:

``explanation``, ``explanations``
    the terms of one row's answer, and of the rows of a table
``measurement``, ``stored``
    what columns say in some rows, on average and by their values; the same in a file
``importance``, ``curve``, ``nomogram``
    of a whole model: the mean evidence of columns, the evidence of values, both on paper
``strongest``
    the strongest words and values for a class
``counterfactual``, ``word_removal``
    the fewest changes for another answer; texts without some of their words
``terminal``, ``html``, ``plot``
    explanations as text, as HTML and as charts
``changeable``, ``explainable``, ``matrix``
    :class:`Explainable`, which adds the methods to an estimator of tables, and
    :class:`MatrixExplainable`, to one of matrices
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban import lazy

if TYPE_CHECKING:
    from deciban.explanation.counterfactual import Change, Counterfactual
    from deciban.explanation.curve import Curve
    from deciban.explanation.explainable import Explainable
    from deciban.explanation.explanation import Explanation, Part, Term
    from deciban.explanation.explanations import Explanations
    from deciban.explanation.importance import Importance, Weight, importance_of
    from deciban.explanation.matrix import MatrixExplainable
    from deciban.explanation.measurement import measure
    from deciban.explanation.nomogram import Nomogram, Scale
    from deciban.explanation.plot import Plot
    from deciban.explanation.strongest import StrongestEvidence, ValueEvidence
    from deciban.families.piece import Piece
    from deciban.labels import position
    from deciban.models.scores import DECIBANS, decibans

__all__ = [
    "DECIBANS",
    "Change",
    "Counterfactual",
    "Curve",
    "Explainable",
    "Explanation",
    "Explanations",
    "Importance",
    "MatrixExplainable",
    "Nomogram",
    "Part",
    "Piece",
    "Plot",
    "Scale",
    "StrongestEvidence",
    "Term",
    "ValueEvidence",
    "Weight",
    "decibans",
    "importance_of",
    "measure",
    "position",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "Change": "deciban.explanation.counterfactual",
        "Counterfactual": "deciban.explanation.counterfactual",
        "Curve": "deciban.explanation.curve",
        "DECIBANS": "deciban.models.scores",
        "Explainable": "deciban.explanation.explainable",
        "Explanation": "deciban.explanation.explanation",
        "Explanations": "deciban.explanation.explanations",
        "Importance": "deciban.explanation.importance",
        "MatrixExplainable": "deciban.explanation.matrix",
        "Nomogram": "deciban.explanation.nomogram",
        "Part": "deciban.explanation.explanation",
        "Piece": "deciban.families.piece",
        "Plot": "deciban.explanation.plot",
        "Scale": "deciban.explanation.nomogram",
        "StrongestEvidence": "deciban.explanation.strongest",
        "Term": "deciban.explanation.explanation",
        "ValueEvidence": "deciban.explanation.strongest",
        "Weight": "deciban.explanation.importance",
        "decibans": "deciban.models.scores",
        "importance_of": "deciban.explanation.importance",
        "measure": "deciban.explanation.measurement",
        "position": "deciban.labels",
    },
)
