"""Checks of what a caller of NaiveBayes passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from deciban.errors import InputError, ParameterError
from deciban.schema import Schema, nothing_to_learn
from deciban.sources.units import ARGUMENTS, UnitSource
from deciban.text import Tokenizer
from deciban.text.stop_words import stop_words


def check_tokenizer(stated: object, stops: str | Iterable[str] | None = None) -> Tokenizer:
    """The rule of words, or that for any script, without these stop words as well."""
    if stated is not None and not isinstance(stated, Tokenizer):
        raise ParameterError(
            f"tokenizer must be a deciban.text.Tokenizer, got {stated!r}.",
            hint="Tokenizer(segmenter=function) takes a function from a text to its words",
        )
    rule = stated or Tokenizer()
    if stops is None:
        return rule
    return replace(rule, stop_words=(*(rule.stop_words or ()), *stop_words(stops)))


def check_columns(schema: Schema) -> None:
    """Some column must be left to learn from."""
    if not (schema.numbers or schema.categories or schema.texts):
        raise nothing_to_learn(schema)


def check_labelled(units: UnitSource | None) -> None:
    """Rows without a label are counted under every class: they cannot be left out exactly."""
    if units is not None:
        what = ARGUMENTS[units.kind]
        raise InputError(
            f"some rows have no label, which does not go together with {what}.",
            hint=f"leave rows without a label out, or {what}",
        )
