"""Which solver serves a problem of what size.

==================================  ==========================================
coefficients                        solver
==================================  ==========================================
at most 1,500                       Newton with Cholesky; where rows are many,
                                    from the optimum of a sample
more, of one logit; or < 100,000    Newton with conjugate gradients
more                                L-BFGS
more than rows, these sparse        Newton over the rows, from where dual ascent ends
==================================  ==========================================
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError
from deciban.logistic.solvers import (
    dual_ascent,
    dual_newton,
    gradient_descent,
    lbfgs,
    newton,
    newton_cg,
    sampled_newton,
)
from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.problem import LogisticPoint, Problem

FloatArray = NDArray[np.float64]
Solve = Callable[[Problem, FloatArray, float, int], Solution[LogisticPoint]]

#: The names of the solvers.
SOLVERS = ("auto", "newton", "newton-cg", "lbfgs", "gradient")
#: A Hessian of more coefficients is not held.
MAX_HESSIAN_COEFFICIENTS = 1_500
#: Several logits of more coefficients than this are left to L-BFGS.
MAX_CG_COEFFICIENTS = 100_000
#: How near to the optimum dual ascent leads before Newton's method goes on.
ASCENT_TOLERANCE, MAX_ASCENT_PASSES = 1e-4, 100


def choose(solver: str, n_coefficients: int, n_logits: int) -> str:
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
    if n_coefficients <= MAX_HESSIAN_COEFFICIENTS:
        return "newton"
    return "newton-cg" if n_logits == 1 or n_coefficients <= MAX_CG_COEFFICIENTS else "lbfgs"


def solve(
    problem: Problem,
    start: FloatArray,
    solver: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Solution[LogisticPoint]:
    """The optimum, by the solver of that name.

    >>> from deciban.logistic.solvers import Prior
    >>> from deciban.logistic.solvers.dense import Dense
    >>> problem = Problem(Dense(np.array([[-1.0], [1.0]])), np.array([0, 1]), Prior.l2(1, 1, 1))
    >>> w, b = solve(problem, np.zeros((2, 1))).point.W.ravel().round(4)
    >>> float(w), abs(float(b))                     # w = 2 / (1 + exp(w))
    (0.6748, 0.0)
    """
    name = choose(solver, start.size, start.shape[1])
    if name == "newton" and sampled_newton.applies(problem):
        name = "sampled"
    if solver == "auto" and name in ("newton-cg", "lbfgs") and dual_newton.applies(problem):
        name, start = "dual", _ascend(problem, start)
    solvers: dict[str, Solve] = {
        "newton": newton.solve,
        "sampled": sampled_newton.solve,
        "dual": dual_newton.solve,
        "newton-cg": newton_cg.solve,
        "lbfgs": lbfgs.solve,
        "gradient": gradient_descent.solve,
    }
    return solvers[name](problem, start, tol, max_iter)


def _ascend(problem: Problem, start: FloatArray) -> FloatArray:
    """Coefficients near the optimum by dual ascent, or those of the start if they are better."""
    if not dual_ascent.applies(problem):
        return start
    with np.errstate(all="ignore"):  # what single precision cannot hold is no better
        point = dual_ascent.solve(problem, start, ASCENT_TOLERANCE, MAX_ASCENT_PASSES).point
    return point.W if point.value < problem.at(start).value else start
