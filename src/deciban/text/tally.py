"""Words by class, counted batch after batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.kernels.sinks import Pairs
from deciban.labels import Labels
from deciban.source.columns import Strings
from deciban.sparse import SparseSum
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Vocabulary

__all__ = ["Tally"]

FloatArray = NDArray[np.float64]
Sums = dict[str, SparseSum]
#: Words, classes, and amounts and documents of pairs that were counted.
Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]
#: A sink takes no more tokens than twice this.
MOST = 1 << 31


class Tally:
    """How often every word occurs in each class, and in how many texts. For one thread.

    >>> from deciban.text import packed
    >>> tally = Tally(Tokenizer())
    >>> tally.add(packed(["spam spam", "no ham"]), np.array(["bad", "good"]), np.array([0, 1]))
    >>> words, sums = tally.result(np.array(["bad", "good"]))
    >>> words, sums["amount"].dense()
    (array(['ham', 'no', 'spam'], dtype=object), array([[0., 0., 2.],
           [1., 1., 0.]]))
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.words = Vocabulary()
        self.classes: Labels = labels.objects(())
        self._sinks: list[Pairs] = []
        self._room = 0

    def add(
        self, texts: Strings, classes: Labels, y: NDArray[np.intp], weight: FloatArray | None = None
    ) -> None:
        """Count some texts; ``y`` are positions among ``classes``."""
        self.classes = labels.union(self.classes, classes)
        codes = labels.positions(classes, self.classes)[y].astype(np.int64)
        if len(self.classes) > self._room:
            self._room = max(len(self.classes), 2 * self._room)
            self._sinks.append(Pairs(codes, self._room, weight))
        elif self._sinks[-1].taken > MOST:
            self._sinks.append(Pairs(codes, self._room, weight))
        else:
            self._sinks[-1].aim(codes, weight)
        self.tokenizer.scan(texts, self.words, True, self._sinks[-1])

    def entries(self) -> Entries:
        """What was counted, by codes of words and positions of classes, in no order."""
        found = [sink.result() for sink in self._sinks]
        self._sinks.clear()
        if len(found) == 1:
            return found[0]
        word, of, sums = zip(*found, strict=True)
        return np.concatenate(word), np.concatenate(of), np.concatenate(sums).astype(np.float64)

    def result(self, classes: Labels) -> tuple[Labels, Sums]:
        """The words in their order, and the sums of these classes; the tally is used up."""
        return united([self], classes)


def united(tallies: Iterable[Tally], classes: Labels) -> tuple[Labels, Sums]:
    """The words of several tallies in their order, and the sums of these classes.

    The tallies are used up.
    """
    first, *others = tallies
    words = first.words
    parts = [_keyed(first, np.arange(len(words)), classes)]
    parts += [_keyed(tally, words.add(tally.words), classes) for tally in others]
    order = words.order()
    place = np.empty(len(words), dtype=np.int64)
    place[order] = np.arange(len(words))
    keys, sums = _added(parts, place, max(len(classes), 1))
    tokens = np.empty(len(words), dtype=object)
    tokens[:] = words.tokens()
    shape = len(classes), len(words)
    both = {
        name: SparseSum.of_keys(keys, sums[:, i], shape)
        for i, name in enumerate(("amount", "documents"))
    }
    return tokens[order], both


def _keyed(tally: Tally, codes: NDArray[np.int64], classes: Labels) -> Entries:
    """The entries of a tally, by codes of all words and positions among all classes."""
    at = labels.positions(tally.classes, classes)
    word, of, sums = tally.entries()
    return codes[word], at[of].astype(np.int64), sums


def _added(
    parts: list[Entries], place: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Entries of the same word and class as one, in the order of their keys."""
    keys = np.concatenate([place[word] * n_classes + of for word, of, _ in parts])
    sums = np.concatenate([part for _, _, part in parts]).astype(np.float64)
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    return keys[first], np.add.reduceat(sums[order], first) if len(keys) else sums
