"""The terms that a base learner, or all of them together, add to the logits.

The logits of an ensemble are a weighted sum of those of its base learners, and
each of these is a sum of terms: so the ensemble is one sum of terms again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.aode.model import AODEModel
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.trees import Forest


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """The logit of class c is the sum of

    - ``constants[c]``,
    - ``evidence[j]`` times the evidence of part j of the counts,
    - the linear terms times ``linear``, (terms, classes), and the products times ``products``,
    - the values of the trees of ``forest``,
    - ``aode_weight`` times the log joint of ``aode``.
    """

    constants: FloatArray
    evidence: FloatArray
    linear: FloatArray
    products: FloatArray
    forest: Forest
    aode: AODEModel | None = None
    aode_weight: float = 0.0

    @classmethod
    def zero(cls, n_parts: int, n_linear: int, n_products: int, n_classes: int) -> AdditiveTerms:
        """Terms that add nothing."""
        return cls(
            np.zeros(n_classes),
            np.zeros(n_parts),
            np.zeros((n_linear, n_classes)),
            np.zeros((n_products, n_classes)),
            Forest.empty(),
        )

    def __mul__(self, factor: float) -> AdditiveTerms:
        return AdditiveTerms(
            self.constants * factor,
            self.evidence * factor,
            self.linear * factor,
            self.products * factor,
            self.forest * factor,
            self.aode,
            self.aode_weight * factor,
        )

    def __add__(self, other: AdditiveTerms) -> AdditiveTerms:
        """Both; only one of them has trees, and one of them AODE."""
        return AdditiveTerms(
            self.constants + other.constants,
            self.evidence + other.evidence,
            self.linear + other.linear,
            self.products + other.products,
            self.forest if len(self.forest) else other.forest,
            self.aode or other.aode,
            self.aode_weight + other.aode_weight,
        )
