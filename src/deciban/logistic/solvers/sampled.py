"""Newton's method for many rows of few columns: the Hessian of a sample serves them all.

A sample of the rows, drawn with more chance the more a row matters (its
leverage) and weighted by one over that chance, is solved exactly. That is where
the search on all rows starts, and the sample's Hessian, taken anew at each
point, preconditions it: a few products then do what a Hessian of all rows would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers import newton, truncated
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.problem import Point, Problem
from deciban.logistic.solvers.stopping import Solution

FloatArray = NDArray[np.float64]

#: Rows in the samples for each coefficient, and how steep the objective may still be at the end
#: of each: a sample is solved no closer than it is like the whole.
STAGES = ((40, 1e-3), (240, 1e-5))
#: A sample must leave most of the rows out, or it is not worth drawing.
LEAST_SAVING = 4


def pays(problem: Problem, per_coefficient: int = STAGES[0][0]) -> bool:
    """Whether there are many more rows than the sample would have."""
    return len(problem.y) > LEAST_SAVING * per_coefficient * problem.prior.centre.size


def solve(problem: Problem, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """The optimum of a sample and of a larger one, then steps on all rows.

    Those of dense rows are preconditioned by the first sample's Hessian; of
    others, a Hessian of all rows costs few products.
    """
    first, close = STAGES[0]
    sample = drawn(problem, first)
    near = newton.solve(sample, start, max(tol, close), max_iter)
    if not isinstance(problem.design, Dense):
        for per_coefficient, close in STAGES[1:]:
            if pays(problem, per_coefficient):
                more = drawn(problem, per_coefficient)
                near = newton.solve(more, near.point.W, max(tol, close), max_iter)
        return newton.solve(problem, near.point.W, tol, max_iter)

    def precondition(problem: Problem, point: Point) -> newton.Solve:
        return newton.inverse(sample, sample.at(point.W))

    return truncated.solve(problem, near.point.W, tol, max_iter, precondition)


def drawn(problem: Problem, per_coefficient: int = STAGES[0][0]) -> Problem:
    """Some rows, each with the weight that makes its expectation the whole."""
    size = per_coefficient * problem.prior.centre.size
    weight = np.ones(len(problem.y)) if problem.weight is None else problem.weight
    even = weight / weight.sum()
    chance = np.minimum(1.0, size * (even + _leverage(problem, weight)) / 2)
    at = np.flatnonzero(np.random.default_rng(0).random(len(chance)) < chance)
    return problem.rows(at, weight[at] / chance[at])


def _leverage(problem: Problem, weight: FloatArray) -> FloatArray:
    """The share of each row in the squares of the columns, averaged over the columns."""
    squares = problem.squares[:, 0]
    unit = np.where(squares > 0, 1.0 / np.where(squares > 0, squares, 1.0), 0.0)
    shares = problem.design.shares(unit / len(unit))
    return np.asarray(weight * shares)
