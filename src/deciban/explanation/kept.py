"""A table that is scored, and whose values are looked up afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban import sources
from deciban.errors import InputError
from deciban.explanation import rows
from deciban.sources.columns import taken

#: So many rows are read at once: one by one would take long.
BLOCK = 128


class Kept:
    """A table that can be scored, and whose rows can be asked for."""

    def __init__(self, table: Any, names: Sequence[str], batches: list[sources.Batch]) -> None:
        self.table, self._names, self._batches = table, names, batches
        self._block: tuple[int, list[list[Any]]] = (-1, [])

    @classmethod
    def of(cls, model: Any, X: Any) -> Kept:
        """Frames, files and streams are read once and held; matrices are as they are."""
        if hasattr(X, "tocsr"):
            raise InputError(
                "sparse rows are not explained all at once.",
                hint="explain takes X[[i]], explain_rows X.toarray(); evidence gives matrices",
            )
        if not hasattr(model, "schema_") or _is_matrix(X):
            return cls(X, rows.features(model), [])
        scanned = sources.scan(X)
        batches = list(scanned)
        return cls(sources.Scan(scanned.names, lambda: iter(batches)), model.schema_.names, batches)

    def row(self, i: int) -> Sequence[Any]:
        """The values of a row."""
        if not self._batches:
            return _row_of(self.table, i)
        start, block = self._block
        if not (start >= 0 and start <= i < start + len(block)):
            start, block = self._block = self._read(i)
        return block[i - start]

    def _read(self, i: int) -> tuple[int, list[list[Any]]]:
        """Where the block of a row starts, and its rows."""
        before = 0
        for batch in self._batches:
            at = i - before
            if at < batch.n_rows:
                first = at - at % BLOCK
                some = np.arange(first, min(first + BLOCK, batch.n_rows))
                columns = [taken(batch.columns[name], some).tolist() for name in self._names]
                return before + first, [list(row) for row in zip(*columns, strict=True)]
            before += batch.n_rows
        raise IndexError(i)


def _is_matrix(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return not (X and (isinstance(X[0], dict) or hasattr(X[0], "columns")))
    return isinstance(X, np.ndarray)


def _row_of(X: Any, i: int) -> list[Any]:
    if hasattr(X, "iloc"):
        return list(X.iloc[i].tolist())
    row = X[[i]].toarray()[0] if hasattr(X, "tocsr") else X[i]
    return list(row.tolist() if hasattr(row, "tolist") else row)
