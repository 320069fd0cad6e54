"""Texts as rows of their phrases: what the regression and the counts of a column are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deciban import labels
from deciban.encoding.matrices import text_column
from deciban.ensemble.logits import FloatArray
from deciban.ensemble.phrases import unit_rows
from deciban.labels import Labels
from deciban.sources.batch import Batch
from deciban.text import Tokenizer, Vocabulary
from deciban.text.parallel import encode

#: Phrases of fewer texts are left out.
MIN_TEXTS = 2
#: No more coefficients are fitted: of many classes, the longest phrases are left out, then
#: the rarest.
MAX_COEFFICIENTS = 6_000_000
#: Longer phrases are no news to the counts, which would count their words once more.
MAX_COUNTED_WORDS = 2


@dataclass(frozen=True, eq=False)
class PhraseRows:
    """Texts as unit rows ``X``, (texts, phrases); each phrase, its words and its idf."""

    phrases: Labels
    n_words: NDArray[np.intp]
    idf: FloatArray
    X: csr_array


def tabulate(
    tokenizer: Tokenizer, batch: Batch, name: str, n_classes: int
) -> tuple[PhraseRows, PhraseRows]:
    """The texts of a column as rows of its phrases, with their idf and without."""
    vocabulary = Vocabulary()
    encoded = encode(tokenizer, text_column(batch, name), vocabulary, binary=True)
    n_texts = np.bincount(encoded.codes, minlength=len(vocabulary))
    order = vocabulary.order(np.flatnonzero(n_texts >= MIN_TEXTS))
    phrases = labels.object_array(vocabulary.tokens(order))
    n_words = word_counts(tokenizer, phrases.tolist())
    some = _affordable(n_texts[order], n_words, n_classes)
    order, n_words, phrases = order[some], n_words[some], phrases[some]
    column = np.full(len(vocabulary), -1, dtype=np.int64)
    column[order] = np.arange(len(order))
    codes = column[encoded.codes]
    pointers = np.concatenate([[0], np.cumsum(codes >= 0)])[encoded.pointers]
    codes = codes[codes >= 0]  # in the order of each text, whatever the number of threads
    idf = np.log(len(encoded.pointers) / (1.0 + n_texts[order])) + 1.0
    with_idf, without = (
        PhraseRows(phrases, n_words, each, unit_rows(pointers, codes, each))
        for each in (idf, np.ones(len(order)))
    )
    return with_idf, without


def word_counts(tokenizer: Tokenizer, phrases: Sequence[str]) -> NDArray[np.intp]:
    """How many words phrases have; a piece of a word counts as one.

    >>> word_counts(Tokenizer(ngrams=(1, 2)), ["so", "so good"]).tolist()
    [1, 2]
    """
    if tokenizer.characters is not None or tokenizer.ngrams[1] == 1:
        return np.ones(len(phrases), dtype=np.intp)
    return np.array([phrase.count(" ") + 1 for phrase in phrases], dtype=np.intp)


def _affordable(
    n_texts: NDArray[np.intp], n_words: NDArray[np.intp], n_classes: int
) -> NDArray[np.bool_]:
    """As many phrases as there is room for: without the longest, then without the rarest."""
    room, some = max(1, MAX_COEFFICIENTS // n_classes), np.ones(len(n_texts), dtype=bool)
    if len(n_texts) > room:
        some = n_words <= MAX_COUNTED_WORDS
    least = MIN_TEXTS
    while np.count_nonzero(some) > room:
        least += 1
        some &= n_texts >= least
    return some
