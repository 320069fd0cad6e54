"""Dual coordinate ascent: row by row, as near to the optimum as prediction needs.

Every row has a dual variable for each logit, and the duals make the coefficients::

    W = L**-1 X' A          where, at the optimum,          a_i = w_i (Y_i - proba_i)

The duals of one row, all others held, solve a small system over its logits, which two or three
Newton steps do (Shalev-Shwartz and Zhang, 2013, here for the softmax). W follows at once,
so that a pass over the rows costs what two products with X cost, and a few passes leave an error
that no probability shows. For many digits the Newton solvers are faster.

An intercept is all but free: as a column of ones it would make each row undo what the others
did. It is moved once after every pass instead, towards the optimum, where its precision times
itself is the sum of the duals: by a share of the Newton step that would serve if rows had nothing
in common, a share that grows as long as such steps turn out too short.

Rows come in a random order of a fixed seed, another one in each pass; numbers are single.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import ascent as kernel
from deciban.logistic.solvers.descent import Solution
from deciban.logistic.solvers.problem import LogisticPoint, Problem
from deciban.logistic.solvers.sparse import SingleRows, Sparse

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]

#: Several logits are padded to a multiple of so many, with a logit of no probability.
LANES, NO_LOGIT = 8, -1e30
#: The share of a Newton step that intercepts take at first, and the most they move, in nats.
INTERCEPT_SHARE, MAX_INTERCEPT_STEP_NATS = 0.7, 1.0
#: The last step over a row's logits, in nats, for a tolerance of one: its error is the square.
ROW_ACCURACY_NATS = 0.2
#: A change below this share of the mean that the tolerance allows a row is not made.
IDLE_SHARE = 0.1
#: The seed of the order of rows.
ORDER_SEED = 0
#: No curvature or squared excess is taken to be less.
MIN_CURVATURE = float(np.finfo(np.float64).tiny)


def applies(problem: Problem) -> bool:
    """Whether rows are sparse and every column has a penalty of its own, around zero."""
    design, prior = problem.design, problem.prior
    if not isinstance(design, Sparse) or prior.full or prior.centre.any():
        return False
    return bool(np.all(prior.precision[: design.X.shape[1]] > 0))


def solve(
    problem: Problem, start: FloatArray, tol: float, max_iter: int
) -> Solution[LogisticPoint]:
    """Pass over the rows until the duals change by no more than a share ``tol`` of their size.

    All coefficients begin at zero: of ``start``, which no duals may have made, those of the
    intercept are taken.
    """
    ascent = Ascent.of(problem)
    if problem.design.intercept:
        ascent.intercept[: problem.n_logits] = start[-1]
    n_passes, converged = ascent.climb(tol, max_iter)
    return Solution(problem.at(ascent.W), n_passes, converged)


@dataclass(frozen=True, eq=False)
class Ascent:
    """The duals of a problem's rows and the coefficients that they make, changed in place.

    ``cells``, (columns, 2, padded logits), are the coefficients and their prior variances, and
    ``spread``, (rows, padded logits), how far a unit of each dual moves the logit of its row.
    Rows of no weight have no part in it. ``free`` is the precision of the intercept.
    """

    problem: Problem
    rows: SingleRows
    order: NDArray[np.int64]
    weight: SingleArray
    offset: SingleArray
    cells: SingleArray
    duals: SingleArray
    spread: SingleArray
    intercept: SingleArray
    free: FloatArray

    @classmethod
    def of(cls, problem: Problem, duals: SingleArray | None = None) -> Ascent:
        """At zero, or at given duals, (rows, logits); :func:`applies` says of what problems."""
        design, m = problem.design, problem.n_logits
        if not isinstance(design, Sparse):
            raise TypeError(f"rows must be sparse, got {type(design).__name__}")
        (n, d), width = design.X.shape, 1 if m == 1 else -(-m // LANES) * LANES
        weight = np.ones(n) if problem.weight is None else problem.weight
        offset = np.full((n, width), NO_LOGIT, dtype=np.float32)
        offset[:, :m] = 0.0 if problem.offset is None else problem.offset
        cells = np.zeros((d, 2, width), dtype=np.float32)
        np.divide(1.0, problem.prior.precision[:d], out=cells[:, 1, :m], casting="same_kind")
        made = cls(
            problem=problem,
            rows=design.single_rows,
            order=np.flatnonzero(weight > 0).astype(np.int64),
            weight=weight.astype(np.float32),
            offset=offset,
            cells=cells,
            duals=np.zeros((n, width), dtype=np.float32),
            spread=np.zeros((n, width), dtype=np.float32),
            intercept=np.zeros(width, dtype=np.float32),
            free=problem.prior.precision[-1],
        )
        kernel.add_variances(*made.rows, made.order, cells, made.spread)
        if duals is not None:
            made.duals[made.order, :m] = duals[made.order, :m]
            kernel.add_duals(*made.rows, made.order, made.duals, cells)
        return made

    def penalised(self, ratio: float) -> Ascent:
        """Under a prior of all columns ``ratio`` times as precise, from the same coefficients."""
        cells = self.cells.copy()
        cells[:, 1] /= ratio
        duals, spread = self.duals * np.float32(ratio), self.spread / np.float32(ratio)
        return replace(
            self, cells=cells, duals=duals, spread=spread, intercept=self.intercept.copy()
        )

    def climb(self, tol: float, max_iter: int) -> tuple[int, bool]:
        """Pass over the rows; how often, and whether the tolerance was reached."""
        random, y = np.random.default_rng(ORDER_SEED), self.problem.y.astype(np.int64)
        accuracy, least = ROW_ACCURACY_NATS * tol**0.5, 0.0
        share, excess = INTERCEPT_SHARE, np.zeros_like(self.free)
        for n_iter in range(max_iter):
            change, size, curvature = kernel.ascend(
                *self.rows, y, self.weight, self.offset, self.spread, self.cells, self.duals,
                random.permutation(self.order), self.intercept, accuracy, least,
            )  # fmt: skip
            before, excess = excess, self._excess()
            share *= _secant_factor(before, excess)
            self._move_intercept(
                share * excess / np.maximum(curvature[: len(excess)], MIN_CURVATURE)
            )
            if change + np.abs(excess).sum() <= tol * size:
                return n_iter + 1, True
            if not np.isfinite(size):  # beyond single precision
                return n_iter + 1, False
            least = IDLE_SHARE * tol * size / len(self.order)
        return max_iter, False

    def _excess(self) -> FloatArray:
        """How far the duals are from balancing the intercepts, (m,)."""
        m = self.problem.n_logits
        if not self.problem.design.intercept:
            return np.zeros(m)
        total = self.duals[self.order, :m].sum(axis=0, dtype=np.float64)
        return np.asarray(total - self.free * self.intercept[:m])

    def _move_intercept(self, step: FloatArray) -> None:
        most, m = MAX_INTERCEPT_STEP_NATS, len(step)
        moved = self.intercept[:m] + np.clip(step, -most, most)
        if m > 1:  # a constant added to all logits changes the penalty alone
            moved -= np.average(moved, weights=self.free if self.free.any() else None)
        self.intercept[:m] = moved

    @property
    def W(self) -> FloatArray:
        """The coefficients, (width, m)."""
        m, parts = self.problem.n_logits, [self.cells[:, 0]]
        if self.problem.design.intercept:
            parts.append(self.intercept[None])
        return np.vstack([part[:, :m] for part in parts]).astype(np.float64)

    def added(self, rows: NDArray[np.intp]) -> FloatArray:
        """What coefficients and intercepts add to the logits of any rows, (rows, m)."""
        out = np.zeros((len(rows), self.cells.shape[2]), dtype=np.float32)
        kernel.add_coefficients(*self.rows, rows.astype(np.int64), self.cells, out)
        m = self.problem.n_logits
        return np.asarray(out[:, :m] + self.intercept[:m], dtype=np.float64)


def _secant_factor(before: FloatArray, excess: FloatArray) -> float:
    """By how much a step was too short, given the excess before it and after.

    >>> _secant_factor(np.array([4.0]), np.array([1.0])), _secant_factor(np.ones(1), -np.ones(1))
    (1.3333333333333333, 0.5)
    """
    remains = float(before @ excess) / max(float(before @ before), MIN_CURVATURE)
    return min(2.0, 1.0 / max(1.0 - remains, 0.5))
