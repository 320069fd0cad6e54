"""Columns of text in a mixed table: words counted, words looked up, readings chosen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.errors import InputError
from deciban.families.words import Bags
from deciban.labels import Labels
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.labelled import LabelledBatch
from deciban.stats import rounding, sparse
from deciban.stats.cells import Cells
from deciban.stats.sparse import SparseSum
from deciban.stats.table import Table
from deciban.text import Buckets, Tally, Tokenizer, Vocabulary
from deciban.text.tally import united

FloatArray = NDArray[np.float64]
#: The block of the counts that holds the words of all columns.
BLOCK = "words"
NONE: Labels = np.empty(0, dtype=object)


def strings(batch: Batch, name: str) -> Strings:
    """A column of text."""
    column = batch.columns[name]
    if isinstance(column, Strings):
        return column
    if column.missing.all():
        n = len(column)
        return Strings(np.zeros(n + 1, np.int64), np.empty(0, np.uint8), np.ones(n, bool))
    raise InputError(
        f"column {name!r} was text in training and holds {type(column).__name__.lower()} now.",
        hint="give it the type that it had in training",
    )


def some(table: Table, name: str) -> Table:
    """The words of one column."""
    at = table.cells.columns.tolist().index(name)
    start, stop = table.cells.offsets[at : at + 2]
    cells = Cells(table.cells.columns[at : at + 1], (table.cells.values or ())[at : at + 1])
    sums = {key: part.between(start, stop) for key, part in table.sums.items()}
    return Table(table.family, cells, table.rows, sums)


def limited(table: Table, min_df: float, max_words: int | None) -> Table:
    """The words of one column that are in enough texts, and of these no more than the most.

    Of words that are said as often as each other, the first in their order stay.
    """
    documents, amount = (table.sums[key].by_cell for key in ("documents", "amount"))
    least = min_df if isinstance(min_df, int) else min_df * table.rows.sum()
    if isinstance(min_df, int) and min_df == 1:
        least = 0  # no limit: texts that have decayed are less than one
    keep = documents >= (1 - rounding.ROUNDING) * least
    if max_words is not None and keep.sum() > max_words:
        least = np.partition(amount[keep], -max_words)[-max_words]
        more, tied = keep & (amount > least), np.flatnonzero(keep & (amount == least))
        values = (table.cells.values or (NONE,))[0]
        tied = tied[np.argsort(values[tied])]
        keep = more
        keep[tied[: max_words - int(more.sum())]] = True
    if keep.all():
        return table
    words = tuple(values[keep] for values in table.cells.values or ())
    chosen = table.selected(np.ones(len(table.rows), dtype=bool), keep)
    return replace(chosen, cells=Cells(table.cells.columns, words))


@dataclass
class Counting:
    """The words of some columns, counted batch by batch by several threads.

    Every thread that is at work has tallies of its own; they are put together
    at the end, in the order of the words, so that it cannot be seen which
    thread counted what.
    """

    names: tuple[str, ...]
    tokenizer: Tokenizer
    _idle: deque[dict[str, Tally]] = field(default_factory=deque)

    def add(self, part: LabelledBatch) -> None:
        """Count some rows."""
        if not part.batch.n_rows:
            return
        try:
            mine = self._idle.pop()
        except IndexError:
            mine = {name: Tally(self.tokenizer) for name in self.names}
        for name, tally in mine.items():
            tally.add(strings(part.batch, name), part.classes, part.codes, part.weight)
        self._idle.append(mine)

    def table(self, classes: Labels, rows: FloatArray) -> Table:
        """The words of all columns, for the classes of all rows."""
        if not self._idle:
            return nothing(self.names, len(classes))
        found = [self._column(name, classes) for name in self.names]
        cells = Cells(labels.narrowed(self.names), tuple(words for words, _ in found))
        sums = {
            key: sparse.joined([part[key] for _, part in found]) for key in ("amount", "documents")
        }
        return Table("words", cells, rows, sums)

    def _column(self, name: str, classes: Labels) -> tuple[Labels, dict[str, SparseSum]]:
        return united((mine.pop(name) for mine in self._idle), classes)


@dataclass(frozen=True, eq=False)
class Words:
    """Known words of one column: texts to bags of them."""

    name: str
    tokenizer: Tokenizer
    known: Labels

    @classmethod
    def of(cls, table: Table, name: str, tokenizer: Tokenizer) -> Words:
        """The words that were counted."""
        return cls(name, tokenizer, table.cells.values[0] if table.cells.values else NONE)

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

    def bags(self, batch: Batch) -> Bags:
        """The known words of every row; others say nothing."""
        texts = strings(batch, self.name)
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


def nothing(names: Iterable[str], n_classes: int) -> Table:
    """No words of these columns."""
    columns = labels.narrowed(tuple(names))
    cells = Cells(columns, (labels.objects(()),) * len(columns))
    none = SparseSum.of(np.zeros((n_classes, 0)))
    zeros = {"amount": none, "documents": none}
    return Table("words", cells, np.zeros(n_classes), zeros)
