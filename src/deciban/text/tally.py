"""Words by class, counted batch after batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.kernels.tally import Pairs
from deciban.labels import Labels
from deciban.sources.columns import Strings
from deciban.stats.sparse import SparseSum
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Vocabulary

__all__ = ["Tally"]

FloatArray = NDArray[np.float64]
Sums = dict[str, SparseSum]
#: A sink takes no more tokens than twice this.
MOST = 1 << 31


class Tally:
    """How often every word occurs in each class, and in how many texts. For one thread.

    >>> from deciban.text import pack
    >>> tally = Tally(Tokenizer())
    >>> tally.add(pack(["spam spam", "no ham"]), np.array(["bad", "good"]), np.array([0, 1]))
    >>> words, sums = tally.result(np.array(["bad", "good"]))
    >>> words, sums["amount"].dense()
    (array(['ham', 'no', 'spam'], dtype=object), array([[0., 0., 2.],
           [1., 1., 0.]]))
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.words = tokenizer.vocabulary()
        self.classes: Labels = labels.object_array(())
        self.sinks: list[Pairs] = []
        self.room = 0

    def add(
        self, texts: Strings, classes: Labels, y: NDArray[np.intp], weight: FloatArray | None = None
    ) -> None:
        """Count some texts; ``y`` are positions among ``classes``."""
        self.classes = labels.union(self.classes, classes)
        codes = labels.positions(classes, self.classes)[y].astype(np.int64)
        if len(self.classes) > self.room:
            self.room = max(len(self.classes), 2 * self.room)
            self.sinks.append(Pairs(codes, self.room, weight))
        elif self.sinks[-1].taken > MOST or self.sinks[-1].weighted != (weight is not None):
            self.sinks.append(Pairs(codes, self.room, weight))
        else:
            self.sinks[-1].aim(codes, weight)
        self.tokenizer.scan(texts, self.words, True, self.sinks[-1])

    def result(self, classes: Labels) -> tuple[Labels, Sums]:
        """The words in their order, and the sums of these classes; the tally is used up."""
        return merge_tallies([self], classes)


def merge_tallies(tallies: Iterable[Tally], classes: Labels) -> tuple[Labels, Sums]:
    """The words of several tallies in their order, and the sums of these classes.

    Buckets are numbers, of which only those are named that something fell into.
    The tallies are used up.
    """
    mine = list(tallies)
    words, whole = mine[0].words, _largest(mine, classes)
    while mine:
        tally = mine.pop(0)
        at = labels.positions(tally.classes, classes).astype(np.int32)
        codes = np.arange(len(words))
        if isinstance(words, Vocabulary) and isinstance(tally.words, Vocabulary):
            codes = codes if tally.words is words else words.add(tally.words)
        while tally.sinks:
            whole.absorb(tally.sinks.pop(), codes.astype(np.int32), at)
    code, of, counted = whole.result()
    del whole, tally  # what is not needed any more makes room
    if not isinstance(words, Vocabulary):
        names, places = np.unique(code, return_inverse=True)
        return names.astype(np.int64), _sums(places, of, counted, (len(classes), len(names)))
    order = words.order()
    place = np.empty(len(words), dtype=np.int64)
    place[order] = np.arange(len(words))
    tokens = np.empty(len(words), dtype=object)
    tokens[:] = words.tokens()
    del words
    return tokens[order], _sums(place[code], of, counted, (len(classes), len(tokens)))


def _largest(tallies: list[Tally], classes: Labels) -> Pairs:
    """A sink that can hold all that was counted: that of the first tally, or a new one."""
    sinks = [sink for tally in tallies for sink in tally.sinks]
    wide = any(s.weighted for s in sinks) or sum(s.taken for s in sinks) >= 1 << 32
    first = tallies[0]
    fits = len(first.sinks) == 1 and first.sinks[0].weighted == wide
    if fits and first.room == len(classes) and labels.same(first.classes, classes):
        return first.sinks.pop()
    return Pairs(np.empty(0, np.int64), max(len(classes), 1), None, wide)


def _sums(
    word: NDArray[np.int64], of: NDArray[np.int32], counted: NDArray[Any], shape: tuple[int, int]
) -> Sums:
    """The sums of pairs of words and classes, by their places."""
    keys = word * shape[0] + of
    order = np.argsort(keys)
    keys = keys[order]
    return {
        name: SparseSum.of_keys(keys, counted[order, i], shape)
        for i, name in enumerate(("amount", "documents"))
    }
