"""Counts of tokens by class, gathered batch after batch: what a model learns from texts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deciban import labels, threads
from deciban.kernels.tally import Pairs
from deciban.labels import Array, Labels
from deciban.sources.columns import Strings
from deciban.stats.sparse import SparseSum
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["Tally"]

FloatArray = NDArray[np.float64]
Sums = dict[str, SparseSum]
#: A sink that has taken more tokens is followed by a new one; it never takes twice as many.
MAX_SINK_TOKENS = 1 << 31


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
        """Count a batch of texts; ``y`` are positions among ``classes``."""
        self.classes = labels.union(self.classes, classes)
        codes = labels.positions(classes, self.classes)[y].astype(np.int64)
        self.tokenizer.scan(texts, self.words, True, self._sink(codes, weight))

    def result(self, classes: Labels) -> tuple[Labels, Sums]:
        """The words in their order, and the sums of these classes; the tally is used up."""
        return merge_tallies([self], classes)

    def _sink(self, codes: NDArray[np.int64], weight: FloatArray | None) -> Pairs:
        """The sink that takes these rows: the last one, or a new one where they do not fit."""
        last = self.sinks[-1] if self.sinks else None
        if len(self.classes) > self.room:
            self.room, last = max(len(self.classes), 2 * self.room), None
        if last is None or last.taken > MAX_SINK_TOKENS or last.weighted != (weight is not None):
            last = Pairs(codes, self.room, weight)
            self.sinks.append(last)
        else:
            last.aim(codes, weight)
        return last


def merge_tallies(tallies: Iterable[Tally], classes: Labels) -> tuple[Labels, Sums]:
    """The words of several tallies in their order, and the sums of these classes.

    Buckets are numbers, of which only those are named that something fell into.
    The tallies are used up.
    """
    queue = list(tallies)
    words, total = queue[0].words, _total_sink(queue, classes)
    codes = [_codes_among(words, tally) for tally in queue]

    def absorb() -> None:
        while queue:
            tally, token_codes = queue.pop(0), codes.pop(0)
            class_codes = labels.positions(tally.classes, classes).astype(np.int32)
            while tally.sinks:
                total.absorb(tally.sinks.pop(), token_codes, class_codes)

    if not isinstance(words, Vocabulary):
        absorb()
        starts, of, amount, documents = total.result(np.arange(len(words)), len(words))
        some = np.diff(starts) > 0
        starts = starts[np.append(some, True)]
        return np.flatnonzero(some), _sums(starts, of, amount, documents, len(classes))
    order, _ = threads.both(words.order, absorb)
    places = np.empty(len(words), dtype=np.int64)
    places[order] = np.arange(len(words))
    tokens, parts = threads.both(
        lambda: labels.object_array(words.tokens(order)),
        lambda: total.result(places, len(words)),
    )
    return tokens, _sums(*parts, len(classes))


def _codes_among(words: Vocabulary | Buckets, tally: Tally) -> NDArray[np.int32]:
    """The codes of a tally's words among those of all tallies, to which they are added."""
    if tally.words is words or not isinstance(words, Vocabulary):
        return np.arange(len(words), dtype=np.int32)
    assert isinstance(tally.words, Vocabulary)
    return words.add(tally.words).astype(np.int32)


def _total_sink(tallies: list[Tally], classes: Labels) -> Pairs:
    """A sink that can hold all that was counted: the first tally's own, or a new one."""
    sinks = [sink for tally in tallies for sink in tally.sinks]
    wide = any(s.weighted for s in sinks) or sum(s.taken for s in sinks) >= 1 << 32
    first = tallies[0]
    fits = len(first.sinks) == 1 and first.sinks[0].weighted == wide
    if fits and first.room == len(classes) and labels.same(first.classes, classes):
        return first.sinks.pop()
    return Pairs(np.empty(0, np.int64), max(len(classes), 1), None, wide)


def _sums(
    starts: NDArray[np.int64],
    of: NDArray[np.int32],
    amount: Array,
    documents: Array,
    n_classes: int,
) -> Sums:
    """Entries of cells as tables of (classes, cells)."""
    return {
        "amount": SparseSum.of_entries(starts, of, amount, n_classes),
        "documents": SparseSum.of_entries(starts, of, documents, n_classes),
    }
