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

from deciban.errors import InputError, ShapeError
from deciban.families import family
from deciban.kernels import evidence
from deciban.kernels import posterior as kernel
from deciban.models.params import Params

FloatArray = NDArray[np.float64]


def fill_log_joint(params: Params, blocks: Mapping[str, Any], out: FloatArray) -> None:
    """Write ``log P(c, x)`` of every row and class to ``out``; a block left out is missing.

    >>> from deciban import Counts
    >>> from deciban.models import params
    >>> counts = Counts.of({"x": ["S", "S", "L"]}, [1, 1, 2])
    >>> joint = np.empty((1, 2))
    >>> fill_log_joint(params.estimate(counts), {"categorical": np.array([[0]])}, joint)
    >>> np.exp(joint) * 3                                # 2/3 * 1/4 and 1/3 * 2/3 for an L
    array([[0.5       , 0.66666667]])
    """
    out[:] = params.log_prior
    for name, X in blocks.items():
        if name not in params.blocks:
            raise InputError(
                f"unknown block {name!r}.", hint=f"one of {', '.join(params.blocks) or 'none'}"
            )
        kind, parts = params.blocks[name]
        if X.shape != (len(out), parts.n_columns):
            raise ShapeError(
                f"block {name!r} has shape {X.shape}, needed is {(len(out), parts.n_columns)}.",
                hint="score the columns that were counted",
            )
        family(kind).add(parts, X, out)


def normalise(joint: FloatArray, log_prior: FloatArray, *, logarithm: bool = False) -> None:
    """Turn log joints into posteriors (or their logarithms), in place.

    >>> joint = np.log([[0.1, 0.3]])
    >>> normalise(joint, np.log([0.5, 0.5]))
    >>> joint.round(4)
    array([[0.25, 0.75]])
    """
    kernel.normalise(joint, log_prior, logarithm)


def compared(log_likelihood: FloatArray, against: int, scale: float = 1.0) -> FloatArray:
    """``scale`` times log-likelihoods against those of one class, last axis.

    Impossible against impossible is no evidence either way.

    >>> compared(np.log([0.5, 0.25]), against=1).round(4)
    array([0.6931, 0.    ])
    """
    out = np.array(log_likelihood, dtype=np.float64, order="C")
    evidence.compare(out.reshape(1, -1, out.shape[-1]), against, scale)
    return out


def added_up(said: FloatArray, prior: FloatArray) -> FloatArray:
    """What the prior and all columns say, (rows, classes), of (rows, columns, classes).

    >>> added_up(np.ones((1, 3, 2)), np.array([0.0, 0.5]))
    array([[3. , 3.5]])
    """
    return evidence.totals(np.ascontiguousarray(said), np.ascontiguousarray(prior))


def between(said: FloatArray, a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
    """What every column says for each row's class a against its class b, (rows, columns).

    >>> between(np.array([[[3.0, 1.0]]]), np.array([0]), np.array([1]))
    array([[2.]])
    """
    return evidence.differences(np.ascontiguousarray(said), a, b)


def likeliest(joint: FloatArray) -> NDArray[np.intp]:
    """The position of each row's best class, the first of equals.

    >>> likeliest(np.log([[0.1, 0.3], [0.2, 0.2]]))
    array([1, 0])
    """
    return np.asarray(kernel.largest(joint))
