"""Columns of the input that are written out again, as they stand there.

A field keeps its own text: ``33`` does not become ``33.0``, a long number keeps all its digits, a
date its form. Only what the format of the output asks for is done to it: quotes, JSON's words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Protocol

from deciban.sources import Booleans, Column, Integers, Numbers
from deciban.sources.batch import Batch, FieldBatch
from deciban.sources.columns import Strings
from deciban.sources.tabular import Value

__all__ = ["Fields", "HasFields", "kept_column"]

_JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


class HasFields(Protocol):
    """A column that knows how its values are written."""

    @property
    def column(self) -> Column:
        """What was read."""

    def texts(self) -> list[str | None]:
        """For CSV; None is an empty field."""

    def tokens(self) -> list[str]:
        """For JSON."""

    def values(self) -> list[Value]:
        """For a typed table: numbers as text, by their own digits."""


@dataclass(frozen=True, eq=False)
class Fields:
    """A column of text in a file, and what was read from it."""

    fields: Strings
    column: Column

    def texts(self) -> list[str | None]:
        """The fields."""
        return self.fields.tolist()

    def tokens(self) -> list[str]:
        """Numbers by their own digits, truth values and texts; what is missing is null."""
        texts = _known(self)
        if isinstance(self.column, Numbers | Integers):
            return [_number_token(text) for text in texts]
        if isinstance(self.column, Booleans):
            return ["null" if text is None else text.strip().lower() for text in texts]
        return ["null" if text is None else encode_basestring(text) for text in texts]

    def values(self) -> list[Value]:
        """Texts and digits as they stand; whole numbers, truth values and times as read."""
        own = isinstance(self.column, Strings | Numbers)
        return list(_known(self)) if own else self.column.tolist()


@dataclass(frozen=True, eq=False)
class JsonFields:
    """The values of a key, as JSON writes them, and what was read from them."""

    fields: Strings
    column: Column

    def texts(self) -> list[str | None]:
        """Texts without their quotes, numbers by their own digits, true and false."""
        return [None if token is None else _unquoted(token) for token in self.fields.tolist()]

    def tokens(self) -> list[str]:
        """The values."""
        return ["null" if token is None else token for token in self.fields.tolist()]

    def values(self) -> list[Value]:
        """Texts and digits as they stand; whole numbers, truth values and times as read."""
        own = isinstance(self.column, Strings | Numbers)
        return list(self.texts()) if own else self.column.tolist()


@dataclass(frozen=True, eq=False)
class TypedFields(Fields):
    """A column of a file that states types, as text from which its type can be made again."""

    def values(self) -> list[Value]:
        """The text."""
        return list(self.fields.tolist())


def kept_column(batch: Batch, name: str) -> HasFields | None:
    """A column as it stands in the file; None where the source has no fields."""
    if not isinstance(batch, FieldBatch) or name not in batch.fields:
        return None
    kind = JsonFields if batch.json else TypedFields if name in batch.types else Fields
    return kind(batch.fields[name], batch.columns[name])


def _known(kept: Fields) -> list[str | None]:
    """The texts; None where the column has no value, whatever marks that in the file."""
    pairs = zip(kept.fields.tolist(), kept.column.missing.tolist(), strict=True)
    return [None if gap else text for text, gap in pairs]


def _number_token(text: str | None) -> str:
    """A number as JSON, by its own digits; what JSON does not take for one is a text."""
    if text is None:
        return "null"
    return text if _JSON_NUMBER.fullmatch(text) else encode_basestring(text)


def _unquoted(token: str) -> str:
    return str(json.loads(token)) if token.startswith('"') else token
