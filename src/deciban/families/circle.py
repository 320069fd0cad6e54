"""The von Mises distribution: a bell curve on a circle, estimated from the resultants of rows.

Its log density falls by ``kappa (1 - cos(x - mu))`` from that at the mean direction ``mu``. The
mean direction is that of the resultant, the sum of the rows as arrows of length one; the
concentration ``kappa`` follows from its mean length. Rows add up and are taken away as arrows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.families.bounded import CurveSettings, bound_evidence
from deciban.stats.statistic import FloatArray

#: A class is no more concentrated than this: a standard deviation of a thousandth of a radian.
MAX_CONCENTRATION = 1e6
#: Newton's steps from an approximation that is right to one percent.
NEWTON_STEPS = 4
TAU = math.tau


def concentrate(length: FloatArray) -> FloatArray:
    """The concentration whose mean resultant length is ``I1 / I0``.

    Approximated as by Best and Fisher (1981), then polished by Newton's steps.

    >>> concentrate(np.array([0.0, 0.44639, 1.0])).round(4)
    array([0.e+00, 1.e+00, 1.e+06])
    """
    R = np.minimum(length, 1 - 0.5 / MAX_CONCENTRATION)
    low, middle = 2 * R + R**3 + 5 / 6 * R**5, -0.4 + 1.39 * R + 0.43 / (1 - R)
    high = 1 / np.maximum(R * (1 - R) * (3 - R), 1e-300)
    kappa = np.select([R < 0.53, R < 0.85], [low, middle], high)
    for _ in range(NEWTON_STEPS):
        ratio, slope = bessel_ratio(kappa)
        kappa = np.clip(kappa - (ratio - R) / slope, 0.0, MAX_CONCENTRATION)
    return np.asarray(kappa)


def bessel_ratio(kappa: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``I1(kappa) / I0(kappa)`` and its derivative."""
    from scipy.special import i0e, i1e

    ratio = np.asarray(i1e(kappa) / i0e(kappa))
    by_kappa = np.where(kappa > 1e-8, ratio / np.maximum(kappa, 1e-8), 0.5)
    return ratio, 1 - by_kappa - ratio**2


class Resultant(NamedTuple):
    """The weight of some rows, and the sums of their cosines and sines."""

    n: FloatArray
    cos: FloatArray
    sin: FloatArray

    def add(self, other: Resultant, times: FloatArray | float) -> Resultant:
        """These rows and so many times the others; what rounding leaves of none is none."""
        n = self.n + times * other.n
        some = n > 1e-9 * np.abs(times * other.n)
        pairs = zip(self, other, strict=True)
        return Resultant(*(np.where(some, mine + times * theirs, 0.0) for mine, theirs in pairs))

    def mean(self) -> Resultant:
        """One row that looks like all of them; nothing where there is none."""
        some = np.where(self.n > 0, self.n, 1.0)
        return Resultant(*(part / some for part in self))

    def whole(self) -> Resultant:
        """All rows, of whatever class."""
        return Resultant(*(part.sum() for part in self))


class Density(NamedTuple):
    """Mean direction, concentration, and log density at the mean direction.

    ``max_evidence`` is by how many nats the log densities of two classes, last axis, may differ.
    """

    direction: FloatArray
    concentration: FloatArray
    constant: FloatArray
    max_evidence: FloatArray

    def log(self, angle: FloatArray) -> FloatArray:
        """The log density at an angle; 0 where it is missing."""
        off = _fall(self.concentration, angle - self.direction)
        log = np.where(np.isnan(angle), 0.0, self.constant - off)
        return bound_evidence(log, self.max_evidence)


class Circle(NamedTuple):
    """How a column is estimated: the settings, the rows that its prior is worth, and its period.

    Values are any numbers, or the ``points`` 0, 1, 2, ... below the period.
    """

    settings: CurveSettings
    lam: float
    period: float
    points: bool

    def angles(self, values: FloatArray) -> FloatArray:
        """The angles of values."""
        return values * (TAU / self.period)

    def fit(self, of: Resultant, whole: Resultant) -> Density:
        """The density of classes, with a prior like the whole column; without data, that of it."""
        both = of.add(whole.mean(), self.lam)
        pairs = zip(both, whole, strict=True)
        n, cos, sin = (np.where(both.n > 0, mine, all_rows) for mine, all_rows in pairs)
        length = np.hypot(cos, sin) / np.where(n > 0, n, 1.0)
        most = self.settings.max_evidence(whole.n, self.lam)
        return self.density(np.arctan2(sin, cos), concentrate(length), most)

    def density(
        self, direction: FloatArray, concentration: FloatArray, max_evidence: FloatArray
    ) -> Density:
        """The density per unit of the values, or over the points."""
        from scipy.special import i0e

        if self.points:
            constant = _points_constant(direction, concentration, max(1, round(self.period)))
        else:
            constant = -np.log(i0e(concentration)) - math.log(self.period)
        return Density(direction, concentration, constant, max_evidence)

    def leave_out(
        self, classes: Resultant, angle: FloatArray, own: NDArray[np.intp], weight: FloatArray
    ) -> FloatArray:
        """Log densities of known values, (rows, classes), each taken out of its class."""
        row = Resultant(np.ones(len(angle)), np.cos(angle), np.sin(angle))
        rest = classes.whole().add(row, -weight)
        less = Resultant(*(part[own] for part in classes)).add(row, -weight)
        others = Resultant(*(np.tile(part, (len(angle), 1)) for part in classes))
        for part, one in zip(others, less, strict=True):
            part[np.arange(len(angle)), own] = one
        by_row = Resultant(*(part[:, None] for part in rest))
        return self.fit(others, by_row).log(angle[:, None])

    def leave_one_out(
        self,
        counts: FloatArray,
        values: FloatArray,
        own: NDArray[np.intp],
        key: NDArray[np.intp],
    ) -> FloatArray:
        """Log densities, (rows, classes), of one row of class ``own`` and value ``key`` each.

        ``counts``, (classes, values), hold the rows, each of which is taken out of its class.
        """
        angle, one = self.angles(values), np.minimum(counts[own, key], 1.0)
        return self.leave_out(resultant(counts, angle), angle[key], own, one)


def resultant(counts: FloatArray, angle: FloatArray) -> Resultant:
    """The resultant of each class; sums are exact, so that the order of values cannot show."""
    parts = (counts, counts * np.cos(angle), counts * np.sin(angle))
    return Resultant(*(np.array([math.fsum(row) for row in part.tolist()]) for part in parts))


def _fall(concentration: FloatArray, off: FloatArray) -> FloatArray:
    """How far the log density falls at an angle off the mean direction."""
    return np.asarray(2 * concentration * np.sin(off / 2) ** 2)


def _points_constant(direction: FloatArray, concentration: FloatArray, n_points: int) -> FloatArray:
    """Minus the logarithm of the sum, over all points, of the density above that at its mode."""
    step = TAU / n_points
    nearest = _fall(concentration, np.round(direction / step) * step - direction)
    total = np.zeros_like(nearest)
    for point in range(n_points):
        total += np.exp(nearest - _fall(concentration, point * step - direction))
    return np.asarray(nearest - np.log(total))
