"""Columns of text as one block of a table of counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from deciban import labels
from deciban.stats.cells import Cells
from deciban.stats.words import Bags
from deciban.text.packing import pack
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Vocabulary

__all__ = ["block"]


def block(names: Sequence[Hashable], columns: Sequence[Iterable[object]]) -> tuple[Cells, Bags]:
    """The tokens of some columns, one after the other, and the bag of tokens of each row.

    >>> cells, bags = block(["title"], [["spam spam", "ham"]])
    >>> cells.values, bags.data, bags.indices
    ((array(['spam', 'ham'], dtype=object),), array([2., 1.]), array([0, 1], dtype=int32))
    """
    words = [Vocabulary() for _ in columns]
    encoded = [
        Tokenizer().encode(pack([None if labels.is_missing(t) else str(t) for t in column]), v)
        for column, v in zip(columns, words, strict=True)
    ]
    cells = Cells(
        labels.label_array(list(names)), tuple(labels.object_array(v.tokens()) for v in words)
    )
    sizes = np.array([np.diff(pointers) for pointers, _, _ in encoded])
    row = np.concatenate([np.repeat(np.arange(len(size)), size) for size in sizes])
    order = np.argsort(row, kind="stable")
    indices = np.concatenate([codes + cells.offsets[j] for j, (_, codes, _) in enumerate(encoded)])
    amounts = np.concatenate([counts for _, _, counts in encoded]).astype(np.float64)
    indptr = np.append(0, np.cumsum(sizes.sum(axis=0))).astype(np.int32)
    return cells, Bags(amounts[order], indices[order].astype(np.int32), indptr, cells.size)
