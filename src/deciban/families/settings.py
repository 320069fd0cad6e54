"""How parameters are estimated: the method and the strength of the prior.

=========  ====================================================================
method     prediction rule
=========  ====================================================================
``ml``     maximum likelihood: the likeliest parameter
``map``    maximum a posteriori: the mode of the posterior
``bayes``  full Bayes: the parameter integrated out
=========  ====================================================================

The three share one prior. Families with more settings extend :class:`Settings` in their own file,
by fields whose metadata say what they may hold: :func:`amount`, :func:`whole`, :func:`one_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_FLOAT, MAX_NUMBER
from deciban.errors import ParameterError, ShapeError

Method = Literal["ml", "map", "bayes"]
FloatArray = NDArray[np.float64]


_USUAL_METHOD = '"bayes" with smoothing=1 is Laplace\'s rule'
#: What a field may hold: its name and value are handed to it when settings are made.
Check = Mapping[str, Callable[[str, object], None]]


def one_of(words: tuple[str, ...], hint: str) -> Check:
    """One of some words."""
    return {"check": partial(_check_word, words=words, hint=hint)}


def amount(hint: str) -> Check:
    """A finite number >= 0."""
    return {"check": partial(_check_amount, hint=hint)}


def whole(least: int, what: str) -> Check:
    """A whole number, or one per column; None where that is the default."""
    return {"check": partial(_check_whole, least=least, what=what)}


def _check_word(name: str, value: object, words: tuple[str, ...], hint: str) -> None:
    if value not in words:
        known = ", ".join(map(repr, words))
        raise ParameterError(f"{name} must be one of {known}, got {value!r}.", hint=hint)


def _check_amount(name: str, value: object, hint: str) -> None:
    if not (isinstance(value, int | float | np.number) and 0 <= value <= MAX_FLOAT):
        raise ParameterError(f"{name} must be a number >= 0, got {value!r}.", hint=hint)


def _check_whole(name: str, values: object, least: int, what: str) -> None:
    if values is None:
        return
    given = np.asarray(values)
    if given.dtype.kind not in "iu" or given.ndim > 1 or np.any(given < least):
        raise ParameterError(
            f"{name} must be whole numbers >= {least}, got {values!r}.",
            hint=f"one number of {what}, or one per column",
        )


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of one block of columns.

    method
        ``"ml"``, ``"map"`` or ``"bayes"``
    smoothing
        the strength ``lam >= 0`` of the prior, one number or one per column. For discrete columns
        the prior is a symmetric Dirichlet(lam), so that ``"bayes"`` is
        ``(N + lam) / (n + S * lam)``; for numbers it is worth ``lam`` rows that look like the
        whole column.

    >>> Settings("ml").method
    'ml'
    >>> Settings("best")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: method must be one of 'ml', 'map', 'bayes', got 'best'. Hint: ...
    """

    method: Method = field(default="bayes", metadata=one_of(get_args(Method), _USUAL_METHOD))
    smoothing: Any = 1.0
    lam: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Check every field that says what it may hold."""
        for entry in fields(self):
            if "check" in entry.metadata:
                entry.metadata["check"](entry.name, getattr(self, entry.name))
        object.__setattr__(self, "lam", check_smoothing(self.smoothing))

    def per_column(self, n_columns: int) -> FloatArray:
        """``lam`` of each column.

        >>> Settings(smoothing=[0.5, 2.0]).per_column(2)
        array([0.5, 2. ])
        """
        return spread("smoothing", self.lam, n_columns)

    def pseudo_counts(self, n_columns: int) -> FloatArray:
        """What the method adds to every count of each column."""
        return np.asarray(pseudo_count(self.method, self.per_column(n_columns)))


def pseudo_count(method: Method, lam: FloatArray | float) -> FloatArray | float:
    """What the method adds to every count.

    >>> pseudo_count("map", 3.0)
    2.0
    """
    return {"ml": 0.0 * lam, "map": lam - 1.0, "bayes": lam}[method]


def spread(name: str, values: FloatArray, n_columns: int) -> FloatArray:
    """One number for each column, from one for all or one for each."""
    if values.ndim and len(values) != n_columns:
        raise ShapeError(
            f"{name} has {len(values)} values for {n_columns} columns.",
            hint="give one number, or one per column",
        )
    return np.broadcast_to(values, n_columns)


def check_smoothing(smoothing: object) -> FloatArray:
    """A finite number >= 0, or a vector of them, as an array.

    >>> check_smoothing(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ParameterError: smoothing must be a number >= 0, got -1. Hint: 0 is maximum ...
    """
    try:
        given = np.asarray(smoothing)
        lam = given.astype(np.float64) if given.dtype.kind in "biufO" else np.array(np.nan)
    except (TypeError, ValueError, OverflowError):
        lam = np.array(np.nan)
    if lam.ndim > 1 or not np.all((lam >= 0) & (lam <= MAX_NUMBER)):
        raise ParameterError(
            f"smoothing must be a number >= 0, got {smoothing!r}.",
            hint="0 is maximum likelihood, 1 is Laplace",
        )
    return lam
