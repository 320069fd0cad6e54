"""Radial basis functions: smooth interactions of many numbers at once.

Every row is compared with some centres, each the mean of rows that are near each other:

    score_c(x) = sum_m coef[m, c] exp(-|u - centre_m|^2)

where u are the standardised numbers of the row, bent, each times a scale: columns count the more,
the more their means and variances differ between the classes. Coefficients are those of a
ridge regression of the classes' indicators, (F'WF + penalty K) coef = F'WY, where F compares
rows and K compares centres with the centres. All of it are sums over rows, and without one row
its score is known in closed form (Allen's PRESS, 1974): nothing is fitted in folds, unless
whole groups or times are left out. One factor makes logits of scores. How far centres reach and
the penalty are chosen by some rows and centres; then all are fitted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble import stacking
from deciban.ensemble.logits import FloatArray, log_losses
from deciban.sources.unit_folds import Split

#: No more centres than this, and no more than one for so many rows.
MAX_CENTRES, MIN_ROWS_PER_CENTRE = 600, 2
#: Distance and penalty are chosen with at most so many of them, and so many rows.
MAX_TRIED_CENTRES, MAX_TRIED_ROWS = 200, 2_000
#: Centres are moved to the mean of the rows nearest to them so many times.
N_MOVES = 2
#: How far two rows are apart in the mean of squares: the farther, the less far a centre reaches.
MEAN_SQUARED_DISTANCES = (0.5, 1.5, 4.5, 13.5)
#: A column has this share of relevance even if all classes have the same mean and variance.
MIN_RELEVANCE = 0.02
#: How much differences of variances count beside those of means.
VARIANCE_RELEVANCE = 0.5
#: Of these and of the distances those are taken with which left-out rows lose least.
PENALTIES = (0.01, 0.1, 1.0, 10.0)
#: Added to what a centre has in common with itself: centres may be close to each other.
JITTER = 1e-4
#: What a score of 1 is worth where rows say nothing else.
SCORE_NATS = 6.0
#: No row counts for more than this share of its own score: it could not be left out.
MAX_LEVERAGE = 0.999
#: Where a squared distance changes by less than this, a slope is that of the tangent.
MIN_CHANGE = 1e-6
#: A number whose variance is no more than this is constant.
MIN_VARIANCE = 1e-9
#: Contributions of so many rows are added up at a time.
CONTRIBUTION_ROWS = 1_024


@dataclass(frozen=True, eq=False)
class RadialBasis:
    """Scales of the numbers, (columns,), centres, (centres, columns), and coefficients.

    The coefficients are (centres, classes).
    """

    scale: FloatArray
    centres: FloatArray
    coef: FloatArray

    @classmethod
    def empty(cls, n_columns: int, n_classes: int) -> RadialBasis:
        """No centre at all."""
        return cls(np.zeros(n_columns), np.empty((0, n_columns)), np.empty((0, n_classes)))

    def __len__(self) -> int:
        return len(self.centres)

    def __mul__(self, factor: float) -> RadialBasis:
        return RadialBasis(self.scale, self.centres, self.coef * factor)

    @property
    def constants(self) -> FloatArray:
        """The logits of a row all of whose numbers are at their mean."""
        return np.asarray(np.exp(-np.sum(self.centres**2, axis=1)) @ self.coef)

    def logits(self, Z: FloatArray) -> FloatArray:
        """What rows of bent numbers get, (rows, classes)."""
        return np.asarray(compare(Z * self.scale, self.centres) @ self.coef)

    def add_contributions(self, Z: FloatArray, out: FloatArray) -> None:
        """Add each number's part to ``out``, (rows, columns, classes), without constants.

        What a centre adds beyond its constant has come about by how the squared distance to it
        differs from that of the mean, u = 0: each column has the part of it that it has of the
        difference, ``u^2 - 2 u centre``. Numbers are the first columns.
        """
        for start in range(0, len(Z), CONTRIBUTION_ROWS):
            rows = slice(start, start + CONTRIBUTION_ROWS)
            U = Z[rows] * self.scale
            slopes = self._slopes(U)
            all_centres = slopes @ self.coef
            for j in range(U.shape[1]):
                u = U[:, j, None]
                centred = slopes @ (self.centres[:, j, None] * self.coef)
                out[rows, j] += u**2 * all_centres - 2 * u * centred

    def _slopes(self, U: FloatArray) -> FloatArray:
        """By how much a centre's exponential changes with the squared distance, on the mean."""
        change = np.sum(U**2, axis=1)[:, None] - 2 * (U @ self.centres.T)
        at_mean, here = np.exp(-np.sum(self.centres**2, axis=1)), compare(U, self.centres)
        small = np.abs(change) < MIN_CHANGE
        slope = (here - at_mean) / np.where(small, 1.0, change)
        return np.asarray(np.where(small, -(here + at_mean) / 2, slope))


@dataclass(frozen=True, eq=False)
class RadialFit:
    """The basis, its constants and penalty, and the logits of rows left out, (rows, classes)."""

    basis: RadialBasis
    constants: FloatArray
    penalty: float
    held_out: FloatArray


def compare(U: FloatArray, centres: FloatArray) -> FloatArray:
    """``exp(-|u - centre|^2)``, (rows, centres).

    >>> compare(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [0.0, 2.0]])).round(3)
    array([[1.   , 0.368]])
    """
    distance = np.sum(U**2, axis=1)[:, None] + np.sum(centres**2, axis=1) - 2 * (U @ centres.T)
    return np.asarray(np.exp(-np.maximum(distance, 0.0, out=distance), out=distance))


def fit(
    Z: FloatArray,
    y: NDArray[np.intp],
    weight: FloatArray,
    held_weight: FloatArray,
    offset: FloatArray,
    splits: Sequence[Split] | None = None,
) -> RadialFit | None:
    """A basis on bent numbers; None where all rows are alike.

    ``offset`` are the logits that it is added to, (classes,). Rows are left out one by one (of a
    row of weight k, one of k), or as ``splits`` hold them out; ``held_weight`` is zero where a row
    is never held out.
    """
    scale = scales(Z, y, weight, len(offset))
    if scale is None:
        return None
    rows = _Rows(Z * scale, y, weight, held_weight, offset, splits)
    centres = place_centres(rows.U, weight)
    some_rows = rows.some(MAX_TRIED_ROWS)
    some_centres = centres[:: -(-len(centres) // MAX_TRIED_CENTRES)]
    reaches = np.sqrt(MEAN_SQUARED_DISTANCES)
    tried = [
        _regress(some_rows.scaled(reach), some_centres * reach, PENALTIES) for reach in reaches
    ]
    best = min(range(len(tried)), key=lambda k: tried[k].loss)
    reach, penalty = reaches[best], tried[best].penalty
    fitted = _regress(rows.scaled(reach), centres * reach, (penalty,))
    basis = RadialBasis(scale * reach, centres * reach, fitted.coef)
    return RadialFit(basis, fitted.constants, penalty, fitted.held_out)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of scaled numbers that a regression is fitted to, as ``fit`` has them."""

    U: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    held_weight: FloatArray
    offset: FloatArray
    splits: Sequence[Split] | None

    def some(self, n: int) -> _Rows:
        """At most so many of the rows, evenly spaced; all where a split would have none inside."""
        at = np.arange(0, len(self.y), -(-len(self.y) // n))
        number = np.full(len(self.y), -1)
        number[at] = np.arange(len(at))
        splits = None
        if self.splits is not None:
            numbers = [(number[inside], number[held]) for inside, held in self.splits]
            splits = [(inside[inside >= 0], held[held >= 0]) for inside, held in numbers]
            if not all(len(inside) for inside, _ in splits):
                return self
        weights = self.weight[at], self.held_weight[at]
        return _Rows(self.U[at], self.y[at], *weights, self.offset, splits)

    def scaled(self, factor: float) -> _Rows:
        """The rows, farther apart by a factor."""
        return replace(self, U=self.U * factor)


class _Regression(NamedTuple):
    """A regression under its best penalty: the loss of left-out rows and their logits.

    Coefficients, (centres, classes), and constants give logits.
    """

    loss: float
    penalty: float
    held_out: FloatArray
    coef: FloatArray
    constants: FloatArray


def _regress(rows: _Rows, centres: FloatArray, penalties: Sequence[float]) -> _Regression:
    """The regression on what rows have in common with centres."""
    F, K = compare(rows.U, centres), compare(centres, centres) + JITTER * np.eye(len(centres))
    Y = np.eye(len(rows.offset))[rows.y]
    whole, start = _RidgePath.of(F, Y, K, rows.weight), np.tile(rows.offset, (len(Y), 1))
    if rows.splits is None:
        left_out = whole.leave_one_out(F, Y, rows.weight, penalties)
    else:
        left_out = _hold_out(F, Y, K, rows.weight, rows.splits, penalties)
    each = [_as_logits(scores, start, rows) for scores in left_out]
    best = min(range(len(each)), key=lambda k: each[k].loss)
    (loss, factor, logits), penalty = each[best], penalties[best]
    coef, constants = whole.solve(penalty)
    return _Regression(loss, penalty, logits, factor * coef, rows.offset + factor * constants)


class _Logits(NamedTuple):
    """Scores of left-out rows times a factor, and what they lose."""

    loss: float
    factor: float
    logits: FloatArray


def _as_logits(scores: FloatArray, offset: FloatArray, rows: _Rows) -> _Logits:
    """The scores as logits that are added to an offset, by the factor of least loss."""
    y, weight = rows.y, rows.held_weight
    weights = stacking.nonnegative_weights(SCORE_NATS * scores[None], offset, y, weight)
    factor = SCORE_NATS * float(weights[0])
    logits = offset + factor * scores
    return _Logits(float(weight @ log_losses(logits, y)), factor, logits)


def scales(
    Z: FloatArray, y: NDArray[np.intp], weight: FloatArray, n_classes: int
) -> FloatArray | None:
    """The scale of each number, by the square root of its relevance; None where none varies.

    Relevance is the share of its variance that is between the classes, and how much its
    variances within them differ from it. Two rows are then 1 apart in the mean of squares.
    """
    by_class = np.zeros((n_classes, len(y)))
    by_class[y, np.arange(len(y))] = weight
    n = by_class.sum(axis=1)
    total, some = n.sum(), np.maximum(n, np.finfo(float).tiny)[:, None]
    mean, means = weight @ Z / total, by_class @ Z / some
    variance = weight @ (Z - mean) ** 2 / total
    variances = by_class @ (Z - means[y]) ** 2 / some
    varied = np.where(variance > MIN_VARIANCE, variance, 1.0)
    relevance = n @ (means - mean) ** 2 / total / varied
    relevance += VARIANCE_RELEVANCE * (n @ np.abs(variances - variance)) / total / varied
    relevance = np.where(variance > MIN_VARIANCE, relevance + MIN_RELEVANCE, 0.0)
    distance = 2 * float(relevance @ variance)
    return np.sqrt(relevance / distance) if distance > 0 else None


def place_centres(U: FloatArray, weight: FloatArray) -> FloatArray:
    """Means of rows that are near each other, each of two rows at least.

    They begin at rows that are evenly spaced in the table, whose rows are in the order of their
    classes, and of their hashes within a class.
    """
    n = len(U)
    n_centres = min(MAX_CENTRES, max(1, n // MIN_ROWS_PER_CENTRE))
    centres = U[np.arange(n_centres) * n // n_centres]
    for move in range(1, N_MOVES + 1):
        distance = np.sum(centres**2, axis=1) - 2 * (U @ centres.T)
        nearest = np.argmin(distance, axis=1)
        own = np.argsort(nearest, kind="stable")
        sizes = np.bincount(nearest, minlength=len(centres))
        first = np.cumsum(sizes[sizes > 0]) - sizes[sizes > 0]
        sums = np.add.reduceat(U[own] * weight[own, None], first, axis=0)
        means = sums / np.add.reduceat(weight[own], first)[:, None]
        several = sizes[sizes > 0] >= (MIN_ROWS_PER_CENTRE if move == N_MOVES else 1)
        centres = means[several] if several.any() else means
    return np.asarray(centres)


@dataclass(frozen=True, eq=False)
class _RidgePath:
    """Ridge regressions of Y on F, whose coefficients are penalised by K, under every penalty.

    With the weighted means of F and of Y taken away, ``F'WF v = value K v`` and ``v'Kv = 1`` for
    each value and vector v; ``projected`` is ``v'F'WY``, (centres, classes).
    """

    feature_mean: FloatArray
    target_mean: FloatArray
    values: FloatArray
    vectors: FloatArray
    projected: FloatArray

    @classmethod
    def of(cls, F: FloatArray, Y: FloatArray, K: FloatArray, weight: FloatArray) -> _RidgePath:
        """The regressions of weighted rows."""
        from scipy.linalg import eigh

        feature_mean, target_mean = weight @ F / weight.sum(), weight @ Y / weight.sum()
        root = np.sqrt(weight)[:, None]
        centred = (F - feature_mean) * root
        values, vectors = eigh(centred.T @ centred, K, check_finite=False)
        projected = vectors.T @ (centred.T @ ((Y - target_mean) * root))
        return cls(feature_mean, target_mean, np.maximum(values, 0.0), vectors, projected)

    def scores(self, F: FloatArray, penalties: Sequence[float]) -> list[FloatArray]:
        """The scores of rows, (rows, classes), under each penalty."""
        projections = (F - self.feature_mean) @ self.vectors
        return [self._scores(projections, penalty) for penalty in penalties]

    def leave_one_out(
        self, F: FloatArray, Y: FloatArray, weight: FloatArray, penalties: Sequence[float]
    ) -> list[FloatArray]:
        """The scores of the rows that it is fitted to, each without one of its weight."""
        projections = (F - self.feature_mean) @ self.vectors
        squares, one = projections**2, np.minimum(weight, 1.0)
        out = []
        for penalty in penalties:
            leverage = one * (squares @ (1 / (self.values + penalty)) + 1 / weight.sum())
            share = np.minimum(leverage, MAX_LEVERAGE)[:, None]
            out.append((self._scores(projections, penalty) - share * Y) / (1 - share))
        return out

    def _scores(self, projections: FloatArray, penalty: float) -> FloatArray:
        shrunk = self.projected / (self.values + penalty)[:, None]
        return np.asarray(projections @ shrunk + self.target_mean)

    def solve(self, penalty: float) -> tuple[FloatArray, FloatArray]:
        """The coefficients, (centres, classes), and the constants under a penalty."""
        coef = self.vectors @ (self.projected / (self.values + penalty)[:, None])
        return coef, self.target_mean - self.feature_mean @ coef


def _hold_out(
    F: FloatArray,
    Y: FloatArray,
    K: FloatArray,
    weight: FloatArray,
    splits: Sequence[Split],
    penalties: Sequence[float],
) -> list[FloatArray]:
    """The scores of the rows that splits hold out, under each penalty; 0 for others."""
    out = [np.zeros_like(Y) for _ in penalties]
    for inside, held in splits:
        path = _RidgePath.of(F[inside], Y[inside], K, weight[inside])
        for scores, of_held in zip(out, path.scores(F[held], penalties), strict=True):
            scores[held] = of_held
    return out
