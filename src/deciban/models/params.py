"""From counts to parameters: the class prior and every block's likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError, ShapeError
from deciban.families import family
from deciban.families.discrete import log_shares, pseudo_count
from deciban.families.settings import Method, Settings, check_smoothing
from deciban.stats import rounding
from deciban.stats.counts import Counts

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Params:
    """All that scoring needs: ``log P(c)``, and by block the family and its parameters."""

    log_prior: FloatArray
    blocks: Mapping[str, tuple[str, Any]]


def estimate(
    counts: Counts,
    settings: Mapping[str, Settings] | Settings | None = None,
    log_prior: FloatArray | None = None,
) -> Params:
    """Parameters of the counts; settings for all blocks or by block.

    >>> from deciban import Counts
    >>> counts = Counts.of({"x": ["S", "S", "L"]}, [1, 1, 2])
    >>> family, block = estimate(counts, Settings("bayes", 1.0)).blocks["categorical"]
    >>> np.exp(block.log_prob[0]).round(4)      # L, under classes 1 and 2
    array([0.25  , 0.6667])
    """
    chosen = Settings() if settings is None else settings
    blocks = {}
    for name, table in counts.tables.items():
        if isinstance(chosen, Mapping) and name not in chosen:
            raise ParameterError(f"block {name!r} has no settings.", hint="name all blocks or none")
        how = chosen[name] if isinstance(chosen, Mapping) else chosen
        parts = family(table.family).estimate(table.sums, table.rows, table.cells, how)
        blocks[name] = (table.family, parts)
    return Params(class_prior(counts) if log_prior is None else log_prior, blocks)


def class_prior(
    counts: Counts, smoothing: float = 0.0, *, method: Method = "bayes", fixed: Any = None
) -> FloatArray:
    """``log P(c)``: smoothed ``(N_c + lam) / (N + K lam)``, fixed, or ``"uniform"``.

    Where nothing was counted and nothing is added, it is uniform too.

    >>> from deciban import Counts
    >>> counts = Counts.of({"x": [0] * 15}, [1] * 9 + [-1] * 6)
    >>> np.exp(class_prior(counts, smoothing=1.0)) * 17
    array([ 7., 10.])
    """
    n_classes = len(counts.classes)
    if fixed is not None:
        return fixed_prior(fixed, n_classes)
    lam = check_smoothing(smoothing)
    if lam.ndim:
        raise ParameterError(
            f"the prior has one smoothing, got {smoothing!r}.", hint="give one number >= 0"
        )
    amount = np.maximum(counts.weight + pseudo_count(method, lam), 0.0)
    return log_shares(amount, amount.sum(), n_classes)


def prior_left_out(
    counts: Counts,
    y: NDArray[np.intp],
    weight: FloatArray,
    smoothing: float = 0.0,
    *,
    method: Method = "bayes",
    fixed: Any = None,
) -> FloatArray:
    """``log P(c)`` of every row and class, with each row taken away from its class ``y``.

    >>> from deciban import Counts
    >>> counts = Counts.of({"x": [0] * 4}, [1, 1, 2, 2])
    >>> np.exp(prior_left_out(counts, np.array([0]), np.ones(1))) * 3
    array([[1., 2.]])
    """
    shape = (len(y), len(counts.classes))
    if fixed is not None:
        return np.broadcast_to(fixed_prior(fixed, shape[1]), shape)
    amount, rows = np.array(np.broadcast_to(counts.weight, shape)), np.arange(len(y))
    amount[rows, y] = rounding.difference(amount[rows, y], weight)
    amount = np.maximum(amount + pseudo_count(method, smoothing), 0.0)
    return log_shares(amount, amount.sum(axis=1, keepdims=True), shape[1])


def fixed_prior(prior: Any, n_classes: int) -> FloatArray:
    """The logarithms of stated priors, checked; ``"uniform"`` gives every class the same.

    >>> fixed_prior([0.5, 0.6], 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: The sum of the priors should be 1, got 1.1. Hint: give ...
    """
    if isinstance(prior, str) and prior == "uniform":
        return np.full(n_classes, -np.log(n_classes))
    hint = "give probabilities of the classes in their order"
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"priors must be numbers, got {prior!r}.", hint=hint) from None
    if values.shape != (n_classes,):
        raise ShapeError(
            f"Number of priors must match number of classes: got {values.size} priors "
            f"for {n_classes} classes.",
            hint=hint,
        )
    if not np.all(values >= 0):
        raise ParameterError(f"Priors must be non-negative, got {values.min():g}.", hint=hint)
    if not np.isclose(values.sum(), 1.0):
        raise ParameterError(f"The sum of the priors should be 1, got {values.sum():g}.", hint=hint)
    with np.errstate(divide="ignore"):
        return np.log(values)
