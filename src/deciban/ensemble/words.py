"""What texts say: by short phrases, and by the pieces of their words.

A column is read twice: by phrases of up to three words, and, unless the texts are
very long, by the pieces of its words, which see that "helped" is akin to "helpful".
Both are read alike, and "phrase" is said of either. A phrase that a text has counts
once, whatever its number, and is as loud as it is rare where that was found to
help; a text of known phrases is scaled to length one, so that long texts do not
shout. What a text says is a sum over its phrases all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels
from deciban.ensemble.margins import FloatArray
from deciban.labels import Labels
from deciban.naive_bayes.texts import strings
from deciban.sources.batch import Batch
from deciban.text import Tokenizer, Vocabulary, packed
from deciban.text.spans import Span

#: A phrase is of no more words than this; signs such as "!" are words.
LONGEST = 3
#: A piece of a word is of so many characters.
PIECES = (3, 5)
#: Pieces are read of texts that have no more bytes than this together.
MOST_BYTES = 4_000_000

PHRASES = Tokenizer(ngrams=(1, LONGEST), one_letter=True, signs=True)
IN_PIECES = Tokenizer(characters=PIECES, within=True)


def readings(
    batch: Batch, names: Sequence[str], stated: Tokenizer | None
) -> list[tuple[str, Tokenizer]]:
    """How columns are read: as it is stated, else by phrases and by pieces of words."""
    if stated is not None:
        return [(name, stated) for name in names]
    out = []
    for name in names:
        out.append((name, PHRASES))
        offsets = strings(batch, name).offsets
        if offsets[-1] - offsets[0] <= MOST_BYTES:
            out.append((name, IN_PIECES))
    return out


@dataclass(frozen=True, eq=False)
class Words:
    """The known phrases of a column, and what each says for every class, (phrases, classes)."""

    name: str
    tokenizer: Tokenizer
    phrases: Labels
    weights: FloatArray
    rarity: FloatArray

    @classmethod
    def nothing(cls, name: str, tokenizer: Tokenizer, n_classes: int = 1) -> Words:
        """No phrase at all."""
        return cls(name, tokenizer, labels.objects(()), np.zeros((0, n_classes)), np.empty(0))

    @property
    def title(self) -> str:
        """The column, and that its words are read in pieces if they are."""
        return self.name if self.tokenizer.characters is None else f"{self.name}, in pieces"

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The codes of the phrases."""
        return Vocabulary(self.phrases.tolist())

    def scaled(self, factor: float) -> Words:
        """The same phrases, saying more or less."""
        return Words(self.name, self.tokenizer, self.phrases, self.weights * factor, self.rarity)

    def margins(self, batch: Batch) -> FloatArray:
        """What the texts say, (rows, classes); unknown words say nothing."""
        texts = strings(batch, self.name)
        found = self.tokenizer.encode(texts, self.vocabulary, grow=False, binary=True)
        X = unit(found.pointers, found.codes, self.rarity)
        return np.asarray(X @ self.weights)

    def spoken(self, text: str) -> list[tuple[str, int, int, FloatArray]]:
        """The words of a text, where they are, and what each says for every class.

        What a phrase says is shared among the places where it stands, and there
        among its words. Words that say nothing are left out.
        """
        rule = self.tokenizer
        words = (rule if rule.characters is None else PHRASES).spans(text)
        known = rule.encode(packed([text]), self.vocabulary, grow=False, binary=True)
        codes = {self.phrases[code]: code for code in known.codes}
        places: dict[str, list[Sequence[int]]] = {phrase: [] for phrase in codes}
        for phrase, place in phrases(words, rule, text):
            if phrase in places and place:
                places[phrase].append(place)
        length = np.sqrt(np.sum(self.rarity[known.codes] ** 2))
        said: dict[int, FloatArray] = {}
        for phrase, found in places.items():
            code = codes[phrase]
            loud = self.weights[code] * (self.rarity[code] / (length * max(1, len(found))))
            for place in found:
                for at in place:
                    said[at] = said.get(at, 0.0) + loud / len(place)
        return [(text[slice(*words[at][:2])], *words[at][:2], said[at]) for at in sorted(said)]


def phrases(
    words: Sequence[Span], rule: Tokenizer, text: str
) -> Iterator[tuple[str, Sequence[int]]]:
    """What a rule finds in a text, with the words that it is made of or lies in.

    >>> text = "oh no"
    >>> words = Tokenizer().spans(text)
    >>> list(phrases(words, Tokenizer(ngrams=(2, 2)), text))
    [('oh no', range(0, 2))]
    >>> list(phrases(words, Tokenizer(characters=(4, 4), within=True), text))
    [(' oh ', [0]), (' no ', [1])]
    """
    if rule.characters is not None:
        for start, stop, piece in rule.spans(text):
            yield piece, [at for at, (a, b, _) in enumerate(words) if a < stop and start < b]
        return
    fewest, most = rule.ngrams
    for size in range(fewest, most + 1):
        for at in range(len(words) - size + 1):
            yield " ".join(token for _, _, token in words[at : at + size]), range(at, at + size)


def unit(pointers: NDArray[Any], codes: NDArray[Any], rarity: FloatArray) -> Any:
    """Rows of how rare their phrases are, of length one."""
    sizes, data, width = np.diff(pointers), rarity[codes], len(rarity)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    data = data / np.sqrt(np.bincount(rows, data**2, len(sizes)))[rows]
    return csr_array((data, codes.astype(np.int32), pointers.astype(np.int32)), (len(sizes), width))
