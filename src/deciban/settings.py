"""How parameters are estimated: the method and its smoothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ParameterError, ShapeError

Method = Literal["ml", "map", "bayes"]


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of one block of columns.

    method
        ``"ml"``, maximum likelihood; ``"map"``, the mode of the posterior;
        ``"bayes"``, the parameter integrated out. The three share one prior.
    smoothing
        the strength ``lam >= 0`` of that prior, one number or one per column.
        For discrete columns the prior is a symmetric Dirichlet(lam), so that
        ``"bayes"`` is ``(N + lam) / (n + S * lam)``; for numbers it is worth
        ``lam`` rows that look like the whole column.
    sizes
        ``S_j``, how many values a categorical column can take, where more are
        possible than were seen.
    unseen
        what a value never seen in training says: ``"smooth"``, the share that
        smoothing gives it; ``"skip"``, nothing.
    floor
        added to every variance.
    normalise
        whether complement weights are divided by their sum.
    """

    method: Method = "bayes"
    smoothing: Any = 1.0
    sizes: NDArray[np.int64] | None = None
    unseen: Literal["smooth", "skip"] = "smooth"
    floor: float = 0.0
    normalise: bool = False
    lam: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ParameterError(
                f"method must be one of {', '.join(map(repr, get_args(Method)))}, "
                f"got {self.method!r}.",
                hint='"bayes" with smoothing=1 is Laplace\'s rule',
            )
        if self.unseen not in ("smooth", "skip"):
            raise ParameterError(
                f'unseen must be "smooth" or "skip", got {self.unseen!r}.',
                hint='"skip" ignores a value that training never saw',
            )
        object.__setattr__(self, "lam", check_smoothing(self.smoothing))

    def per_column(self, n_columns: int) -> NDArray[np.float64]:
        """``lam`` of each column."""
        if self.lam.ndim and len(self.lam) != n_columns:
            raise ShapeError(
                f"smoothing has {len(self.lam)} values for {n_columns} columns.",
                hint="give one number, or one per column",
            )
        return np.broadcast_to(self.lam, n_columns)


def check_smoothing(smoothing: object) -> NDArray[np.float64]:
    """A finite number >= 0, or a vector of them, as an array.

    >>> check_smoothing(-1)
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: smoothing must be a number >= 0, got -1. Hint: 0 is maximum likelihood, 1 is Laplace.
    """
    try:
        lam = np.asarray(smoothing, dtype=np.float64)
    except (TypeError, ValueError):
        lam = np.array(np.nan)
    if lam.ndim > 1 or not np.all(np.isfinite(lam)) or np.any(lam < 0):
        raise ParameterError(
            f"smoothing must be a number >= 0, got {smoothing!r}.",
            hint="0 is maximum likelihood, 1 is Laplace",
        )
    return lam
