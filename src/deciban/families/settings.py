"""How parameters are estimated: the method and its smoothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import ParameterError, ShapeError

Method = Literal["ml", "map", "bayes"]
Weighting = Literal["amount", "presence", "absence"]


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
    shared
        whether the classes of a numeric column share one variance.
    normalise
        whether complement weights are divided by their sum.
    bins
        how a histogram is cut, for all columns or for each: a number of bins of
        equal frequency, 0 for every value a bin of its own, -1 for bins by
        minimum description length.
    weighting
        what a word of a text counts for: ``"amount"``, each time it occurs;
        ``"presence"``, once a text; ``"absence"``, once, and a word that is not
        there counts as well.
    contrast
        how far a class is scored by the words of the *other* classes, from 0,
        the multinomial model, to 1, the complement.
    length, scale
        what a text of ``n`` words says is multiplied by ``scale * n ** -length``.

    >>> Settings("ml").method
    'ml'
    >>> Settings("best")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: method must be one of 'ml', 'map', 'bayes', got 'best'. Hint: ...
    """

    method: Method = "bayes"
    smoothing: Any = 1.0
    sizes: ArrayLike | None = None
    unseen: Literal["smooth", "skip"] = "smooth"
    floor: float = 0.0
    shared: bool = False
    normalise: bool = False
    bins: ArrayLike = 10
    weighting: Weighting = "amount"
    contrast: float = 0.0
    length: float = 0.0
    scale: float = 1.0
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
        if self.weighting not in get_args(Weighting):
            raise ParameterError(
                f"weighting must be one of {', '.join(map(repr, get_args(Weighting)))}, "
                f"got {self.weighting!r}.",
                hint='"amount" is the multinomial model of text',
            )
        for name, hint in (
            ("floor", "it is added to every variance"),
            ("contrast", "0 is the multinomial model, 1 the complement"),
            ("length", "0 believes every word, 1 the mean of them"),
            ("scale", "1 believes a text in full"),
        ):
            _check_amount(name, getattr(self, name), hint)
        _check_whole("sizes", 0 if self.sizes is None else self.sizes, 0, "possible values")
        _check_whole("bins", self.bins, -1, "bins; 0 is every value, -1 minimum description length")
        object.__setattr__(self, "lam", check_smoothing(self.smoothing))

    def per_column(self, n_columns: int) -> NDArray[np.float64]:
        """``lam`` of each column.

        >>> Settings(smoothing=[0.5, 2.0]).per_column(2)
        array([0.5, 2. ])
        """
        return _spread("smoothing", self.lam, n_columns)

    def least_sizes(self, n_columns: int) -> NDArray[np.float64]:
        """``S_j`` of each column as stated; 0 where it is as seen."""
        stated = 0 if self.sizes is None else self.sizes
        return _spread("sizes", np.asarray(stated, dtype=np.float64), n_columns)

    def bins_of(self, n_columns: int) -> NDArray[np.float64]:
        """How each column is cut.

        >>> Settings(bins=5).bins_of(2)
        array([5., 5.])
        """
        return _spread("bins", np.asarray(self.bins, dtype=np.float64), n_columns)


def _check_amount(name: str, value: object, hint: str) -> None:
    if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
        raise ParameterError(f"{name} must be a number >= 0, got {value!r}.", hint=hint)


def _spread(name: str, values: NDArray[np.float64], n_columns: int) -> NDArray[np.float64]:
    if values.ndim and len(values) != n_columns:
        raise ShapeError(
            f"{name} has {len(values)} values for {n_columns} columns.",
            hint="give one number, or one per column",
        )
    return np.broadcast_to(values, n_columns)


def _check_whole(name: str, values: object, least: int, what: str) -> None:
    found = np.asarray(values)
    if found.dtype.kind not in "iu" or found.ndim > 1 or np.any(found < least):
        raise ParameterError(
            f"{name} must be whole numbers >= {least}, got {values!r}.",
            hint=f"one number of {what}, or one per column",
        )


def check_smoothing(smoothing: object) -> NDArray[np.float64]:
    """A finite number >= 0, or a vector of them, as an array.

    >>> check_smoothing(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: smoothing must be a number >= 0, got -1. Hint: 0 is maximum ...
    """
    try:
        given = np.asarray(smoothing)
        lam = given.astype(np.float64) if given.dtype.kind in "biufO" else np.array(np.nan)
    except (TypeError, ValueError):
        lam = np.array(np.nan)
    if lam.ndim > 1 or not np.all(np.isfinite(lam)) or np.any(lam < 0):
        raise ParameterError(
            f"smoothing must be a number >= 0, got {smoothing!r}.",
            hint="0 is maximum likelihood, 1 is Laplace",
        )
    return lam
