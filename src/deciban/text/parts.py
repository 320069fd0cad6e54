"""Counting and encoding a long column in parts, by several threads.

Parts are cut by size alone, each has a vocabulary of its own, and these are
put together in the order of the parts: neither codes nor sums depend on the
number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.engines import threads
from deciban.kernels import sinks
from deciban.source.columns import Strings
from deciban.text.tokenizer import Counted, Encoded, Tokenizer, checked
from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["arranged", "count", "cuts", "encode"]

#: About this many bytes of text make a part.
PART = 1 << 23


def cuts(strings: Strings, size: int = PART) -> list[slice]:
    """Consecutive rows of about ``size`` bytes.

    >>> from deciban.text import packed
    >>> cuts(packed(["spam"] * 5), 8)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    # A row costs something even if it is empty.
    return _sliced(strings.offsets + np.arange(len(strings) + 1) // 8, size)


def _sliced(offsets: NDArray[np.int64], size: int) -> list[slice]:
    """Consecutive rows, cut where another ``size`` is full."""
    n = len(offsets) - 1
    if n == 0:
        return []
    edges = np.flatnonzero(np.diff((offsets[:-1] - offsets[0]) // size)) + 1
    return [slice(int(a), int(b)) for a, b in zip([0, *edges], [*edges, n], strict=True)]


def count(
    rule: Tokenizer,
    strings: Strings,
    vocabulary: Vocabulary | Buckets,
    y: NDArray[np.int64],
    n_classes: int,
    weight: NDArray[np.float64] | None = None,
    *,
    binary: bool = False,
    documents: bool = False,
    size: int = PART,
) -> Counted:
    """As :meth:`Tokenizer.count`."""
    once = {"binary": binary, "documents": documents}
    where = cuts(strings, size)
    if len(where) < 2:
        return rule.count(strings, vocabulary, y, n_classes, weight, **once)
    y, weight = checked(y, weight, len(strings), n_classes)
    kind = np.int64 if weight is None else np.float64

    def work(rows: slice) -> tuple[Vocabulary | Buckets, Counted]:
        words = vocabulary if isinstance(vocabulary, Buckets) else Vocabulary()
        piece, some = _rows(strings, rows), None if weight is None else weight[rows]
        return words, rule.count(piece, words, y[rows], n_classes, some, **once)

    total = Counted(np.zeros((n_classes, 0), kind), np.zeros((n_classes, 0), kind))
    for words, counted in threads.run(work, where):
        places = _places(words, vocabulary)
        total = _added(total, counted, places, len(vocabulary))
    return total


def encode(
    rule: Tokenizer,
    strings: Strings,
    vocabulary: Vocabulary | Buckets,
    *,
    grow: bool = True,
    binary: bool = False,
    size: int = PART,
) -> Encoded:
    """As :meth:`Tokenizer.encode`."""
    where = cuts(strings, size)
    if len(where) < 2:
        return rule.encode(strings, vocabulary, grow=grow, binary=binary)
    shared = isinstance(vocabulary, Buckets) or not grow

    def work(rows: slice) -> tuple[Vocabulary | Buckets, Encoded]:
        words = vocabulary if shared else Vocabulary()
        return words, rule.encode(_rows(strings, rows), words, grow=grow, binary=binary)

    done = []
    for words, found in threads.run(work, where):
        places = slice(None) if shared else _places(words, vocabulary)
        codes = found.codes if isinstance(places, slice) else places.astype(np.int32)[found.codes]
        done.append(found._replace(codes=codes))
    return _stacked(done)


def arranged(rows: Encoded, ranks: NDArray[np.int32]) -> Encoded:
    """Rows with every code replaced by its rank, in the order of ranks.

    >>> rows = Encoded(np.array([0, 2]), np.array([0, 1], np.int32), np.array([5, 6], np.int32))
    >>> [part.tolist() for part in arranged(rows, np.array([1, 0], np.int32))]
    [[0, 2], [0, 1], [6, 5]]
    """
    if len(rows.codes) < len(ranks):
        ranked = ranks[rows.codes]
        order = np.lexsort(
            (ranked, np.repeat(np.arange(len(rows.pointers) - 1), np.diff(rows.pointers)))
        )
        return Encoded(rows.pointers, ranked[order], rows.counts[order])
    codes, counts = np.empty_like(rows.codes), np.empty_like(rows.counts)

    def work(some: slice) -> None:
        pointers = rows.pointers[some.start : some.stop + 1]
        sinks.arrange(pointers, rows.codes, rows.counts, ranks, codes, counts)

    # Turning a block costs at least one step a column.
    for _ in threads.run(work, _sliced(rows.pointers, max(1 << 18, 4 * len(ranks)))):
        pass
    return Encoded(rows.pointers, codes, counts)


def _rows(strings: Strings, rows: slice) -> Strings:
    offsets = strings.offsets[rows.start : rows.stop + 1]
    return Strings(offsets, strings.data, strings.missing[rows])


def _places(words: Vocabulary | Buckets, whole: Vocabulary | Buckets) -> NDArray[np.int64] | slice:
    """The codes in the whole vocabulary of those of a part."""
    if isinstance(words, Buckets) or isinstance(whole, Buckets):
        return slice(None)
    return whole.add(words)


def _added(total: Counted, more: Counted, places: NDArray[np.int64] | slice, width: int) -> Counted:
    """The sums of both; ``places`` are those of the second one's tokens."""
    rows = None
    if total.documents is not None and more.documents is not None:
        rows = _summed(total.documents, more.documents, places, width)
    return Counted(_summed(total.tokens, more.tokens, places, width), rows)


def _summed(
    total: NDArray[Any], more: NDArray[Any], places: NDArray[np.int64] | slice, width: int
) -> NDArray[Any]:
    if width > total.shape[1]:
        total = np.pad(total, ((0, 0), (0, width - total.shape[1])))
    total[:, places] += more
    return total


def _stacked(parts: list[Encoded]) -> Encoded:
    """Rows one after the other."""
    starts = np.cumsum([0, *(part.pointers[-1] for part in parts)])
    pointers = [part.pointers[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Encoded(
        np.concatenate([np.zeros(1, dtype=np.int64), *pointers]),
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )
