"""Phrases: what a text is made of, and the weight of each for every class.

A column is read twice: by phrases of up to three words, and, unless the texts are
very long, by the pieces of its words, which see that "helped" is akin to "helpful".
Both are read alike, and "phrase" is said of either. A phrase that a text has counts
once, whatever its number, times its inverse document frequency where that was found
to help; a text of known phrases is scaled to length one, so that long texts count no
more than short ones. The logits of a text are a sum over its phrases all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels
from deciban.encoding.matrices import text_column
from deciban.ensemble.logits import FloatArray
from deciban.labels import Labels
from deciban.models.protocol import WordContribution
from deciban.sources.batch import Batch
from deciban.text import Tokenizer, Vocabulary, pack
from deciban.text.spans import Span

#: A phrase is of no more words than this; signs such as "!" are words.
MAX_PHRASE_WORDS = 3
#: A piece of a word is of so many characters.
PIECE_CHARACTERS = (3, 5)
#: Pieces are read of texts that have no more bytes than this together.
MAX_BYTES_IN_PIECES = 4_000_000

PHRASES = Tokenizer(ngrams=(1, MAX_PHRASE_WORDS), one_letter=True, signs=True)
PIECES = Tokenizer(characters=PIECE_CHARACTERS, within=True)


def select_tokenizers(
    batch: Batch, names: Sequence[str], stated: Tokenizer | None
) -> list[tuple[str, Tokenizer]]:
    """The tokenizers of columns: the stated one, else phrases and pieces of words."""
    if stated is not None:
        return [(name, stated) for name in names]
    out = []
    for name in names:
        out.append((name, PHRASES))
        offsets = text_column(batch, name).offsets
        if offsets[-1] - offsets[0] <= MAX_BYTES_IN_PIECES:
            out.append((name, PIECES))
    return out


@dataclass(frozen=True, eq=False)
class PhraseModel:
    """The known phrases of a column, their weights, (phrases, classes), and their idf."""

    name: str
    tokenizer: Tokenizer
    phrases: Labels
    weights: FloatArray
    idf: FloatArray

    @classmethod
    def empty(cls, name: str, tokenizer: Tokenizer, n_classes: int = 1) -> PhraseModel:
        """No phrase at all."""
        return cls(name, tokenizer, labels.object_array(()), np.zeros((0, n_classes)), np.empty(0))

    @property
    def title(self) -> str:
        """The column, and that its words are read in pieces if they are."""
        return self.name if self.tokenizer.characters is None else f"{self.name}, in pieces"

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The codes of the phrases."""
        return Vocabulary(self.phrases.tolist())

    def __mul__(self, factor: float) -> PhraseModel:
        return replace(self, weights=self.weights * factor)

    def logits(self, batch: Batch) -> FloatArray:
        """What the texts add to the logits, (rows, classes); unknown words add nothing."""
        texts = text_column(batch, self.name)
        encoded = self.tokenizer.encode(texts, self.vocabulary, grow=False, binary=True)
        return np.asarray(unit_rows(encoded.pointers, encoded.codes, self.idf) @ self.weights)

    def word_contributions(self, text: str) -> list[WordContribution]:
        """The words of a text in their places, and what each adds to the logits.

        A phrase is shared among the places where it stands, and there among its
        words. Words of no known phrase are left out.
        """
        rule = self.tokenizer
        words = (rule if rule.characters is None else PHRASES).spans(text)
        by_word: dict[int, FloatArray] = {}
        for by_class, place in self._places(text, words):
            for at in place:
                by_word[at] = by_word.get(at, 0.0) + by_class / len(place)
        spans = {at: words[at][:2] for at in sorted(by_word)}
        return [WordContribution(text[a:b], a, b, by_word[at]) for at, (a, b) in spans.items()]

    def _places(
        self, text: str, words: Sequence[Span]
    ) -> Iterator[tuple[FloatArray, Sequence[int]]]:
        """What each known phrase adds in a place where it stands, and the words of that place."""
        encoded = self.tokenizer.encode(pack([text]), self.vocabulary, grow=False, binary=True)
        norm = np.sqrt(np.sum(self.idf[encoded.codes] ** 2))
        codes = {self.phrases[code]: code for code in encoded.codes}
        places: dict[str, list[Sequence[int]]] = {phrase: [] for phrase in codes}
        for phrase, place in locate_phrases(words, self.tokenizer, text):
            if phrase in places and place:
                places[phrase].append(place)
        for phrase, code in codes.items():
            for place in places[phrase]:
                yield self.weights[code] * (self.idf[code] / (norm * len(places[phrase]))), place


def locate_phrases(
    words: Sequence[Span], rule: Tokenizer, text: str
) -> Iterator[tuple[str, Sequence[int]]]:
    """The phrases of a text, with the words that each is made of or lies in.

    >>> text = "oh no"
    >>> words = Tokenizer().spans(text)
    >>> list(locate_phrases(words, Tokenizer(ngrams=(2, 2)), text))
    [('oh no', range(0, 2))]
    >>> list(locate_phrases(words, Tokenizer(characters=(4, 4), within=True), text))
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


def unit_rows(
    pointers: NDArray[np.int64], codes: NDArray[np.integer], idf: FloatArray
) -> csr_array:
    """Rows of the idf of their phrases, of Euclidean length one, (rows, phrases)."""
    data, shape = idf[codes], (len(pointers) - 1, len(idf))
    codes, pointers = codes.astype(np.int32), pointers.astype(np.int32)
    squares = csr_array((data**2, codes, pointers), shape) @ np.ones(len(idf))
    data /= np.repeat(np.sqrt(squares), np.diff(pointers))
    return csr_array((data, codes, pointers), shape)
