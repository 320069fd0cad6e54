"""Which solver serves a problem of what size.

==================================  ==========================================
coefficients                        solver
==================================  ==========================================
at most 1,500                       Newton with Cholesky; where rows are many,
                                    from the optimum of a sample
more, of one score; or < 100,000    Newton with conjugate gradients; over the
                                    rows where these are fewer than columns
more                                L-BFGS
==================================  ==========================================
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.logistic.solvers import gradient, lbfgs, newton, rowwise, sampled, truncated
from deciban.logistic.solvers.problem import Problem
from deciban.logistic.solvers.stopping import Solution

FloatArray = NDArray[np.float64]

#: The names of the solvers.
SOLVERS = ("auto", "newton", "newton-cg", "lbfgs", "gradient")
#: A Hessian of more coefficients is not held.
MOST_NEWTON = 1_500
#: Several scores of more coefficients than this are left to L-BFGS.
MOST_CG = 100_000


def choose(solver: str, n_coefficients: int, n_scores: int) -> str:
    """The solver by its name, or by the size of the problem.

    >>> choose("auto", 385, 7), choose("auto", 10**6, 1), choose("auto", 10**6, 20)
    ('newton', 'newton-cg', 'lbfgs')
    """
    if solver not in SOLVERS:
        raise ParameterError(
            f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {solver!r}.",
            hint='"auto" chooses by the size of the problem',
        )
    if solver != "auto":
        return solver
    if n_coefficients <= MOST_NEWTON:
        return "newton"
    return "newton-cg" if n_scores == 1 or n_coefficients <= MOST_CG else "lbfgs"


def solve(
    problem: Problem,
    start: FloatArray,
    solver: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution:
    """The optimum, by the solver of that name.

    >>> from deciban.logistic.solvers import Prior
    >>> from deciban.logistic.solvers.dense import Dense
    >>> problem = Problem(Dense(np.array([[-1.0], [1.0]])), np.array([0, 1]), Prior.l2(1, 1, 1))
    >>> w, b = solve(problem, np.zeros((2, 1))).point.W.ravel().round(4)
    >>> float(w), abs(float(b))                     # w = 2 / (1 + exp(w))
    (0.6748, 0.0)
    """
    name = choose(solver, start.size, start.shape[1])
    if name == "newton":
        name = "sampled" if sampled.pays(problem) else name
    if solver == "auto" and name == "newton-cg" and rowwise.pays(problem):
        name = "rowwise"
    ways: dict[str, Callable[..., Solution]] = {
        "newton": newton.solve,
        "sampled": sampled.solve,
        "rowwise": rowwise.solve,
        "newton-cg": truncated.solve,
        "lbfgs": lbfgs.solve,
        "gradient": gradient.solve,
    }
    return ways[name](problem, start, tol, max_iter)
