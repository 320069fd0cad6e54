"""What the pool of all views comes to: one sum of terms for every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.bayes.margins import FloatArray
from deciban.bayes.trees import Forest


@dataclass(frozen=True, eq=False)
class Terms:
    """The margin of class c is the sum of

    - ``constants[c]``,
    - ``weights[j] * evidence_jc``,
    - the linear terms times ``linear``, (terms, classes), and the products times ``products``,
    - what the trees say,
    - ``pairs`` times what AODE says.
    """

    constants: FloatArray
    weights: FloatArray
    linear: FloatArray
    products: FloatArray
    forest: Forest
    pairs: float

    @classmethod
    def nothing(cls, n_parts: int, n_linear: int, n_products: int) -> Terms:
        """Those of one class, which needs none."""
        return cls(
            np.zeros(1),
            np.zeros(n_parts),
            np.zeros((n_linear, 1)),
            np.zeros((n_products, 1)),
            Forest.nothing(),
            0.0,
        )
