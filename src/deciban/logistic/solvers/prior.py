"""The penalty as what it is: the precision of a Gaussian prior on the coefficients.

``lam / 2 |w|**2`` is minus the logarithm of a normal density of variance
``1 / lam`` around zero. In general the centre is any W and the precision one
number a coefficient, or a full matrix: what a posterior leaves behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prior:
    """Centre C, (width, m), and precision L: of the same shape, or a matrix of its size.

    >>> Prior.l2(2.0, n_columns=1, n_logits=1).value(np.array([[3.0], [5.0]]))
    9.0
    """

    centre: FloatArray
    precision: FloatArray

    @classmethod
    def l2(
        cls,
        penalty: ArrayLike,
        n_columns: int,
        n_logits: int,
        *,
        centre: ArrayLike = 0.0,
        intercept: bool = True,
    ) -> Prior:
        """One penalty for all columns, or one for each; the intercept is free.

        >>> Prior.l2([1.0, 4.0], 2, 1, centre=[[0.5], [0.0]]).precision.ravel()
        array([1., 4., 0.])
        """
        width = n_columns + intercept
        precision, centres = np.zeros((width, n_logits)), np.zeros((width, n_logits))
        lam = np.asarray(penalty, dtype=np.float64)
        precision[:n_columns] = lam[:, None] if lam.ndim == 1 else lam
        centres[:n_columns] = centre
        return cls(centres, precision)

    @property
    def full(self) -> bool:
        """Whether the precision is a matrix."""
        return self.precision.shape != self.centre.shape

    def product(self, V: FloatArray) -> FloatArray:
        """``L V``, of the shape of V."""
        if self.full:
            return np.asarray((self.precision @ V.ravel()).reshape(V.shape))
        return self.precision * V

    def value(self, W: FloatArray) -> float:
        """``1/2 <W - C, L (W - C)>``: half the squared distance from the centre."""
        deviation = W - self.centre
        return float(0.5 * np.vdot(deviation, self.product(deviation)))

    def gradient(self, W: FloatArray) -> FloatArray:
        """``L (W - C)``, of the shape of W."""
        return self.product(W - self.centre)

    def diagonal(self) -> FloatArray:
        """The precision of every coefficient by itself."""
        if self.full:
            return np.diagonal(self.precision).reshape(self.centre.shape)
        return self.precision

    def matrix(self) -> FloatArray:
        """The precision as a matrix."""
        return self.precision if self.full else np.diag(self.precision.ravel())
