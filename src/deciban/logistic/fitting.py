"""Fitting: from rows and options to coefficients and their posterior.

One problem is solved for all classes, or, one against the rest, one for each. Lists of priors,
problems and solutions are in the order of those, and coefficients of all of them stand side by
side, (width, logits), the row of the intercept last.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from deciban import threads
from deciban.logistic import closed_form, solvers
from deciban.logistic.solvers import Prior, Problem, two_valued
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.problem import LogisticPoint
from deciban.logistic.solvers.selection import MAX_HESSIAN_COEFFICIENTS
from deciban.logistic.solvers.sparse import Sparse

FloatArray = NDArray[np.float64]
Solutions = Sequence[Solution[LogisticPoint]]

#: A fit keeps a full posterior if it costs no more operations than this.
MAX_POSTERIOR_FLOPS = 1e8
#: The iterations of a solver with second derivatives, and of one without.
MAX_NEWTON_ITER, MAX_GRADIENT_ITER = 200, 10_000
#: The naive Bayes start is halved no more often.
MAX_START_HALVINGS = 8


@dataclass(frozen=True)
class Options:
    """What the caller asks for, checked; a penalty ``lam`` of None is to be selected."""

    lam: float | None
    one_vs_rest: bool
    fit_intercept: bool
    solver: str
    tol: float
    max_iter: int | None


def l2_priors(options: Options, lam: float, n_columns: int, n_classes: int) -> list[Prior]:
    """The penalty as the prior of each problem."""
    apart = options.one_vs_rest and n_classes > 2
    n_logits = 1 if apart or n_classes == 2 else n_classes
    prior = Prior.l2(lam, n_columns, n_logits, intercept=options.fit_intercept)
    return [prior] * (n_classes if apart else 1)


def problems(
    X: FloatArray | csr_array,
    codes: NDArray[np.intp],
    weight: FloatArray | None,
    priors: Sequence[Prior],
    intercept: bool,
) -> list[Problem]:
    """What is to be solved: one problem of all classes, or of each class against the rest."""
    make_design = two_valued.design if isinstance(X, np.ndarray) else Sparse
    design = make_design(X, intercept, threads.run)
    if len(priors) == 1:
        return [Problem(design, codes, priors[0], weight, run=threads.run)]
    return [
        Problem(design, (codes == c).astype(np.intp), prior, weight, run=threads.run)
        for c, prior in enumerate(priors)
    ]


def start_at_zero(some: Sequence[Problem]) -> FloatArray:
    """Coefficients of all problems, (width, logits), that are zero."""
    return np.hstack([np.zeros_like(problem.prior.centre) for problem in some])


def start_at_naive_bayes(
    X: FloatArray | csr_array,
    codes: NDArray[np.intp],
    weight: FloatArray | None,
    n_classes: int,
    some: Sequence[Problem],
) -> FloatArray:
    """As far towards the naive Bayes coefficients as lowers the objectives, (width, logits)."""
    W = closed_form.naive_bayes_coefficients(X, codes, n_classes, weight)
    W = identified(W[: some[0].design.width])
    parts = np.hsplit(W, len(some))
    return np.hstack([_best_halving(p, part) for p, part in zip(some, parts, strict=True)])


def identified(W: FloatArray) -> FloatArray:
    """Coefficients of classes, (width, classes), as logits: differences are all that counts.

    Of two classes the second less the first; of more, each less the mean.

    >>> identified(np.array([[1.0, 4.0]])), identified(np.array([[1.0, 2.0, 6.0]]))
    (array([[3.]]), array([[-2., -1.,  3.]]))
    """
    return W[:, 1:] - W[:, :1] if W.shape[1] == 2 else W - W.mean(axis=1, keepdims=True)


def _best_halving(problem: Problem, W: FloatArray) -> FloatArray:
    """W, W / 2, W / 4 and so on: naive Bayes counts what columns share more than once."""
    best, lowest = np.zeros_like(W), problem.at(np.zeros_like(W)).value
    for halvings in range(MAX_START_HALVINGS):
        point = problem.at(W / 2**halvings)
        if point.value >= lowest and np.any(best):
            break
        if point.value < lowest:
            best, lowest = point.W, point.value
    return best


def solve(
    some: Sequence[Problem], starts: FloatArray, options: Options
) -> list[Solution[LogisticPoint]]:
    """The optimum of every problem, with a warning where there is none or it was not reached."""
    without_hessian = options.solver in ("gradient", "lbfgs")
    usual = MAX_GRADIENT_ITER if without_hessian else MAX_NEWTON_ITER
    max_iter = usual if options.max_iter is None else options.max_iter
    parts = np.hsplit(np.ascontiguousarray(starts), len(some))
    dense = isinstance(some[0].design, Dense)
    solutions = []
    with nullcontext() if dense else threads.serial_blas():
        for problem, part in zip(some, parts, strict=True):
            start = part.copy()
            solution = solvers.solve(problem, start, options.solver, options.tol, max_iter)
            _warn_unless_optimal(problem, solution)
            solutions.append(solution)
    return solutions


def _warn_unless_optimal(problem: Problem, solution: Solution[LogisticPoint]) -> None:
    free = not problem.prior.diagonal()[: problem.design.width - 1].any()
    if free and problem.separates(solution.point):
        warnings.warn(
            "the classes are perfectly separable and lam is 0: there is no optimum, coefficients "
            "grow without end. Hint: lam > 0 makes the optimum exist.",
            ConvergenceWarning,
            stacklevel=4,
        )
    elif not solution.converged:
        warnings.warn(
            f"no convergence after {solution.n_iter} iterations: the largest derivative is "
            f"{problem.steepness(solution.point):.1e} of the rows' weight. "
            "Hint: raise max_iter, scale the columns, or use another solver.",
            ConvergenceWarning,
            stacklevel=4,
        )


def coefficients(solutions: Solutions, intercept: bool) -> FloatArray:
    """The coefficients of all problems, (width, logits); intercepts of a softmax add up to zero."""
    W = np.hstack([solution.point.W for solution in solutions])
    if intercept and len(solutions) == 1 and W.shape[1] > 1:
        W[-1] -= W[-1].mean()  # softmax sees differences only
    return W


def split_intercept(W: FloatArray, intercept: bool) -> tuple[FloatArray, FloatArray]:
    """Coefficients, (logits, columns), and intercepts, (logits,), of those that solvers have.

    >>> split_intercept(np.array([[2.0], [-1.0]]), True)
    (array([[2.]]), array([-1.]))
    """
    d = len(W) - intercept
    return np.ascontiguousarray(W[:d].T), W[d].copy() if intercept else np.zeros(W.shape[1])


def laplace_posteriors(
    some: Sequence[Problem], solutions: Solutions, max_flops: float = np.inf
) -> list[Prior]:
    """Laplace's approximation: around each optimum, with the curvature there as precision.

    The curvature is the Hessian, or its diagonal if that has too many coefficients or
    would cost more than ``max_flops``.
    """
    posteriors = []
    for problem, solution in zip(some, solutions, strict=True):
        size = solution.point.W.size
        small = size <= MAX_HESSIAN_COEFFICIENTS and len(problem.y) * size**2 <= max_flops
        full = small or problem.prior.full
        curvature = problem.hessian if full else problem.hessian_diagonal
        posteriors.append(Prior(solution.point.W, curvature(solution.point)))
    return posteriors
