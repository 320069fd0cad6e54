"""Logistic regression: the optimum of a convex objective, and ways to it.

Conventions, the same in every module:

- ``W`` is ``(width, m)``: a row for each column of X and, where there is an
  intercept, a last one for it. Two classes have one score, ``m = 1``: the
  second class against the first. More classes have one score each.
- The objective is the summed loss of the rows plus half the squared distance
  of W from the centre of a Gaussian prior, in units of its precision.
- A solver is a module with ``solve(problem, start, tol, max_iter)``.

Read in this order: ``prior``, ``pairs``, ``dense``, ``sparse`` and ``split``
(the same products with three kinds of matrix), ``problem`` (value, gradient,
Hessian), the solvers ``newton``, ``truncated``, ``rowwise``, ``sampled``,
``lbfgs``, ``gradient``, then ``solvers``, which chooses among them.
"""

from __future__ import annotations

from deciban.logistic.solvers.choice import SOLVERS, choose, solve
from deciban.logistic.solvers.prior import Prior
from deciban.logistic.solvers.problem import Problem
from deciban.logistic.solvers.stopping import Solution

__all__ = ["SOLVERS", "Prior", "Problem", "Solution", "choose", "solve"]
