"""How concentrated a von Mises distribution is whose mean resultant length is known."""

from __future__ import annotations

import numpy as np

from deciban.stats.statistic import FloatArray

#: A class is no more concentrated than this: a standard deviation of a thousandth of a radian.
MAX_CONCENTRATION = 1e6
#: Newton's steps from an approximation that is right to one percent.
NEWTON_STEPS = 4


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
