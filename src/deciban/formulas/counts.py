"""The probabilities of counts as trees: Poisson and negative binomial distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deciban.formulas.build import ZERO, known, log_gamma, stirling_rest, times
from deciban.formulas.nodes import (
    All,
    Case,
    Compare,
    Expression,
    Function,
    Label,
    Number,
    Product,
    Shared,
    Sum,
)


@dataclass(frozen=True, eq=False)
class Count:
    """A whole number that is not negative, missing where it is none, and ``log x!`` of it."""

    x: Expression
    log_factorial: Expression


def as_count(x: Expression, greatest: float) -> Count:
    """A number where it is a count."""
    whole = Compare(x, "=", Function("floor", x))
    near = Compare(x, ">=", ZERO), Compare(x, "<=", Number(greatest))
    count = Shared(Case(((All((*near, whole)), x),), Label(None)))
    return Count(count, Shared(log_gamma(Shared(Sum((count, Number(1.0)))))))


def poisson(count: Count, mean: float) -> Expression:
    """The log probability of a count of some mean; of NaN, which is not known, nothing."""
    if not mean > 0:
        return _of_nothing(count, mean)
    terms = times(math.log(mean), count.x), Number(-mean), _minus(count.log_factorial)
    return known(count.x, Sum(terms))


def negative_binomial(count: Count, mean: float, rows: float, large: float) -> Expression:
    """``log Gamma(a + x) / (Gamma(a) x!) + a log(b / (b + 1)) - x log(b + 1)``, ``a = mean b``.

    From the shape ``large`` on, the ratio of gamma functions is one series, which does not cancel.
    """
    if not mean > 0:
        return _of_nothing(count, mean)
    x, a = count.x, mean * rows
    more = Shared(Sum((x, Number(a))))
    ratio: tuple[Expression, ...]
    if a > large:
        share = times(1 / a, x)
        ratio = (
            Product(Number(a - 0.5), Function("log1p", share)),
            Product(x, Function("log", more)),
            _minus(x),
            stirling_rest(more),
            Number(-(1 / 12 - (1 / 360 - 1 / (1260 * a * a)) / (a * a)) / a),
        )
    else:
        ratio = log_gamma(more), Number(-math.lgamma(a))
    rest = Number(-a * math.log1p(1 / rows)), times(-math.log1p(rows), x)
    return known(x, Sum((*ratio, _minus(count.log_factorial), *rest)))


def _of_nothing(count: Count, mean: float) -> Expression:
    """Where the mean is 0, no count but 0 is possible."""
    if math.isnan(mean):
        return ZERO
    return Case(((Compare(count.x, ">", ZERO), Number(-math.inf)),), ZERO)


def _minus(x: Expression) -> Expression:
    return Product(Number(-1.0), x)
