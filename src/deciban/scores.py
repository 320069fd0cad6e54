"""From parameters to scores: log joints and posteriors, in log space throughout.

``log P(c, x) = log P(c) + sum_j log P(x_j | c)``, and the posterior divides by
``P(x)``, the sum over the classes. A row that no class can have produced (all
joints minus infinity) carries no information: its posterior is the prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.families import family
from deciban.kernels import posterior as kernel
from deciban.params import Params

FloatArray = NDArray[np.float64]


def fill_log_joint(params: Params, blocks: Mapping[str, Any], out: FloatArray) -> None:
    """Write ``log P(c, x)`` of every row and class to ``out``."""
    out[:] = params.log_prior
    for name, X in blocks.items():
        kind, parts = params.blocks[name]
        family(kind).add(parts, X, out)


def normalise(joint: FloatArray, log_prior: FloatArray, *, logarithm: bool = False) -> None:
    """Turn log joints into posteriors (or their logarithms), in place.

    >>> joint = np.log([[0.1, 0.3]])
    >>> normalise(joint, np.log([0.5, 0.5]))
    >>> joint.round(4)
    array([[0.25, 0.75]])
    """
    kernel.normalise(joint, log_prior, logarithm)


def likeliest(joint: FloatArray) -> NDArray[np.intp]:
    """The position of each row's best class, the first of equals."""
    return np.asarray(kernel.largest(joint))
