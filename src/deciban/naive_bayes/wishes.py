"""What the user of an estimator asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deciban.errors import ParameterError
from deciban.families.settings import check_smoothing
from deciban.models.readings import READINGS
from deciban.models.selection import Wishes
from deciban.schema import Schema, nothing_to_learn
from deciban.sources import column_names
from deciban.text import Tokenizer

ALLOWED = {
    "numeric": ("auto", "gaussian", "histogram", "mdl"),
    "missing": ("auto", "skip", "value"),
    "method": ("bayes", "map", "ml"),
    "text": tuple(READINGS),
}


def of(estimator: Any, schema: Schema) -> Wishes:
    """The parameters of an estimator that concern the columns of a table."""
    for name, allowed in ALLOWED.items():
        if getattr(estimator, name) not in allowed:
            raise ParameterError(
                f"{name} must be one of {', '.join(map(repr, allowed))}, "
                f"got {getattr(estimator, name)!r}.",
                hint=f"{allowed[0]!r} is the default",
            )
    smoothing = _smoothing(estimator.smoothing, schema)
    check_words(estimator.min_df, estimator.max_words)
    return Wishes(
        estimator.numeric,
        estimator.missing,
        smoothing,
        estimator.method,
        estimator.text,
        estimator.min_df,
        estimator.max_words,
    )


def check_words(min_df: Any, max_words: Any) -> None:
    """Which words are used: those in so many texts, and so many of them."""
    if not (
        (type(min_df) is int and min_df >= 1) or (isinstance(min_df, float) and 0 <= min_df <= 1)
    ):
        raise ParameterError(
            f"min_df must be a whole number >= 1 or a share from 0.0 to 1.0, got {min_df!r}.",
            hint="2 leaves out words that one text alone has",
        )
    if max_words is not None and not (type(max_words) is int and max_words >= 1):
        raise ParameterError(
            f"max_words must be a whole number >= 1 or None, got {max_words!r}.",
            hint="None uses all words",
        )


def tokenizer(stated: Any) -> Tokenizer:
    """The rule of words, or that for any script."""
    if stated is not None and not isinstance(stated, Tokenizer):
        raise ParameterError(
            f"tokenizer must be a deciban.text.Tokenizer, got {stated!r}.",
            hint="Tokenizer(segmenter=function) takes a function from a text to its words",
        )
    return stated or Tokenizer()


def check_columns(schema: Schema) -> None:
    """Some column must be left to learn from."""
    if not (schema.numbers or schema.categories or schema.texts):
        raise nothing_to_learn(schema)


def _smoothing(stated: Any, schema: Schema) -> Any:
    """Checked: ``"auto"``, a number, or a number for each column that is counted."""
    if isinstance(stated, str) and stated == "auto":
        return stated
    if not isinstance(stated, Mapping):
        if isinstance(stated, str) or check_smoothing(stated).ndim:
            raise ParameterError(
                f'smoothing must be a number >= 0, "auto" or a dict, got {stated!r}.',
                hint="0 is maximum likelihood, 1 is Laplace",
            )
        return float(stated)
    out = {}
    columns = {column.name: column for column in schema.columns}
    for name, value in stated.items():
        if name not in columns:
            raise column_names.unknown(name, schema.names)
        counted = (*columns[name].numbers, *columns[name].categories, *columns[name].texts)
        out.update(dict.fromkeys(counted, _smoothing(value, Schema(()))))
    return out
