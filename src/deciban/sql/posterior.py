"""From the formula of a model to what a query gives: probabilities, an answer, evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deciban.formulas import Expression, Formula
from deciban.formulas.build import ZERO, minus
from deciban.formulas.formula import ByClass
from deciban.formulas.nodes import (
    All,
    Any,
    Case,
    Compare,
    Condition,
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
from deciban.models.scores import DECIBANS

IMPOSSIBLE = Number(-math.inf)
#: A risk this close to the cost of abstaining, relatively, is equal to it.
TIE_TOLERANCE = 1e-9
#: A sum of no more terms is added up again where it is used.
MAX_REPEATED_TERMS = 8


def log_joints(formula: Formula, columns: Mapping[str, ByClass] | None) -> list[Expression]:
    """The log joint of every class; of an additive model from ``columns`` if they are needed."""
    if columns is None or not formula.additive:
        return [Shared(joint) for joint in formula.log_joint]
    return [
        Shared(Sum((Number(offset), *(by_class[k] for by_class in columns.values()))))
        for k, offset in enumerate(formula.log_prior.tolist())
    ]


class Posterior(NamedTuple):
    """``P(c | x)`` of every class, and its multiple that is 1 for the likeliest."""

    probability: ByClass
    weight: ByClass


def posteriors(formula: Formula, joint: Sequence[Expression], shift: FloatArray) -> Posterior:
    """The posterior of every class; missing where the model refuses the row.

    ``shift`` is added to the log joints and to the posterior of an impossible row.
    """
    moved = [_move(one, by) for one, by in zip(joint, shift.tolist(), strict=True)]
    top: Expression = Extreme("greatest", tuple(moved))
    if formula.refused:
        top = Case(((Any(formula.refused), Label(None)),), top)
    top = Shared(top)
    fallback = formula.fallback + shift
    fallback = np.exp(fallback - fallback.max())
    pairs = zip(moved, fallback.tolist(), strict=True)
    weights = [Shared(_weight(one, top, number)) for one, number in pairs]
    total: Expression = Sum(tuple(weights))
    if len(weights) > MAX_REPEATED_TERMS:
        total = Shared(total)
    return Posterior([Quotient(weight, total) for weight in weights], weights)


def _move(joint: Expression, by: float) -> Expression:
    return joint if by == 0 else Shared(Sum((joint, Number(by))))


def _weight(joint: Expression, top: Expression, fallback: float) -> Expression:
    """``exp(joint - top)``; where all classes are impossible, that of the fallback."""
    impossible = Compare(top, "=", IMPOSSIBLE)
    return Case(((impossible, Number(fallback)),), Function("exp", minus(joint, top)))


# ---------------------------------------------------------------------- answers


class Answers(NamedTuple):
    """Whether no answer is given, and whether that of each class is, if none before it is."""

    none: Condition | None
    given: Sequence[Condition]

    def choose(self, of_class: Sequence[Expression]) -> Expression:
        """What belongs to the answer; missing without one."""
        branches = list(zip(self.given, of_class, strict=True))
        if self.none is not None:
            branches.insert(0, (self.none, Label(None)))
        return Case(tuple(branches), Label(None))


def likeliest(posterior: Posterior) -> Answers:
    """The class of the greatest probability, the first of equals."""
    return Answers(None, [Compare(weight, ">=", Number(1.0)) for weight in posterior.weight])


def least_risk(
    posterior: Posterior, loss: FloatArray | None, abstain: float | None = None
) -> Answers:
    """The answer of least expected loss; none where that is more than abstaining costs."""
    probability = [Shared(p) for p in posterior.probability]
    answers = likeliest(posterior)
    if loss is not None:
        gains = _savings(probability, loss)
        best = Shared(Extreme("greatest", tuple(gains)))
        answers = Answers(None, [Compare(gain, "=", best) for gain in gains])
    if abstain is None:
        return answers
    risks = [_risk(probability, k, loss) for k in range(len(probability))]
    too_much = Number(abstain * (1 + TIE_TOLERANCE))
    return Answers(Compare(Shared(answers.choose(risks)), ">", too_much), answers.given)


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


# ---------------------------------------------------------------------- evidence


def evidence(contributions: ByClass) -> list[Expression]:
    """Decibans of a column for every class, against the geometric mean of all others."""
    return [_decibans(contributions, k) for k in range(len(contributions))]


def _decibans(contributions: ByClass, k: int) -> Expression:
    others = [one for i, one in enumerate(contributions) if i != k]
    if not others:
        return ZERO
    mean = Product(Number(1 / len(others)), Sum(tuple(others)))
    both = All((Compare(contributions[k], "=", IMPOSSIBLE), Compare(mean, "=", IMPOSSIBLE)))
    return Case(((both, ZERO),), Product(Number(DECIBANS), minus(contributions[k], mean)))
