"""Rows that are copies of each other: groups that nobody has to state.

Rows of tables are copies if they hold the same; rows with texts, if their texts are near copies
(:mod:`deciban.text.near_copies`), whatever other columns hold. A group is known by the least key
of what its rows hold, so that it depends neither on the order of rows nor on batches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import text_column
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.row_keys import Keys, row_keys
from deciban.text.near_copies import group_near_copies
from deciban.text.tokenizer import Tokenizer
from deciban.text.vocabulary import Buckets

__all__ = ["copy_keys", "token_hashes"]

#: Words are told apart by hashes below this: two of a hundred share one once in 200 texts.
N_WORD_HASHES = 1 << 20


def copy_keys(schema: Schema, batches: Sequence[Batch]) -> Keys:
    """The group of every row of all batches, as a key."""
    names = [
        c.name for c in schema.columns if c.texts or (not schema.texts and c.kind != "identifier")
    ]
    keys = np.concatenate([np.zeros(0, np.uint64), *(row_keys(b, names) for b in batches)])
    if not schema.texts or not len(keys):
        return keys
    group = group_near_copies(*_tokens(batches, names))
    least = np.full(int(group.max()) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, group, keys)
    return least[group]


def _tokens(
    batches: Sequence[Batch], names: Sequence[str]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hashes of the tokens of every row, of all texts, and where those of each row start."""
    sides = [token_hashes([text_column(b, name) for b in batches]) for name in names]
    n_rows = len(sides[0][1]) - 1
    row = np.concatenate([np.repeat(np.arange(n_rows), np.diff(starts)) for _, starts in sides])
    order = np.argsort(row, kind="stable")
    tokens = np.concatenate([tokens + np.uint64(j << 32) for j, (tokens, _) in enumerate(sides)])
    starts = np.searchsorted(row[order], np.arange(n_rows + 1))
    return tokens[order], starts.astype(np.int64)


def token_hashes(parts: Sequence[Strings]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hashes of the different tokens of texts, and where those of each text start."""
    rule, tokens, sizes = Tokenizer(), [np.zeros(0, np.uint64)], [np.zeros(1, np.int64)]
    for texts in parts:
        rows = rule.encode(texts, Buckets(N_WORD_HASHES), grow=False, binary=True)
        tokens.append(rows.codes.astype(np.uint64))
        sizes.append(np.diff(rows.pointers).astype(np.int64))
    return np.concatenate(tokens), np.cumsum(np.concatenate(sizes))
