"""Words by class, counted batch after batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.kernels.sinks import Table
from deciban.labels import Labels
from deciban.source.columns import Strings
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Vocabulary

__all__ = ["Tally"]

FloatArray = NDArray[np.float64]
Counted = tuple[FloatArray, FloatArray]


class Tally:
    """How often every word occurs in each class, and in how many texts. For one thread.

    >>> from deciban.text import packed
    >>> tally = Tally(Tokenizer())
    >>> tally.add(packed(["spam spam", "no ham"]), np.array(["bad", "good"]), np.array([0, 1]))
    >>> words, sums = tally.result(np.array(["bad", "good"]))
    >>> words, sums["amount"]
    (array(['ham', 'no', 'spam'], dtype=object), array([[0., 0., 2.],
           [1., 1., 0.]]))
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.words = Vocabulary()
        self.classes: Labels = labels.objects(())
        self._tables: list[Table] = []
        self._room = 0

    def add(
        self, texts: Strings, classes: Labels, y: NDArray[np.intp], weight: FloatArray | None = None
    ) -> None:
        """Count some texts; ``y`` are positions among ``classes``."""
        self.classes = labels.union(self.classes, classes)
        codes = labels.positions(classes, self.classes)[y].astype(np.int64)
        if len(self.classes) > self._room:
            self._room = 1 << (len(self.classes) - 1).bit_length()
            self._tables.append(Table(codes, self._room, weight, False, True))
        else:
            self._tables[-1].aim(codes, weight)
        self.tokenizer.scan(texts, self.words, True, self._tables[-1])

    def _sums(self, n_words: int) -> Counted:
        """Amounts and documents, (classes, words), in the order of the codes."""
        amount, documents = np.zeros((2, len(self.classes), n_words))
        for table in self._tables:
            parts: Any = table.result(len(self.words))
            for whole, part in zip((amount, documents), parts, strict=True):
                some = min(len(whole), len(part))
                whole[:some, : len(self.words)] += part[:some]
        return amount, documents

    def result(self, classes: Labels) -> tuple[Labels, dict[str, FloatArray]]:
        """The words in their order, and the sums of these classes."""
        return united([self], classes)


def united(tallies: Iterable[Tally], classes: Labels) -> tuple[Labels, dict[str, FloatArray]]:
    """The words of several tallies in their order, and the sums of these classes."""
    words = Vocabulary()
    parts = [(tally, words.add(tally.words)) for tally in tallies]
    order = words.order()
    place = np.empty(len(words), dtype=np.intp)
    place[order] = np.arange(len(words))
    sums = np.zeros((2, len(classes), len(words)))
    for tally, codes in parts:
        rows = labels.positions(tally.classes, classes)
        for whole, part in zip(sums, tally._sums(len(tally.words)), strict=True):
            whole[np.ix_(rows, place[codes])] += part
    tokens = np.empty(len(words), dtype=object)
    tokens[:] = words.tokens()
    return tokens[order], {"amount": sums[0], "documents": sums[1]}
