"""Newton's method for fewer rows than columns: its direction is found over the rows.

With the precision L of the prior, the curvature ``A = R R'`` of the rows' losses and the kernel
matrix ``K = X L**-1 X'``, Woodbury's identity turns the direction ``-H**-1 g`` into

::

    v = -L**-1 (g + X' R q)      where      (I + R' K R) q = -R' X L**-1 g

Conjugate gradients find q, a number for each row and logit; the matrix has no eigenvalue below
one and, its diagonal divided out, few large ones, so that products are few.

The intercept has a small precision f or none, and no place in K. Its derivative is a constraint
on q, its own step v0 the multiplier, and the system that of a saddle point:

::

    [ I + R' K R   -R' 1 ] [ q  ]   [ -R' X L**-1 g ]
    [ -1' R        -f    ] [ v0 ] = [ g0            ]

Vectors of it are held as one array, (n + 1, m): q, and v0 as the last row. The preconditioner
has the diagonal D of ``I + R' K R`` in its place and keeps the rest, so that all iterates satisfy
the constraint (Gould, Hribar and Nocedal, 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.conjugate_gradient import (
    Operator,
    Progress,
    conjugate_gradient,
    dot,
)
from deciban.logistic.solvers.descent import Solution, minimise
from deciban.logistic.solvers.problem import LogisticPoint, Problem
from deciban.logistic.solvers.sparse import Sparse

FloatArray = NDArray[np.float64]

#: The products with the kernel matrix that one direction may take.
MAX_PRODUCTS = 500
#: A direction leaves at most this share of the model's decrease, less as the gradient vanishes.
MAX_GAP_SHARE = 0.1


def applies(problem: Problem) -> bool:
    """Whether rows are sparse and fewer than columns, and every column has a penalty of its own."""
    design, prior = problem.design, problem.prior
    if not isinstance(design, Sparse) or prior.full:
        return False
    n_columns = design.X.shape[1]
    return design.n_rows < n_columns and bool(np.all(prior.precision[:n_columns] > 0))


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """Step by an approximate ``-H**-1 g`` until the gradient vanishes."""
    dual = DualProblem.of(problem)
    first = 0.0

    def direction(point: LogisticPoint) -> FloatArray:
        nonlocal first
        steepness = problem.steepness(point)
        first = first or steepness
        share = min(MAX_GAP_SHARE, steepness / first)
        return dual.newton_direction(point, max(share, (MAX_GAP_SHARE * tol / steepness) ** 2))

    return minimise(problem, start, tol, max_iter, direction)


@dataclass(frozen=True, eq=False)
class DualProblem:
    """A problem over its rows: ``L**-1`` (zero for the intercept), K, and K's diagonal."""

    problem: Problem
    covariance: FloatArray
    kernel_product: Operator
    kernel_diagonal: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> DualProblem:
        """Of a problem to which this solver applies."""
        design = problem.design
        if not isinstance(design, Sparse):
            raise TypeError(f"rows must be sparse, got {type(design).__name__}")
        n_columns = design.X.shape[1]
        covariance = np.zeros_like(problem.prior.precision)
        covariance[:n_columns] = 1.0 / problem.prior.precision[:n_columns]
        diagonal = design.squared_product(covariance)
        return cls(problem, covariance, design.kernel_product(covariance), diagonal)

    def newton_direction(self, point: LogisticPoint, share: float) -> FloatArray:
        """``-H**-1 g``, as near as leaves at most a share of the quadratic model's decrease.

        The squared residual is twice the gap to the least value of the model, and
        ``g' L**-1 g - x' (b + r)`` twice the decrease so far.
        """
        design, g = self.problem.design, point.gradient
        root = CurvatureRoot(point.proba, self.problem.weight)
        scaled = self.covariance * g
        b = np.vstack([-root.transposed_product(design.product(scaled)), np.zeros(g.shape[1])])
        if design.intercept:
            b[-1] = g[-1]
        most = dot(scaled, g)

        def stop(at: Progress) -> bool:
            return dot(at.r, at.r) <= share * (most - dot(at.x, b + at.r))

        precondition = self._constraint_preconditioner(root)
        start = precondition(np.vstack([np.zeros_like(b[:-1]), b[-1:]]))
        product = self._system_product(root)
        x = conjugate_gradient(product, b, precondition, stop, MAX_PRODUCTS, start)
        step = -self.covariance * (g + design.transposed_product(root.product(x[:-1])))
        if design.intercept:
            step[-1] = x[-1]
        return step

    def _system_product(self, root: CurvatureRoot) -> Operator:
        """The matrix of the saddle point system; without an intercept, its last row is zero."""
        intercept = self.problem.design.intercept
        free = self.problem.prior.precision[-1]

        def product(x: FloatArray) -> FloatArray:
            q, v0 = x[:-1], x[-1]
            out, Rq = np.zeros_like(x), root.product(q)
            out[:-1] = q + root.transposed_product(self.kernel_product(Rq) - v0)
            if intercept:
                out[-1] = -Rq.sum(axis=0) - free * v0
            return out

        return product

    def _constraint_preconditioner(self, root: CurvatureRoot) -> Operator:
        """The inverse of the system with D in place of ``I + R' K R``."""
        diagonal = 1.0 + root.kernel_diagonal(self.kernel_diagonal)
        if not self.problem.design.intercept:
            return lambda r: np.vstack([r[:-1] / diagonal, r[-1:]])
        free = np.diag(self.problem.prior.precision[-1])
        inverse = np.linalg.pinv(free + root.weighted_gram(1.0 / diagonal), hermitian=True)

        def precondition(r: FloatArray) -> FloatArray:
            z = np.empty_like(r)
            q = r[:-1] / diagonal
            z[-1] = -(r[-1] + root.product(q).sum(axis=0)) @ inverse
            z[:-1] = q + root.transposed_product(np.broadcast_to(z[-1], q.shape)) / diagonal
            return z

        return precondition


@dataclass(frozen=True, eq=False)
class CurvatureRoot:
    """A root R of the curvature of each row: ``R R' = w (diag(p) - p p')``, or ``w p (1 - p)``.

    >>> p = np.array([[0.5, 0.3, 0.2]])
    >>> R, v = CurvatureRoot(p, None), np.array([[1.0, 0.0, 0.0]])
    >>> bool(np.allclose(R.product(R.transposed_product(v)), p * ([1, 0, 0] - p[0, 0])))
    True
    """

    proba: FloatArray
    weight: FloatArray | None

    def product(self, q: FloatArray) -> FloatArray:
        """``R q`` of every row, (n, m)."""
        out = self._half * q
        if self._single:
            return out
        return np.asarray(out - self.proba * out.sum(axis=1, keepdims=True))

    def transposed_product(self, v: FloatArray) -> FloatArray:
        """``R' v`` of every row, (n, m)."""
        if self._single:
            return self._half * v
        return np.asarray(self._half * (v - (self.proba * v).sum(axis=1, keepdims=True)))

    def kernel_diagonal(self, K: FloatArray) -> FloatArray:
        """The diagonal of ``R' K R`` from that of K, (n, m)."""
        squared = self._half**2
        if self._single:
            return squared * K
        p = self.proba
        return np.asarray(squared * ((1 - 2 * p) * K + (p * p * K).sum(axis=1, keepdims=True)))

    def weighted_gram(self, a: FloatArray) -> FloatArray:
        """``sum_i R_i diag(a_i) R_i'``, (m, m).

        With ``h = a (R's diagonal)**2`` it is ``sum_i diag(h) - p h' - h p' + p p' sum(h)``.

        >>> p, a = np.array([[0.5, 0.3, 0.2]]), np.array([[1.0, 2.0, 3.0]])
        >>> R = np.diag(np.sqrt(p[0])) - np.outer(p[0], np.sqrt(p[0]))
        >>> bool(np.allclose(CurvatureRoot(p, None).weighted_gram(a), R @ np.diag(a[0]) @ R.T))
        True
        """
        h, p = self._half**2 * a, self.proba
        if self._single:
            return np.asarray(h.sum(axis=0, keepdims=True))
        crossed = p.T @ h
        whole = p.T @ (p * h.sum(axis=1, keepdims=True))
        return np.asarray(np.diag(h.sum(axis=0)) - crossed - crossed.T + whole)

    @property
    def _single(self) -> bool:
        return bool(self.proba.shape[1] == 1)

    @cached_property
    def _half(self) -> FloatArray:
        p = self.proba
        half = np.sqrt(p * (1 - p)) if self._single else np.sqrt(p)
        return half if self.weight is None else half * np.sqrt(self.weight)[:, None]
