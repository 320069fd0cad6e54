"""What the caller of a model of counts has fixed; ``"auto"`` is left to the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from deciban import families
from deciban.errors import ParameterError
from deciban.families.settings import Method, check_smoothing
from deciban.models.text_selection import TEXT_MODELS
from deciban.schema import Schema
from deciban.sources import column_names

#: The smoothing of what belongs to no column, where none is stated for all of them.
DEFAULT_SMOOTHING = 1.0
#: ``"auto"``, one number for all columns, or one for some of them.
Smoothing = float | str | Mapping[str, float | str]


@dataclass(frozen=True)
class Options:
    """How columns are to be modelled, as far as it is stated.

    numeric
        ``"auto"``, the name of a family of numbers, or ``"mdl"``: bins by description length. A
        column to which what is asked for does not apply is modelled as by ``"auto"``
    missing
        ``"auto"``, ``"skip"`` (a missing value says nothing) or ``"value"`` (it is a value)
    smoothing
        ``"auto"``, a number >= 0, or ``{counted column: number}``
    method
        ``"bayes"``, ``"map"`` or ``"ml"``
    text
        one of :data:`deciban.models.text_selection.TEXT_MODELS`
    min_df, max_words
        which words of texts are used
    """

    numeric: str = "auto"
    missing: str = "auto"
    smoothing: Smoothing = "auto"
    method: Method = "bayes"
    text: str = "auto"
    min_df: float = 1
    max_words: int | None = None

    def __post_init__(self) -> None:
        for name, allowed in _allowed().items():
            value = getattr(self, name)
            if value not in allowed:
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.",
                    hint=f"{allowed[0]!r} is the default",
                )
        for stated in self.smoothing.values() if isinstance(self.smoothing, Mapping) else ():
            _check_number(stated)
        if not isinstance(self.smoothing, Mapping):
            _check_number(self.smoothing)
        _check_words(self.min_df, self.max_words)

    def for_columns(self, schema: Schema) -> Options:
        """Options whose smoothing is stated by counted columns, from that of columns of a table."""
        if not isinstance(self.smoothing, Mapping):
            return self
        counted = {c.name: (*c.numbers, *c.categories, *c.texts) for c in schema.columns}
        smoothing: dict[str, float | str] = {}
        for name, value in self.smoothing.items():
            if name not in counted:
                raise column_names.unknown(name, schema.names)
            smoothing |= dict.fromkeys(counted[name], value)
        return replace(self, smoothing=smoothing)

    @cached_property
    def prior_smoothing(self) -> float:
        """The smoothing of what belongs to no column: the class prior, and missing or not."""
        stated = self.smoothing
        return DEFAULT_SMOOTHING if isinstance(stated, str | Mapping) else float(stated)

    def smoothing_of(self, columns: Sequence[str]) -> list[float | None]:
        """The smoothing stated for counted columns; None is for the counts to choose."""
        if isinstance(self.smoothing, Mapping):
            stated = [self.smoothing.get(column, "auto") for column in columns]
        else:
            stated = [self.smoothing] * len(columns)
        return [None if isinstance(value, str) else float(value) for value in stated]


def numeric_options() -> tuple[str, ...]:
    """The values that the option ``numeric`` may have: ``"auto"``, and what families answer to.

    >>> numeric_options()[:3]
    ('auto', 'gaussian', 'histogram')
    """
    asked = [option for family in families.FAMILIES.values() for option in family.options]
    return ("auto", *asked)


def _allowed() -> dict[str, tuple[str, ...]]:
    """The values that options may have, the default first."""
    return {
        "numeric": numeric_options(),
        "missing": ("auto", "skip", "value"),
        "method": ("bayes", "map", "ml"),
        "text": tuple(TEXT_MODELS),
    }


def _check_number(stated: Any) -> None:
    """``"auto"`` or a number >= 0."""
    if isinstance(stated, str) and stated == "auto":
        return
    if isinstance(stated, str) or check_smoothing(stated).ndim:
        raise ParameterError(
            f'smoothing must be a number >= 0, "auto" or a dict, got {stated!r}.',
            hint="0 is maximum likelihood, 1 is Laplace",
        )


def _check_words(min_df: Any, max_words: Any) -> None:
    """Which words are used: those in so many texts, and so many of them."""
    share = isinstance(min_df, float) and 0 <= min_df <= 1
    if not (share or (type(min_df) is int and min_df >= 1)):
        raise ParameterError(
            f"min_df must be a whole number >= 1 or a share from 0.0 to 1.0, got {min_df!r}.",
            hint="2 leaves out words that one text alone has",
        )
    if max_words is not None and not (type(max_words) is int and max_words >= 1):
        raise ParameterError(
            f"max_words must be a whole number >= 1 or None, got {max_words!r}.",
            hint="None uses all words",
        )
