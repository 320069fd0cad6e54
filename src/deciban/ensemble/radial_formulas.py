"""Radial basis functions as formulas: what they add to each class, and each number's part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from deciban.ensemble.radial import MIN_CHANGE, RadialBasis
from deciban.formulas.build import minus
from deciban.formulas.nodes import (
    Case,
    Compare,
    Expression,
    Function,
    Number,
    Product,
    Quotient,
    Shared,
    Sum,
)


class RadialFormula:
    """A basis, whose scaled numbers are expressions, each shared."""

    def __init__(self, basis: RadialBasis, numbers: Sequence[Expression]) -> None:
        self._basis, self._numbers = basis, numbers
        self._distance_of_mean = np.sum(basis.centres**2, axis=1).tolist()

    def logit(self, k: int) -> Expression:
        """What all centres add to a class."""
        return _weighted(self._basis.coef[:, k].tolist(), self._exponentials)

    def part(self, j: int, k: int) -> Expression:
        """What a number adds to a class: see ``RadialBasis.add_contributions``."""
        u = self._numbers[j]
        centred = -2.0 * self._basis.centres[:, j] * self._basis.coef[:, k]
        linear = _weighted(centred.tolist(), self._slopes)
        return Product(u, Sum((Product(u, self._all_centres(k)), linear)))

    @cached_property
    def _changes(self) -> list[Expression]:
        """How the squared distance to each centre differs from that of the mean."""
        squares = Shared(Sum(tuple(Product(u, u) for u in self._numbers)))
        return [
            Shared(Sum((squares, _weighted((-2.0 * centre).tolist(), self._numbers))))
            for centre in self._basis.centres
        ]

    @cached_property
    def _exponentials(self) -> list[Expression]:
        pairs = zip(self._changes, self._distance_of_mean, strict=True)
        return [
            Shared(Product(Number(float(np.exp(-d))), Function("exp", Product(Number(-1.0), one))))
            for one, d in pairs
        ]

    @cached_property
    def _slopes(self) -> list[Expression]:
        out: list[Expression] = []
        each = zip(self._changes, self._exponentials, self._distance_of_mean, strict=True)
        for change, here, distance in each:
            at_mean = Number(float(np.exp(-distance)))
            small = Compare(Function("abs", change), "<", Number(MIN_CHANGE))
            tangent = Product(Number(-0.5), Sum((here, at_mean)))
            out.append(Shared(Case(((small, tangent),), Quotient(minus(here, at_mean), change))))
        return out

    def _all_centres(self, k: int) -> Expression:
        if k not in self._sums:
            self._sums[k] = Shared(_weighted(self._basis.coef[:, k].tolist(), self._slopes))
        return self._sums[k]

    @cached_property
    def _sums(self) -> dict[int, Expression]:
        return {}


def _weighted(weights: Sequence[float], expressions: Sequence[Expression]) -> Expression:
    """A weighted sum of what is neither large nor missing."""
    pairs = zip(weights, expressions, strict=True)
    return Sum(tuple(Product(Number(weight), one) for weight, one in pairs))
