"""A long column of texts, counted and encoded by several threads.

The column is cut into batches by size alone, each batch has a vocabulary of its own, and
these are merged in the order of the batches: neither codes nor sums depend on the number
of threads.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.kernels import sinks
from deciban.sources.columns import Strings
from deciban.text.tokenizer import Sums, TokenCounts, Tokenizer, TokenRows, check_rows
from deciban.text.vocabulary import Buckets, Vocabulary

__all__ = ["count", "encode", "reorder", "slices"]

Places: TypeAlias = NDArray[np.int64] | slice

#: About this many bytes of text make a batch.
BATCH_BYTES = 1 << 23
#: A batch of rows to reorder has at least this many entries.
MIN_REORDER_ENTRIES = 1 << 18


def slices(strings: Strings, size: int = BATCH_BYTES) -> list[slice]:
    """Consecutive rows of about ``size`` bytes.

    >>> from deciban.text import pack
    >>> slices(pack(["spam"] * 5), 8)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    # A row costs something even if it is empty.
    return _cut_rows(strings.offsets + np.arange(len(strings) + 1) // 8, size)


def _cut_rows(offsets: NDArray[np.int64], size: int) -> list[slice]:
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
    size: int = BATCH_BYTES,
) -> TokenCounts:
    """Sums of tokens per class, as :meth:`Tokenizer.count` gives them."""
    options = {"binary": binary, "documents": documents}
    batches = slices(strings, size)
    if len(batches) < 2:
        return rule.count(strings, vocabulary, y, n_classes, weight, **options)
    y, weight = check_rows(y, weight, len(strings), n_classes)
    dtype = np.int64 if weight is None else np.float64

    def work(rows: slice) -> tuple[Vocabulary | Buckets, TokenCounts]:
        words = vocabulary if isinstance(vocabulary, Buckets) else Vocabulary()
        batch, w = _rows(strings, rows), None if weight is None else weight[rows]
        return words, rule.count(batch, words, y[rows], n_classes, w, **options)

    total = TokenCounts(np.zeros((n_classes, 0), dtype), np.zeros((n_classes, 0), dtype))
    for words, counts in threads.run(work, batches):
        places = _merge_words(vocabulary, words)
        total = _add(total, counts, places, len(vocabulary))
    return total


def encode(
    rule: Tokenizer,
    strings: Strings,
    vocabulary: Vocabulary | Buckets,
    *,
    grow: bool = True,
    binary: bool = False,
    size: int = BATCH_BYTES,
) -> TokenRows:
    """A sparse matrix of counts, as :meth:`Tokenizer.encode` gives it."""
    batches = slices(strings, size)
    if len(batches) < 2:
        return rule.encode(strings, vocabulary, grow=grow, binary=binary)
    shared = isinstance(vocabulary, Buckets) or not grow

    def work(rows: slice) -> tuple[Vocabulary | Buckets, TokenRows]:
        words = vocabulary if shared else Vocabulary()
        return words, rule.encode(_rows(strings, rows), words, grow=grow, binary=binary)

    encoded = []
    for words, rows in threads.run(work, batches):
        places = slice(None) if shared else _merge_words(vocabulary, words)
        codes = rows.codes if isinstance(places, slice) else places.astype(np.int32)[rows.codes]
        encoded.append(rows._replace(codes=codes))
    return _stack(encoded)


def reorder(rows: TokenRows, ranks: NDArray[np.int32]) -> TokenRows:
    """Rows with every code replaced by its rank, in the order of ranks.

    >>> rows = TokenRows(np.array([0, 2]), np.array([0, 1], np.int32), np.array([5, 6], np.int32))
    >>> [part.tolist() for part in reorder(rows, np.array([1, 0], np.int32))]
    [[0, 2], [0, 1], [6, 5]]
    """
    if len(rows.codes) < len(ranks):
        ranked = ranks[rows.codes]
        order = np.lexsort(
            (ranked, np.repeat(np.arange(len(rows.pointers) - 1), np.diff(rows.pointers)))
        )
        return TokenRows(rows.pointers, ranked[order], rows.counts[order])
    codes, counts = np.empty_like(rows.codes), np.empty_like(rows.counts)

    def work(batch: slice) -> None:
        pointers = rows.pointers[batch.start : batch.stop + 1]
        sinks.arrange(pointers, rows.codes, rows.counts, ranks, codes, counts)

    # Sorting a batch costs at least one step a column.
    size = max(MIN_REORDER_ENTRIES, 4 * len(ranks))
    for _ in threads.run(work, _cut_rows(rows.pointers, size)):
        pass
    return TokenRows(rows.pointers, codes, counts)


def _rows(strings: Strings, rows: slice) -> Strings:
    """Some consecutive rows of a column, as a view."""
    offsets = strings.offsets[rows.start : rows.stop + 1]
    return Strings(offsets, strings.data, strings.missing[rows])


def _merge_words(whole: Vocabulary | Buckets, words: Vocabulary | Buckets) -> Places:
    """Add the tokens of a batch to the whole vocabulary; their codes in it."""
    if isinstance(words, Buckets) or isinstance(whole, Buckets):
        return slice(None)
    return whole.add(words)


def _add(total: TokenCounts, more: TokenCounts, places: Places, width: int) -> TokenCounts:
    """The sums of both; ``places`` are those of the second one's tokens."""
    documents = None
    if total.documents is not None and more.documents is not None:
        documents = _add_columns(total.documents, more.documents, places, width)
    return TokenCounts(_add_columns(total.tokens, more.tokens, places, width), documents)


def _add_columns(total: Sums, more: Sums, places: Places, width: int) -> Sums:
    """Add columns to those at ``places`` of a table that is widened to ``width`` first."""
    if width > total.shape[1]:
        total = np.pad(total, ((0, 0), (0, width - total.shape[1])))
    total[:, places] = np.add(total[:, places], more)
    return total


def _stack(batches: list[TokenRows]) -> TokenRows:
    """The rows of all batches, one after the other."""
    starts = np.cumsum([0, *(batch.pointers[-1] for batch in batches)])
    pointers = [batch.pointers[1:] + start for batch, start in zip(batches, starts, strict=False)]
    return TokenRows(
        np.concatenate([np.zeros(1, dtype=np.int64), *pointers]),
        np.concatenate([batch.codes for batch in batches]),
        np.concatenate([batch.counts for batch in batches]),
    )
