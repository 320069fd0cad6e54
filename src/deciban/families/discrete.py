"""Logarithms of probabilities of discrete values, by all three methods.

For counts ``N_a`` of the values ``a = 1..S`` with ``n = sum N_a``, under the
prior Dirichlet(lam, ..., lam):

=========  ===================================  =================================
method     prediction rule                      formula
=========  ===================================  =================================
``ml``     the likeliest parameter              ``N_a / n``
``map``    the mode of the posterior            ``(N_a + lam - 1) / (n + S (lam - 1))``
``bayes``  the parameter integrated out         ``(N_a + lam) / (n + S lam)``
=========  ===================================  =================================

The mode of a posterior with ``N_a + lam < 1`` lies on the boundary: such a
value gets nothing. With ``lam = 1`` the prior is flat and ``map`` is ``ml``;
with ``lam = 0`` ``bayes`` is ``ml``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.settings import Method

FloatArray = NDArray[np.float64]


def pseudo_count(method: Method, lam: FloatArray | float) -> Any:
    """What the method adds to every count."""
    return {"ml": 0.0 * lam, "map": lam - 1.0, "bayes": lam}[method]


def log_shares(amount: FloatArray, total: FloatArray) -> FloatArray:
    """``log(amount / total)``; where nothing was counted at all, nothing is known: 0.

    ``amount / 0`` would be undefined; a class without data then says nothing
    about the column, instead of NaN.
    """
    total = np.broadcast_to(total, amount.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log(amount) - np.log(total)
    return np.where(total > 0, out, 0.0)
