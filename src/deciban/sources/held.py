"""A table that is held in memory: scored as a whole, and its rows looked up afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.errors import InputError
from deciban.sources.batch import Batch
from deciban.sources.open import is_matrix, scan
from deciban.sources.scan import scan_batches

__all__ = ["HeldTable"]

#: So many rows are turned into Python values at once: one by one would take long.
BLOCK_ROWS = 128


class HeldTable:
    """A table ``X`` that a model can be given, and whose rows can be asked for.

    Frames, files and streams are read once and held; matrices are as they are.

    >>> HeldTable({"x": [1, 2], "y": ["S", "L"]}, ["y", "x"]).row(1)
    ['L', 2]
    """

    def __init__(self, X: Any, names: Sequence[str], *, by_name: bool = True) -> None:
        """``by_name``: whether the model finds the columns ``names`` by their names."""
        if hasattr(X, "tocsr"):
            raise InputError(
                "sparse rows are not explained all at once.",
                hint="explain takes X[[i]], explain_rows X.toarray(); evidence gives matrices",
            )
        self.X, self._names = X, names
        self._batches: list[Batch] = []
        self._block: tuple[int, list[list[Any]]] = (-1, [])
        if by_name and not _is_plain_matrix(X):
            table = scan(X)
            self._batches = list(table)
            self.X = scan_batches(table.names, self._batches)

    def row(self, i: int) -> Sequence[Any]:
        """The values of a row."""
        if not self._batches:
            return _matrix_row(self.X, i)
        start, block = self._block
        if not (start >= 0 and start <= i < start + len(block)):
            start, block = self._block = self._read_block(i)
        return block[i - start]

    def _read_block(self, i: int) -> tuple[int, list[list[Any]]]:
        """Where the block of a row starts, and its rows."""
        before = 0
        for batch in self._batches:
            at = i - before
            if at < batch.n_rows:
                first = at - at % BLOCK_ROWS
                last = min(first + BLOCK_ROWS, batch.n_rows)
                some = batch if last - first == batch.n_rows else batch.slice(first, last)
                lists = [some.columns[name].tolist() for name in self._names]
                return before + first, [list(row) for row in zip(*lists, strict=True)]
            before += batch.n_rows
        raise IndexError(i)


def _is_plain_matrix(X: Any) -> bool:
    return isinstance(X, list | tuple | np.ndarray) and is_matrix(X)


def _matrix_row(X: Any, i: int) -> list[Any]:
    if hasattr(X, "iloc"):
        return list(X.iloc[i].tolist())
    row = X[i]
    return list(row.tolist() if hasattr(row, "tolist") else row)
