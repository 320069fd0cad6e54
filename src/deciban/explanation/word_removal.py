"""Texts without some of their words: what a counterfactual of a text may change.

A row gets a value for every word of its texts, beside its columns: the word itself, or None where
it is taken out, wherever it stands. :meth:`Removable.restore` makes it a row of the table again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from deciban.models.protocol import Model
from deciban.sources.tabular import Row, Value

#: Of a long text, the strongest words are tried.
MAX_TRIED_WORDS = 200


class WordKey(str):
    """The name of a word of a column, in lower case, in a row; no column has such a name."""

    __slots__ = ("column", "word")
    column: str
    word: str

    def __new__(cls, column: str, word: str) -> Self:
        """The name of this word."""
        key = super().__new__(cls, f"{column}\0{word}")
        key.column, key.word = column, word
        return key


@dataclass(frozen=True)
class Removable:
    """The words of a row's texts, and where each stands."""

    places: dict[WordKey, tuple[tuple[int, int], ...]]

    @classmethod
    def of(cls, model: Model, row: Row, fixed: Iterable[str]) -> Removable:
        """The words of all texts but fixed ones that the model knows."""
        places: dict[WordKey, list[tuple[int, int]]] = {}
        strength: dict[WordKey, float] = {}
        stay = set(fixed)
        for column in model.schema.texts:
            text = row.get(column)
            if column in stay or not isinstance(text, str):
                continue
            for word in model.word_contributions(column, text):
                key = WordKey(column, word.token.lower())
                places.setdefault(key, []).append((word.start, word.stop))
                strength[key] = strength.get(key, 0.0) + float(np.ptp(word.by_class))
        tried = sorted(places, key=lambda key: -strength[key])[:MAX_TRIED_WORDS]
        return cls({key: tuple(places[key]) for key in places if key in set(tried)})

    def extend(self, row: Row) -> dict[str, Value]:
        """The row with a value for each of its words."""
        return {**row, **{key: key.word for key in self.places}}

    def restore(self, row: Row) -> dict[str, Value]:
        """The row of the table, its texts without the words that were taken out."""
        out = {name: value for name, value in row.items() if not isinstance(name, WordKey)}
        cuts: dict[str, list[tuple[int, int]]] = {}
        for key, places in self.places.items():
            if row[key] is None:
                cuts.setdefault(key.column, []).extend(places)
        for column, spans in cuts.items():
            out[column] = _without(str(out[column]), spans)
        return out


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text without some stretches, which may overlap.

    >>> _without("no free lunch", [(3, 7), (3, 5)])
    'no lunch'
    """
    kept, at = [], 0
    for start, stop in sorted(spans):
        kept.append(text[at : max(start, at)])
        at = max(at, stop)
    kept.append(text[at:])
    return " ".join(" ".join(kept).split()) if any(" " in part for part in kept) else "".join(kept)
