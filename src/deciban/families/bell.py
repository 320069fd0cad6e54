"""Bell curves as formulas: the normal distribution and Student's t."""

from __future__ import annotations

import numpy as np

from deciban.formulas.build import known
from deciban.formulas.nodes import (
    Expression,
    Function,
    Number,
    Product,
    Scaled,
    Shared,
    Square,
    Sum,
)
from deciban.kernels.gamma import log_gamma
from deciban.stats.statistic import FloatArray

#: From so many degrees of freedom on, what rounding takes from ``1 + d`` would show in formulas.
MIN_EXACT_DF = 1e5


def formulas(
    x: Expression,
    mean: FloatArray,
    precision: FloatArray,
    constant: FloatArray,
    df: FloatArray | None,
) -> list[Expression]:
    """The log density of a column under each class, (classes,); 0 where x is missing."""
    parts = (part.tolist() for part in (mean, precision, constant))
    each = zip(*parts, [None] * len(mean) if df is None else df.tolist(), strict=True)
    return [known(x, _log_density(x, *of_class)) for of_class in each]


def _log_density(
    x: Expression, mean: float, precision: float, constant: float, df: float | None
) -> Expression:
    """The log density at a squared distance d from the centre, in scales.

    ``constant - d / 2``, or ``constant - (df + 1) / 2 log(1 + d / df)``.
    """
    if df is None:
        distance: Expression = Square(Scaled(x, mean, float(np.sqrt(precision))))
        return Sum((Number(constant), Product(Number(-0.5), distance)))
    distance = Square(Scaled(x, mean, float(np.sqrt(precision / df))))
    if df < MIN_EXACT_DF:
        log: Expression = Function("log", Sum((Number(1.0), distance)))
    else:
        log = Function("log1p", Shared(distance))
    fall = Product(Number(-(df + 1) / 2), log)
    return Sum((Number(constant), fall))


def student_constant(df: FloatArray) -> FloatArray:
    """The log density at the centre of Student's t of scale 1."""
    a = df / 2
    near = np.minimum(a, 50.0)
    # Stirling's series: for much data the two logarithms would cancel.
    far = 0.5 * np.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    ratio = np.where(a > 50.0, far, log_gamma(near + 0.5) - log_gamma(near))
    return np.asarray(ratio - 0.5 * np.log(np.pi * df))
