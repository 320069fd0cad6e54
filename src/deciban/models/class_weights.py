"""Weights of classes: how many times a row of each class counts.

A counted model is its counts, whatever the weights: they change its prior, to
``P(c) ~ w_c N_c``, and nothing else, so that models still add up and rows can be forgotten. A
model that is fitted to rows fits them with these weights.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.labels import Labels

FloatArray = NDArray[np.float64]
#: ``"balanced"``, a weight for each class by its label, or None: rows count alike.
ClassWeight: TypeAlias = str | Mapping[Hashable, float] | None

_HINT = 'it is None, "balanced" or a weight above 0 for each class, such as {"yes": 5}'


def class_weights(stated: ClassWeight, classes: Labels, weight: FloatArray) -> FloatArray:
    """The weight of every class, whose rows weigh so much together; 1 where none is stated.

    A mapping may name a class by what it is written like.

    >>> class_weights("balanced", np.array(["no", "yes"]), np.array([6.0, 2.0]))
    array([0.66666667, 2.        ])
    >>> class_weights({"yes": 5}, np.array(["no", "yes"]), np.array([6.0, 2.0]))
    array([1., 5.])
    """
    if isinstance(stated, str) and stated == "balanced":
        some = weight > 0
        share = weight.sum() / max(int(some.sum()), 1)
        return np.where(some, share / np.where(some, weight, 1.0), 1.0)
    if not isinstance(stated, Mapping):
        raise ParameterError(f"class_weight is of no use: {stated!r}.", hint=_HINT)
    labels = classes.tolist()
    places = {str(label): place for place, label in enumerate(labels)}
    out = np.ones(len(labels))
    for label, value in stated.items():
        if str(label) not in places:
            raise ParameterError(
                f"class_weight names {label!r}, which is no class.",
                hint=f"classes are {', '.join(map(str, labels[:10]))}",
            )
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < np.inf:
            raise ParameterError(f"class_weight of {label!r} is {value!r}.", hint=_HINT)
        out[places[str(label)]] = value
    return out


def weighted_prior(
    stated: ClassWeight, classes: Labels, weight: FloatArray, prior: object = None
) -> FloatArray | None:
    """``P(c) ~ w_c N_c``; None without weights of classes, or without rows."""
    if stated is None:
        return None
    if prior is not None:
        raise ParameterError(
            f"class_weight={stated!r} and prior={prior!r} both say how common classes are.",
            hint="state one of them",
        )
    amount = class_weights(stated, classes, weight) * weight
    return amount / amount.sum() if amount.any() else None
