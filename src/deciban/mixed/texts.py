"""Columns of text in a mixed table: words counted, words looked up, readings chosen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deciban import labels, sparse
from deciban.cells import Cells
from deciban.errors import InputError
from deciban.families.words import Bags
from deciban.labels import Labels
from deciban.mixed.parts import Part
from deciban.source.columns import Batch, Strings
from deciban.sparse import SparseSum
from deciban.table import Table
from deciban.text import Tally, Tokenizer, Vocabulary
from deciban.text.tally import united

FloatArray = NDArray[np.float64]
#: The block of the counts that holds the words of all columns.
BLOCK = "words"


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

    def add(self, part: Part) -> None:
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
    vocabulary: Vocabulary

    @classmethod
    def of(cls, table: Table, name: str, tokenizer: Tokenizer) -> Words:
        """The words that were counted."""
        return cls(
            name,
            tokenizer,
            Vocabulary(table.cells.values[0].tolist() if table.cells.values else ()),
        )

    def bags(self, batch: Batch) -> Bags:
        """The known words of every row; others say nothing."""
        indptr, indices, counts = self.tokenizer.encode(
            strings(batch, self.name), self.vocabulary, grow=False
        )
        return Bags(
            counts.astype(np.float64), indices, indptr.astype(np.int32), len(self.vocabulary)
        )


def nothing(names: Iterable[str], n_classes: int) -> Table:
    """No words of these columns."""
    columns = labels.narrowed(tuple(names))
    cells = Cells(columns, (labels.objects(()),) * len(columns))
    none = SparseSum.of(np.zeros((n_classes, 0)))
    zeros = {"amount": none, "documents": none}
    return Table("words", cells, np.zeros(n_classes), zeros)
