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
with ``lam = 0`` ``bayes`` is ``ml``. Where that leaves 0 / 0, nothing is known
and all values are alike: ``1 / S``, the limit of a vanishing ``lam``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families.settings import Method
from deciban.stats import rounding

FloatArray = NDArray[np.float64]


def pseudo_count(method: Method, lam: FloatArray | float) -> Any:
    """What the method adds to every count.

    >>> pseudo_count("map", 3.0)
    2.0
    """
    return {"ml": 0.0 * lam, "map": lam - 1.0, "bayes": lam}[method]


def log_shares(amount: FloatArray, total: FloatArray, size: FloatArray | float) -> FloatArray:
    """``log(amount / total)`` of ``size`` values; where nothing was counted, ``log(1 / size)``.

    >>> np.exp(log_shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[4.0], [0.0]]), 2))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    total = np.broadcast_to(total, amount.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log(amount) - np.log(total)
    return np.where(total > 0, out, -np.log(np.maximum(size, 1.0)))


def subtract(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Count by count."""
    return {name: rounding.difference(whole[name], part[name]) for name in whole}


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether all counts are equal."""
    return all(rounding.same(a[name], b[name]) for name in a)


def more_than(amount: FloatArray, rows: FloatArray) -> NDArray[np.bool_]:
    """Where more is counted, (classes, ...), than there are rows."""
    return np.asarray(amount > (1 + rounding.ROUNDING) * rows[:, None])
