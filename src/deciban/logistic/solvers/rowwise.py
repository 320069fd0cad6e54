"""Newton's method for fewer rows than columns: its step is found over the rows.

With the precision L of the prior, the curvature ``A = R R'`` of the rows' losses
and ``K = X L**-1 X'``, which says how alike rows are, the step ``-H**-1 g`` is

::

    v = -L**-1 (g + X' R q)      where      (I + R' K R) q = -R' X L**-1 g

(Woodbury's identity). Conjugate gradients find q, a number a row and score; the
matrix has no eigenvalue below one and, its diagonal divided out, few large ones,
so that products are few. A free intercept is a constraint on q with a multiplier,
the intercept's own step, which the preconditioner keeps (Gould, Hribar and
Nocedal, 2001).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from deciban.logistic.solvers.problem import Point, Problem
from deciban.logistic.solvers.sparse import Sparse
from deciban.logistic.solvers.stopping import Solution, stepped

FloatArray = NDArray[np.float64]

#: The products that one step may take.
MOST_PRODUCTS = 500
#: A step is found to this share of its length, and better as the gradient vanishes.
ROUGHLY = 0.1


def pays(problem: Problem) -> bool:
    """Whether rows are fewer than columns, and every column has a penalty of its own."""
    design, prior = problem.design, problem.prior
    if not isinstance(design, Sparse) or prior.full:
        return False
    n_columns = design.X.shape[1]
    return design.n_rows < n_columns and bool(np.all(prior.precision[:n_columns] > 0))


def solve(problem: Problem, start: FloatArray, tol: float, max_iter: int) -> Solution:
    """Step by an approximate ``H**-1 g`` until the gradient vanishes."""
    rows = Rows.of(problem)
    first: list[float] = []

    def step(point: Point) -> FloatArray:
        first.append(problem.steepness(point))
        share = min(ROUGHLY, first[-1] / first[0])
        return rows.step(point, max(share, (ROUGHLY * tol / first[-1]) ** 2))

    return stepped(problem, start, tol, max_iter, step)


@dataclass(frozen=True, eq=False)
class Rows:
    """How alike the rows of a problem are, ``K`` and its diagonal."""

    problem: Problem
    unit: FloatArray
    times: Callable[[FloatArray], FloatArray]
    diagonal: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> Rows:
        """Of a sparse problem whose columns all have a penalty."""
        design = cast("Sparse", problem.design)
        n_columns = design.X.shape[1]
        unit = np.zeros_like(problem.prior.precision)
        unit[:n_columns] = 1.0 / problem.prior.precision[:n_columns]
        return cls(problem, unit, design.likeness(unit), design.shares(unit))

    def step(self, point: Point, share: float) -> FloatArray:
        """``-H**-1 g``, as near as makes up all of the model's decrease but a share."""
        design, gradient = self.problem.design, point.gradient
        root = Root(point.proba, self.problem.weight)
        slid = self.unit * gradient
        target = -root.back(design.scores(slid))
        slope = gradient[-1] if design.intercept else np.zeros(gradient.shape[1])
        q, more = self._found(root, target, slope, _dot(slid, gradient), share)
        step = -self.unit * (gradient + design.transposed(root.forth(q)))
        if design.intercept:
            step[-1] = more
        return step

    def _found(
        self, root: Root, target: FloatArray, slope: FloatArray, most: float, share: float
    ) -> tuple[FloatArray, FloatArray]:
        """q, and the step of the intercept, by conjugate gradients.

        What is left squared is twice the gap to the least that the quadratic model can be.
        """

        def bent(q: FloatArray, more: FloatArray) -> FloatArray:
            return q + root.back(self.times(root.forth(q)) - more)

        settle = self._kept(root, 1.0 + root.diagonal(self.diagonal))
        q, more = settle(np.zeros_like(target), slope)
        left = target - bent(q, more)
        search, along = settle(left, np.zeros_like(slope))
        size = _dot(left, search)
        for _ in range(MOST_PRODUCTS):
            decrease = most - _dot(q, target + left) - _dot(more, slope)
            if _dot(left, left) <= share * decrease or size <= 0:
                break
            image = bent(search, along)
            length = size / _dot(search, image)
            q, more = q + length * search, more + length * along
            left -= length * image
            turned, slid = settle(left, np.zeros_like(slope))
            size, before = _dot(left, turned), size
            search, along = turned + size / before * search, slid + size / before * along
        return q, more

    def _kept(
        self, root: Root, diagonal: FloatArray
    ) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Division by the diagonal, such that the intercept's derivative is what is asked for."""
        if not self.problem.design.intercept:
            return lambda left, slope: (left / diagonal, slope)
        free = np.diag(self.problem.prior.precision[-1])
        inverse = np.linalg.pinv(free + root.crossed(diagonal), hermitian=True)

        def settle(left: FloatArray, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
            over = left / diagonal
            more = -(slope + root.forth(over).sum(axis=0)) @ inverse
            return over + root.back(np.broadcast_to(more, left.shape)) / diagonal, more

        return settle


@dataclass(frozen=True, eq=False)
class Root:
    """A root ``R`` of the curvature of each row: ``R R' = w (diag(p) - p p')``, or ``w p (1 - p)``.

    >>> p = np.array([[0.5, 0.3, 0.2]])
    >>> root = Root(p, None)
    >>> bool(np.allclose(root.forth(root.back(np.eye(3)[:1])), p * ([1, 0, 0] - p[0, 0])))
    True
    """

    proba: FloatArray
    weight: FloatArray | None

    def forth(self, q: FloatArray) -> FloatArray:
        """``R q`` of every row."""
        half = self._half
        if self._single:
            return half * q
        whole = half * q
        return np.asarray(whole - self.proba * whole.sum(axis=1, keepdims=True))

    def back(self, v: FloatArray) -> FloatArray:
        """``R' v`` of every row."""
        half = self._half
        if self._single:
            return half * v
        return np.asarray(half * (v - (self.proba * v).sum(axis=1, keepdims=True)))

    def diagonal(self, K: FloatArray) -> FloatArray:
        """The diagonal of ``R' K R`` from that of K."""
        half = self._half**2
        if self._single:
            return half * K
        p = self.proba
        return np.asarray(half * ((1 - 2 * p) * K + (p * p * K).sum(axis=1, keepdims=True)))

    def crossed(self, diagonal: FloatArray) -> FloatArray:
        """``R / diagonal R'``, summed over the rows: a square over the scores."""
        m = self.proba.shape[1]
        sides = [self.back(np.broadcast_to(e, self.proba.shape)) for e in np.eye(m)]
        return np.array([[np.vdot(a / diagonal, b) for b in sides] for a in sides])

    @property
    def _single(self) -> bool:
        return bool(self.proba.shape[1] == 1)

    @cached_property
    def _half(self) -> FloatArray:
        p = self.proba
        half = np.sqrt(p * (1 - p)) if self._single else np.sqrt(p)
        return half if self.weight is None else half * np.sqrt(self.weight)[:, None]


def _dot(a: FloatArray, b: FloatArray) -> float:
    """Summed products: BLAS would call its threads together for so little."""
    return float(np.sum(a * b))
