"""L-BFGS, as scipy has it: gradients only, and a memory of the last few steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.gradient_descent import ROUNDING_STEEPNESS
from deciban.logistic.solvers.problem import LogisticPoint, Problem

FloatArray = NDArray[np.float64]


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """Descend until the gradient vanishes, in units of ``1 / sqrt(diagonal of the Hessian)``."""
    diagonal = problem.hessian_diagonal(problem.at(start))
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def objective(v: FloatArray) -> tuple[float, FloatArray]:
        point = problem.at(v.reshape(start.shape) * unit)
        return point.value, (point.gradient * unit).ravel()

    options = {
        "maxiter": max_iter,
        "maxfun": 20 * max_iter,
        "gtol": tol * float(np.min(problem.scale * unit, initial=np.inf)),
        "ftol": 0.0,
        "maxls": 50,
    }
    result = minimize(
        objective, (start / unit).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    point = problem.at(result.x.reshape(start.shape) * unit)
    # An early end without a vanishing gradient: no lower value can be told from rounding.
    enough = max(tol, ROUNDING_STEEPNESS) if result.nit < max_iter else tol
    return Solution(point, int(result.nit), problem.steepness(point) <= enough)
