"""L-BFGS, as scipy has it: gradients only, and twenty vectors of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deciban.logistic.solvers.gradient import CLOSE
from deciban.logistic.solvers.problem import Problem
from deciban.logistic.solvers.stopping import Solution

FloatArray = NDArray[np.float64]


def solve(problem: Problem, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """Descend until the gradient vanishes, in coefficients scaled by the curvature at the start."""
    first = problem.at(start)
    diagonal = problem.diagonal(first)
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def objective(v: FloatArray) -> tuple[float, FloatArray]:
        point = problem.at(v.reshape(start.shape) * unit)
        return point.value, (point.gradient * unit).ravel()

    least = tol * float(np.min(problem.scale * unit, initial=np.inf))
    options = {
        "maxiter": max_iter,
        "maxfun": 20 * max_iter,
        "gtol": least,
        "ftol": 0.0,
        "maxls": 50,
    }
    found = minimize(
        objective, (start / unit).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    point = problem.at(found.x.reshape(start.shape) * unit)
    # Where no lower value is found, rounding has been reached.
    steep = problem.steepness(point)
    return Solution(
        point, int(found.nit), steep <= (max(tol, CLOSE) if found.nit < max_iter else tol)
    )
