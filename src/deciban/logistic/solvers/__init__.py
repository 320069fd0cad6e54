"""Solvers of penalised logistic regression: the optimum of a smooth convex objective.

Conventions
-----------
- n rows, d columns, K classes. ``X`` is (n, d); where there is an intercept, a column of ones
  stands behind it. ``width`` is d, or d + 1 with the intercept.
- ``m`` is the number of logits of a row: 1 for two classes (the log-odds of the second against
  the first), K for three or more (softmax).
- ``W``, (width, m), are the coefficients; the row of the intercept is the last. As a vector they
  are in C order: all logits of a column stand together.
- ``proba``, (n, m), are the probabilities: the sigmoid of the logit for m = 1, else the softmax.
- The objective, with row weights w_i, offsets o_i and a Gaussian prior of centre C and
  precision L (a diagonal of the shape of W, or a full matrix)::

      f(W)     = sum_i w_i * -log P(y_i | x_i W + o_i)  +  1/2 <W - C, L (W - C)>
      gradient = X' (w * (proba - Y))                   +  L (W - C)
      hessian  = sum_i w_i (diag(p_i) - p_i p_i') (x) x_i x_i'  +  L

  where Y has a one at each row's class ((x) is the Kronecker product; m = 1 has p (1 - p)).
- A solver is a module with ``solve(problem, start, tol, max_iter) -> Solution``; one that serves
  some problems alone has ``applies(problem)`` as well.

Reading order
-------------
``problem``, the objective, with the contract of design matrices; ``hessian_blocks`` and the three
kinds of them, ``dense``, ``sparse``, ``two_valued``; ``descent`` and ``conjugate_gradient``, the
two loops; the solvers ``newton``, ``newton_cg``, ``dual_newton``, ``sampled_newton``, ``lbfgs``,
``gradient_descent``, and ``dual_ascent``, which ends where prediction needs no more;
``selection``, which chooses one.
"""

from __future__ import annotations

from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.problem import Prior, Problem
from deciban.logistic.solvers.selection import SOLVERS, choose, solve

__all__ = ["SOLVERS", "Prior", "Problem", "Solution", "choose", "solve"]
