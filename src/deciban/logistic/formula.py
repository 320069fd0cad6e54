"""Logistic regression as a formula: linear in its columns, each class against the rest or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deciban.formulas.build import infinite, log_sigmoid, minus
from deciban.formulas.formula import ByClass, Formula, additive
from deciban.formulas.nodes import (
    Case,
    Compare,
    Expression,
    Extreme,
    Function,
    Input,
    Missing,
    Number,
    Product,
    Quotient,
    Scaled,
    Shared,
    Sum,
)

if TYPE_CHECKING:
    from deciban.logistic.model import LogisticModel

#: Logits that are nearer to each other are taken for equal in the slope between them.
MIN_LOGIT_STEP = 1e-6


def formula(model: LogisticModel) -> Formula:
    """``w_c x + b_c``, measured from the mean row; a row that lacks a number is refused.

    With bounds, x is the end of its range where it is beyond.
    """
    inputs = [Input(name, "number") for name in model.schema.names]
    refused = (*map(Missing, inputs), *infinite(inputs))
    centre, by_class = model.centre.tolist(), model.coef_by_class.T.tolist()
    numbers = inputs if model.bounds is None else _bounded(inputs, model.bounds.T.tolist())
    columns: dict[str, ByClass] = {
        x.name: [Scaled(number, at, weight) for weight in weights]
        for x, number, at, weights in zip(inputs, numbers, centre, by_class, strict=True)
    }
    prior = model.log_prior
    if not model.one_vs_rest:
        return additive(columns, prior, prior, refused)
    at_centre = model.logits(model.centre[None])[0].tolist()
    steps: list[Expression] = [
        Shared(Sum(tuple(terms))) for terms in zip(*columns.values(), strict=True)
    ]
    pairs = list(zip(steps, at_centre, strict=True))
    slopes = [Shared(_slope(step, origin)) for step, origin in pairs]
    joint = [log_sigmoid(_logit(step, origin)) for step, origin in pairs]
    shares = {
        name: [Product(part, slope) for part, slope in zip(parts, slopes, strict=True)]
        for name, parts in columns.items()
    }
    return Formula(joint, shares, prior, prior, refused)


def _bounded(inputs: Sequence[Input], bounds: Sequence[Sequence[float]]) -> Sequence[Expression]:
    """Numbers, none of which is beyond its bounds."""
    return [
        Shared(Extreme("greatest", (Number(low), Extreme("least", (Number(high), x)))))
        for x, (low, high) in zip(inputs, bounds, strict=True)
    ]


def _logit(step: Expression, origin: float) -> Expression:
    return Shared(Sum((Number(origin), step)))


def _slope(step: Expression, origin: float) -> Expression:
    """By how much the log sigmoid changes for a change of the logit from the origin on."""
    at_origin = -float(np.logaddexp(0.0, -origin))
    middle = Shared(Sum((Number(-origin), Product(Number(-0.5), step))))
    at_middle = Function("exp", log_sigmoid(middle))
    change = minus(log_sigmoid(_logit(step, origin)), Number(at_origin))
    near = Compare(Function("abs", step), "<", Number(MIN_LOGIT_STEP))
    return Case(((near, at_middle),), Quotient(change, step))
