"""From the formula of a model to what a query gives: probabilities, an answer, evidence."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from deciban.formulas import Expression, Formula
from deciban.formulas.build import ZERO, minus
from deciban.formulas.formula import ByClass
from deciban.formulas.nodes import (
    All,
    Any,
    Case,
    Compare,
    Extreme,
    FloatArray,
    Function,
    Label,
    Number,
    Product,
    Quotient,
    Shared,
    Sum,
)
from deciban.models.evidence import DECIBANS

IMPOSSIBLE = Number(-math.inf)
#: A risk this close to the cost of abstaining, relatively, is equal to it.
TIE_TOLERANCE = 1e-9


def log_joints(formula: Formula, columns: Mapping[str, ByClass] | None) -> list[Expression]:
    """The log joint of every class; of an additive model from ``columns`` if they are needed."""
    if columns is None or not formula.additive:
        return [Shared(joint) for joint in formula.log_joint]
    return [
        Shared(Sum((Number(offset), *(by_class[k] for by_class in columns.values()))))
        for k, offset in enumerate(formula.log_prior.tolist())
    ]


def posteriors(formula: Formula, joint: Sequence[Expression], shift: FloatArray) -> ByClass:
    """``P(c | x)`` of every class; missing where the model refuses the row.

    ``shift`` is added to the log joints and to the posterior of an impossible row.
    """
    moved = [_move(one, by) for one, by in zip(joint, shift.tolist(), strict=True)]
    top: Expression = Extreme("greatest", tuple(moved))
    if formula.refused:
        top = Case(((Any(formula.refused), Label(None)),), top)
    top = Shared(top)
    fallback = formula.fallback + shift
    fallback = np.exp(fallback - fallback.max())
    weights = [
        Shared(_weight(one, top, number))
        for one, number in zip(moved, fallback.tolist(), strict=True)
    ]
    total = Shared(Sum(tuple(weights)))
    return [Shared(Quotient(weight, total)) for weight in weights]


def _move(joint: Expression, by: float) -> Expression:
    return joint if by == 0 else Shared(Sum((joint, Number(by))))


def _weight(joint: Expression, top: Expression, fallback: float) -> Expression:
    """``exp(joint - top)``; where all classes are impossible, that of the fallback."""
    impossible = Compare(top, "=", IMPOSSIBLE)
    return Case(((impossible, Number(fallback)),), Function("exp", minus(joint, top)))


# ---------------------------------------------------------------------- answers


def winner(
    posterior: ByClass, loss: FloatArray | None = None, abstain: float | None = None
) -> Expression:
    """The number of the answer of least risk, the first of equals; missing for an abstention."""
    gains = posterior if loss is None else _savings(posterior, loss)
    best = Shared(Extreme("greatest", tuple(gains)))
    number = Case(
        tuple((Compare(gain, "=", best), Number(float(k))) for k, gain in enumerate(gains)),
        Label(None),
    )
    if abstain is None:
        return Shared(number)
    first = Shared(number)
    risks = [
        (Compare(first, "=", Number(float(k))), _risk(posterior, k, loss))
        for k in range(len(posterior))
    ]
    least = Shared(Case(tuple(risks), Label(None)))
    too_much = Compare(least, ">", Number(abstain * (1 + TIE_TOLERANCE)))
    return Shared(Case(((too_much, Label(None)),), first))


def _savings(posterior: ByClass, loss: FloatArray) -> list[Expression]:
    """What each answer saves of the worst one to each truth."""
    return [Shared(_dot(posterior, row)) for row in loss.max(axis=0) - loss]


def _risk(posterior: ByClass, answer: int, loss: FloatArray | None) -> Expression:
    """The expected loss of an answer."""
    others = np.arange(len(posterior)) != answer
    return _dot(posterior, others.astype(float) if loss is None else loss[answer])


def _dot(posterior: ByClass, weights: FloatArray) -> Expression:
    pairs = zip(posterior, weights.tolist(), strict=True)
    return Sum(tuple(Product(Number(w), p) for p, w in pairs if w != 0))


def label_of(winner: Expression, classes: Sequence[Hashable]) -> Expression:
    """The label of an answer."""
    branches = (
        (Compare(winner, "=", Number(float(k))), Label(label)) for k, label in enumerate(classes)
    )
    return Case(tuple(branches), Label(None))


# ---------------------------------------------------------------------- evidence


def evidence(contributions: ByClass, likeliest: Expression) -> Expression:
    """Decibans of a column for the likeliest class, against the geometric mean of all others."""
    branches = (
        (Compare(likeliest, "=", Number(float(k))), _decibans(contributions, k))
        for k in range(len(contributions))
    )
    return Case(tuple(branches), Label(None))


def _decibans(contributions: ByClass, k: int) -> Expression:
    others = [one for i, one in enumerate(contributions) if i != k]
    if not others:
        return ZERO
    mean = Product(Number(1 / len(others)), Sum(tuple(others)))
    both = All((Compare(contributions[k], "=", IMPOSSIBLE), Compare(mean, "=", IMPOSSIBLE)))
    return Case(((both, ZERO),), Product(Number(DECIBANS), minus(contributions[k], mean)))
