"""Counts that are floats: exact while they are whole, up to rounding otherwise.

Whole numbers up to 2**53 add and subtract exactly. Fractional weights round in
the last bits, differently in every order of the rows; counts that differ by no
more than that are the same.

>>> import numpy as np
>>> difference(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 2.0]))
array([0., 1.])
>>> same(np.array([0.1 + 0.2]), np.array([0.3])), same(np.array([3e12]), np.array([3e12 + 1]))
(True, False)
"""

from deciban.kernels.rounding import ROUNDING, difference, same

__all__ = ["ROUNDING", "difference", "same"]
