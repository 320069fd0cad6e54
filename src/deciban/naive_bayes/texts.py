"""Columns of text in a table: which words are used, and how texts are encoded by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban.encoding import matrices
from deciban.labels import Labels
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.stats import rounding
from deciban.stats.cells import Cells
from deciban.stats.table import Table
from deciban.stats.words import NO_WORDS, Bags, sum_of
from deciban.text import Buckets, Tokenizer, Vocabulary

FloatArray = NDArray[np.float64]


def column_table(table: Table, name: str) -> Table:
    """The words of one column, as views."""
    return table.column(table.cells.columns.tolist().index(name))


def limit_words(table: Table, min_df: float, max_words: int | None) -> Table:
    """The words of one column that are in enough texts, and of these no more than the most.

    Of words that are said as often as each other, the first in their order stay.
    """
    documents, amount = sum_of(table, "presence").by_cell, sum_of(table, "amount").by_cell
    least = min_df if isinstance(min_df, int) else min_df * table.rows.sum()
    if isinstance(min_df, int) and min_df == 1:
        least = 0  # no limit: texts that have decayed are less than one
    keep = documents >= (1 - rounding.ROUNDING) * least
    if max_words is not None and keep.sum() > max_words:
        keep = _most_frequent(keep, amount, known_words(table), max_words)
    if keep.all():
        return table
    words = tuple(values[keep] for values in table.cells.values or ())
    chosen = table.select(np.ones(len(table.rows), dtype=bool), keep)
    return replace(chosen, cells=Cells(table.cells.columns, words))


def _most_frequent(
    keep: NDArray[np.bool_], amount: FloatArray, words: Labels, n: int
) -> NDArray[np.bool_]:
    """The n most frequent of the words that are kept."""
    least = np.partition(amount[keep], -n)[-n]
    more = np.asarray(keep & (amount > least))
    tied = np.flatnonzero(keep & (amount == least))
    tied = tied[np.argsort(words[tied])]
    more[tied[: n - int(more.sum())]] = True
    return more


def known_words(table: Table) -> Labels:
    """The words of a table of one column."""
    return table.cells.values[0] if table.cells.values else NO_WORDS


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """Texts of one column to bags of known words."""

    name: str
    tokenizer: Tokenizer
    known: Labels

    @cached_property
    def _codes(self) -> Vocabulary | Buckets:
        if self.tokenizer.buckets is not None:
            return self.tokenizer.vocabulary()
        return Vocabulary(self.known.tolist())

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The places of buckets among those that are known, or -1."""
        places = np.full(self.tokenizer.buckets or 0, -1, dtype=np.int32)
        places[self.known.astype(np.intp)] = np.arange(len(self.known))
        return places

    def encode(self, batch: Batch) -> Bags:
        """The known words of every row; others say nothing."""
        return self.encode_texts(matrices.text_column(batch, self.name))

    def encode_texts(self, texts: Strings) -> Bags:
        """The known words of some texts."""
        pointers, codes, counts = self.tokenizer.encode(texts, self._codes, grow=False)
        if self.tokenizer.buckets is not None:
            codes = self._places[codes]
            pointers = np.append(0, np.cumsum(codes >= 0))[pointers]
            codes, counts = codes[codes >= 0], counts[codes >= 0]
        return Bags(counts.astype(np.float64), codes, pointers.astype(np.int32), len(self.known))

    def positions(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """The place of each token among the known words, or -1."""
        if isinstance(self._codes, Vocabulary):
            return self._codes.codes(tokens)
        return self._places[self.tokenizer.bucket_of(tokens)].astype(np.int64)
