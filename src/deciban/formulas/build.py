"""Trees that several families and models need."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from deciban.formulas.nodes import (
    Case,
    Cell,
    Compare,
    Condition,
    Expression,
    Extreme,
    FloatArray,
    Function,
    Missing,
    Number,
    Product,
    Quotient,
    Scaled,
    Shared,
    Steps,
    Sum,
    Table,
)

ZERO = Number(0.0)
#: Stirling's series is taken at so much above its argument, where it is right to 1e-13.
STIRLING_SHIFT = 8


def known(x: Expression, then: Expression, otherwise: Expression = ZERO) -> Expression:
    """An expression where x is not missing; nothing is said where it is."""
    return Case(((Missing(x), otherwise),), then)


def lookup(
    x: Expression, keys: Sequence[Hashable], numbers: FloatArray, unseen: FloatArray
) -> list[Expression]:
    """The line of x among keys, (keys, columns); ``unseen`` where it is no key, 0 if missing."""
    table = Table((tuple(keys),), numbers)
    return [
        known(x, Cell(table, (x,), k, Number(other))) for k, other in enumerate(unseen.tolist())
    ]


def steps(x: Expression, edges: FloatArray, numbers: FloatArray) -> list[Expression]:
    """The line of the bin of x, (bins, columns), between rising edges; 0 where x is missing."""
    ends = tuple(edges.tolist())
    return [known(x, Steps(x, ends, tuple(column))) for column in numbers.T.tolist()]


def minus(a: Expression, b: Expression) -> Expression:
    """The difference of two numbers."""
    return Sum((a, Product(Number(-1.0), b)))


def times(factor: float, x: Expression) -> Expression:
    """A multiple of a number that is an input or shared."""
    return Scaled(x, 0.0, factor)


def clip(x: Expression, low: float, high: float) -> Expression:
    """A number no less than ``low`` and no more than ``high``; x is an input or shared."""
    below, above = Compare(x, "<", Number(low)), Compare(x, ">", Number(high))
    return Case(((below, Number(low)), (above, Number(high))), x)


def bound_evidence(by_class: Sequence[Expression], most: float) -> list[Expression]:
    """Log likelihoods by class, none below the greatest by more than ``most``."""
    if math.isinf(most) or len(by_class) == 1:
        return list(by_class)
    each = tuple(Shared(log) for log in by_class)
    least = Shared(Sum((Extreme("greatest", each), Number(-most))))
    return [Extreme("greatest", (log, least)) for log in each]


def infinite(xs: Iterable[Expression]) -> tuple[Condition, ...]:
    """Whether numbers are infinite: no model takes such rows."""
    return tuple(Compare(Function("abs", x), "=", Number(math.inf)) for x in xs)


def log_gamma(z: Expression, shift: int = STIRLING_SHIFT) -> Expression:
    """``log Gamma(z)`` for z > 0, by Stirling's series at ``z + shift``; z is shared."""
    w = Shared(Sum((z, Number(float(shift)))))
    terms: list[Expression] = [
        Product(Sum((w, Number(-0.5))), Function("log", w)),
        Product(Number(-1.0), w),
        Number(0.5 * math.log(2 * math.pi)),
        stirling_rest(w),
    ]
    if shift:
        product: Expression = z
        for i in range(1, shift):
            product = Product(product, Sum((z, Number(float(i)))))
        terms.append(Product(Number(-1.0), Function("log", product)))
    return Sum(tuple(terms))


def stirling_rest(w: Expression) -> Expression:
    """``log Gamma(w) - (w - 1/2) log w + w - log(2 pi) / 2`` for w >= 8; w is shared."""
    r = Shared(Quotient(Number(1.0), w))
    square = Shared(Product(r, r))
    series: Expression = Number(1 / 1188)
    for coefficient in (-1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = Sum((Number(coefficient), Product(square, series)))
    return Product(r, series)


def log_sigmoid(z: Expression) -> Expression:
    """``-log(1 + exp(-z))``; z is shared."""
    size = Product(Number(-1.0), Function("abs", z))
    least = Case(((Compare(z, "<", ZERO), z),), ZERO)
    return minus(least, Function("log1p", Function("exp", size)))


def runs(inside: Sequence[bool]) -> list[tuple[int, int]]:
    """From where to where, the end not included, something holds in a row.

    >>> runs([True, True, False, True])
    [(0, 2), (3, 4)]
    """
    marks = np.flatnonzero(np.diff([False, *inside, False])).tolist()
    return [(a, b) for i, (a, b) in enumerate(pairwise(marks)) if i % 2 == 0]
