"""The class prior: smoothed shares of the rows, or stated, and without one row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError, ShapeError
from deciban.families.settings import Method, pseudo_count
from deciban.kernels.discrete import log_shares
from deciban.labels import Labels
from deciban.models.protocol import HasBaseRates, HasClassWeights, HasCounts, Model
from deciban.stats import rounding

FloatArray = NDArray[np.float64]
#: Probabilities sum to one within this.
SUM_TOLERANCE = 1e-6
#: Probabilities by class or in the order of the classes, ``"uniform"``, or None: as counted.
StatedPrior = Sequence[float] | FloatArray | Mapping[Hashable, float] | str | None


def class_prior(
    weight: FloatArray,
    smoothing: float = 0.0,
    *,
    method: Method = "bayes",
    stated: StatedPrior = None,
) -> FloatArray:
    """``log P(c)`` of classes whose rows have these weights: ``(N_c + lam) / (N + K lam)``.

    Where nothing was counted and nothing is added, it is uniform.

    >>> np.exp(class_prior(np.array([6.0, 9.0]), smoothing=1.0)) * 17
    array([ 7., 10.])
    """
    if stated is not None:
        return check_prior(stated, len(weight))
    if np.ndim(smoothing):
        raise ParameterError(
            f"the prior has one smoothing, got {smoothing!r}.", hint="give one number >= 0"
        )
    return np.asarray(of_remaining(weight[None], smoothing, method=method)[0])


def leave_one_out(
    class_weight: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    smoothing: float = 0.0,
    *,
    method: Method = "bayes",
    stated: StatedPrior = None,
) -> FloatArray:
    """``log P(c)`` of every row and class, with each row taken away from its class ``y``.

    >>> np.exp(leave_one_out(np.array([2.0, 2.0]), np.array([0]), np.ones(1))) * 3
    array([[1., 2.]])
    """
    amount, rows = np.tile(class_weight, (len(y), 1)), np.arange(len(y))
    amount[rows, y] = rounding.difference(amount[rows, y], weight)
    return of_remaining(amount, smoothing, method=method, stated=stated)


def of_remaining(
    left: FloatArray,
    smoothing: float = 0.0,
    *,
    method: Method = "bayes",
    stated: StatedPrior = None,
) -> FloatArray:
    """``log P(c)`` of every row, from the weight of each class that is left for it.

    >>> np.exp(of_remaining(np.array([[1.0, 3.0], [2.0, 0.0]])))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    if stated is not None:
        return np.broadcast_to(check_prior(stated, left.shape[1]), left.shape)
    amount = np.maximum(left + pseudo_count(method, smoothing), 0.0)
    return log_shares(amount, amount.sum(axis=1, keepdims=True), left.shape[1])


def base_rates(model: Model) -> FloatArray:
    """The probabilities of the classes before anything is known of a row, (classes,).

    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes(smoothing=0, calibrate=False).fit({"x": ["S", "S", "L", "L"]}, [1, 1, 1, 2])
    >>> base_rates(m.model_)
    array([0.75, 0.25])
    """
    prior = prior_probabilities(model)
    if prior is not None:
        return prior
    weight = None
    if isinstance(model, HasCounts):
        weight = model.counts.weight
    elif isinstance(model, HasClassWeights):
        weight = model.class_weights
    if weight is not None and weight.sum() > 0:
        return np.asarray(weight / weight.sum())
    raise ParameterError(
        f"a {model.kind} does not know how often its classes were seen in training.",
        hint="leave the priors out, or deciban.decision.rebase(probabilities, old, new) takes them",
    )


def prior_probabilities(model: Model) -> FloatArray | None:
    """``P(c)``, where a model starts from probabilities; logits have no prior."""
    prior = model.base_rates if isinstance(model, HasBaseRates) else np.exp(model.log_prior)
    return prior / prior.sum() if abs(prior.sum() - 1.0) < SUM_TOLERANCE else None


def stated_prior(prior: StatedPrior, classes: Labels) -> FloatArray:
    """The probabilities of these classes that are stated, in their order, checked.

    A mapping may name a class by what it is written like.

    >>> stated_prior({"1": 0.9, "0": 0.1}, np.array([0, 1])).round(3)
    array([0.1, 0.9])
    """
    if not isinstance(prior, Mapping):
        return np.asarray(np.exp(check_prior(prior, len(classes))))
    rates = {str(label): rate for label, rate in prior.items()}
    names = [str(label) for label in classes.tolist()]
    for name in (*rates, *names):
        if name not in names or name not in rates:
            what = "names no class" if name in rates else "is missing for a class"
            raise ParameterError(
                f"a prior {what}: {name!r}.",
                hint=f"give one for each class: {', '.join(names[:10])}",
            )
    return np.asarray(np.exp(check_prior([rates[name] for name in names], len(names))))


def check_prior(prior: StatedPrior, n_classes: int) -> FloatArray:
    """The logarithms of stated priors, checked; ``"uniform"`` gives every class the same.

    >>> check_prior([0.5, 0.6], 2)  # doctest: +ELLIPSIS
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
