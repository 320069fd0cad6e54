"""Newton's method for many rows of few columns: the Hessian of a sample serves them all.

A sample of the rows, drawn with a probability that grows with a row's leverage and weighted by
one over that probability, is solved exactly. That is where the search on all rows starts, and
the sample's Hessian, taken anew at each point, preconditions it: a few products then do what a
Hessian of all rows would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers import newton, newton_cg
from deciban.logistic.solvers.conjugate_gradient import Operator
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.problem import LogisticPoint, Problem

FloatArray = NDArray[np.float64]

#: Rows in each sample for every coefficient, and how steep the objective may still be at the
#: end of it: a sample is solved no closer than it is like the whole.
SAMPLES = ((40, 1e-3), (240, 1e-5))
#: There must be so many times the rows of the sample, or it is not worth drawing.
MIN_ROWS_PER_SAMPLED = 4


def applies(problem: Problem, rows_per_coefficient: int = SAMPLES[0][0]) -> bool:
    """Whether there are many more rows than the sample would have."""
    sample_rows = rows_per_coefficient * problem.prior.centre.size
    return len(problem.y) > MIN_ROWS_PER_SAMPLED * sample_rows


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """The optimum of a sample and of a larger one, then steps on all rows.

    Those of dense rows are preconditioned by the first sample's Hessian; of
    others, a Hessian of all rows costs few products.
    """
    rows_per_coefficient, steepness = SAMPLES[0]
    sample = draw_sample(problem, rows_per_coefficient)
    near = newton.solve(sample, start, max(tol, steepness), max_iter)
    if not isinstance(problem.design, Dense):
        for rows_per_coefficient, steepness in SAMPLES[1:]:
            if applies(problem, rows_per_coefficient):
                larger = draw_sample(problem, rows_per_coefficient)
                near = newton.solve(larger, near.point.W, max(tol, steepness), max_iter)
        return newton.solve(problem, near.point.W, tol, max_iter)

    def preconditioner(problem: Problem, point: LogisticPoint) -> Operator:
        return newton.inverse_hessian(sample, sample.at(point.W))

    return newton_cg.solve(problem, near.point.W, tol, max_iter, preconditioner)


def draw_sample(problem: Problem, rows_per_coefficient: int = SAMPLES[0][0]) -> Problem:
    """Some rows, each weighted so that the expected objective is that of all rows."""
    size = rows_per_coefficient * problem.prior.centre.size
    weight = np.ones(len(problem.y)) if problem.weight is None else problem.weight
    even = weight / weight.sum()
    probability = np.minimum(1.0, size * (even + _leverage(problem, weight)) / 2)
    rows = np.flatnonzero(np.random.default_rng(0).random(len(probability)) < probability)
    return problem.take(rows, weight[rows] / probability[rows])


def _leverage(problem: Problem, weight: FloatArray) -> FloatArray:
    """The share of each row in the squares of the columns, averaged over the columns, (n,)."""
    squares = problem.squares[:, 0]
    unit = np.where(squares > 0, 1.0 / np.where(squares > 0, squares, 1.0), 0.0)
    shares = problem.design.squared_product(unit[:, None] / len(unit))
    return np.asarray(weight * shares[:, 0])
