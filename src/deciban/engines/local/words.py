"""The words of columns of text, counted by class."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deciban import labels
from deciban.encoding import matrices
from deciban.labels import Labels
from deciban.sources.labelled import LabelledBatch
from deciban.stats import sparse
from deciban.stats.cells import Cells
from deciban.stats.table import Table
from deciban.stats.words import WORDS
from deciban.text import Tally, Tokenizer
from deciban.text.tally import merge_tallies

__all__ = ["WordCounter"]

FloatArray = NDArray[np.float64]


@dataclass
class WordCounter:
    """The words of some columns, counted batch by batch by several threads.

    Every thread that is at work has tallies of its own; they are put together
    at the end, in the order of the words, so that it cannot be seen which
    thread counted what.
    """

    names: tuple[str, ...]
    tokenizer: Tokenizer
    _idle: deque[dict[str, Tally]] = field(default_factory=deque)

    def add(self, batch: LabelledBatch) -> None:
        """Count some rows."""
        if not batch.batch.n_rows:
            return
        try:
            mine = self._idle.pop()
        except IndexError:
            mine = {name: Tally(self.tokenizer) for name in self.names}
        for name, tally in mine.items():
            texts = matrices.text_column(batch.batch, name)
            tally.add(texts, batch.classes, batch.codes, batch.weight)
        self._idle.append(mine)

    def table(self, classes: Labels, rows: FloatArray) -> Table:
        """The words of all columns, for the classes of all rows."""
        columns = labels.label_array(self.names)
        if not self._idle:
            cells, sums = WORDS.empty(columns, len(classes))
            return Table(WORDS, cells, np.zeros(len(classes)), sums)
        parts = [
            merge_tallies((mine.pop(name) for mine in self._idle), classes) for name in self.names
        ]
        joined = {
            key: sparse.concatenate([part[key] for _, part in parts]) for key in WORDS.sum_names
        }
        return Table(WORDS, Cells(columns, tuple(words for words, _ in parts)), rows, joined)
