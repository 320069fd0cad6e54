"""What the pool of all views comes to: one sum of terms for every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.ensemble.margins import FloatArray
from deciban.ensemble.trees import Forest


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

    def scaled(self, factor: float) -> Terms:
        """The same terms, saying more or less."""
        return Terms(
            self.constants * factor,
            self.weights * factor,
            self.linear * factor,
            self.products * factor,
            self.forest.scaled(factor),
            self.pairs * factor,
        )

    @classmethod
    def nothing(cls, n_parts: int, n_linear: int, n_products: int, n_classes: int = 1) -> Terms:
        """Those that say nothing: one class needs no others."""
        return cls(
            np.zeros(n_classes),
            np.zeros(n_parts),
            np.zeros((n_linear, n_classes)),
            np.zeros((n_products, n_classes)),
            Forest.nothing(),
            0.0,
        )
