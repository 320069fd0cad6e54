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
    """Centre, (width, m), and precision: of the same shape, or a matrix of its size.

    >>> Prior.l2(2.0, n_columns=1, n_scores=1).value(np.array([[3.0], [5.0]]))
    9.0
    """

    centre: FloatArray
    precision: FloatArray

    @classmethod
    def l2(
        cls,
        penalty: ArrayLike,
        n_columns: int,
        n_scores: int,
        *,
        centre: ArrayLike = 0.0,
        intercept: bool = True,
    ) -> Prior:
        """One penalty for all columns, or one for each; the intercept is free.

        >>> Prior.l2([1.0, 4.0], 2, 1, centre=[[0.5], [0.0]]).precision.ravel()
        array([1., 4., 0.])
        """
        width = n_columns + intercept
        precision, middle = np.zeros((width, n_scores)), np.zeros((width, n_scores))
        stated = np.asarray(penalty, dtype=np.float64)
        precision[:n_columns] = stated[:, None] if stated.ndim == 1 else stated
        middle[:n_columns] = centre
        return cls(middle, precision)

    @property
    def full(self) -> bool:
        """Whether the precision is a matrix."""
        return self.precision.shape != self.centre.shape

    def times(self, V: FloatArray) -> FloatArray:
        """The precision times V."""
        if self.full:
            return np.asarray((self.precision @ V.ravel()).reshape(V.shape))
        return self.precision * V

    def value(self, W: FloatArray) -> float:
        """Half the squared distance from the centre."""
        away = W - self.centre
        return float(0.5 * np.vdot(away, self.times(away)))

    def gradient(self, W: FloatArray) -> FloatArray:
        """The derivative of the value."""
        return self.times(W - self.centre)

    def diagonal(self) -> FloatArray:
        """The precision of every coefficient by itself."""
        if self.full:
            return np.diagonal(self.precision).reshape(self.centre.shape)
        return self.precision

    def matrix(self) -> FloatArray:
        """The precision as a matrix."""
        return self.precision if self.full else np.diag(self.precision.ravel())
