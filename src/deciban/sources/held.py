"""A table that is held in memory: scored as a whole, and its rows looked up afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from deciban.encoding.matrices import Caster
from deciban.errors import InputError
from deciban.sources.batch import Batch
from deciban.sources.columns import python_rows
from deciban.sources.objects import scan_records
from deciban.sources.open import is_matrix, is_texts
from deciban.sources.scan import BATCH_ROWS, scan_batches
from deciban.sources.tabular import Row, Tabular, Value

__all__ = ["HeldTable", "refuse_sparse"]

#: So many rows are turned into Python values at once: one by one would take long.
BLOCK_ROWS = 128


class HeldTable:
    """Rows as a model takes them, ``X``, whose values can be asked for.

    ``batches`` have the columns ``names``; a matrix of a model of matrices has none.

    >>> from deciban.schema import Schema
    >>> rows = [{"x": 1, "y": "S"}, {"x": 2, "y": "L"}]
    >>> HeldTable.of_rows(rows, ["y", "x"], Caster(Schema(()))).row(1)
    ['L', 2]
    """

    def __init__(
        self,
        X: Tabular,
        batches: Sequence[Batch] = (),
        names: Sequence[str] = (),
        matrix: Tabular = None,
    ) -> None:
        """``matrix`` has the values of the rows, if not the batches."""
        self.X, self.batches = X, batches
        self._names, self._matrix = names, matrix
        self._block: tuple[int, list[list[Value]]] = (-1, [])

    @classmethod
    def of_rows(cls, rows: Sequence[Row], names: Sequence[str], caster: Caster) -> Self:
        """The table of some rows, cast to the types of training."""
        table = scan_records(rows, BATCH_ROWS)
        return cls(table, [caster.cast(batch) for batch in table], names)

    @classmethod
    def of_batches(cls, X: Tabular, batches: Iterable[Batch], names: Sequence[str]) -> Self:
        """A table, and its batches: frames, files and streams are read once.

        The values of a plain matrix are as it has them.
        """
        plain = isinstance(X, list | tuple | np.ndarray) and is_matrix(X) and not is_texts(X)
        held = list(batches)
        return cls(scan_batches(names, held), held, names, X if plain else None)

    @classmethod
    def of_matrix(cls, X: Tabular) -> Self:
        """A matrix as it is."""
        return cls(X, matrix=X)

    def row(self, i: int) -> Sequence[Value]:
        """The values of a row."""
        if self._matrix is not None:
            return _matrix_row(self._matrix, i)
        start, block = self._block
        if not (start >= 0 and start <= i < start + len(block)):
            start, block = self._block = self._read_block(i)
        return block[i - start]

    def _read_block(self, i: int) -> tuple[int, list[list[Value]]]:
        """Where the block of a row starts, and its rows."""
        before = 0
        for batch in self.batches:
            at = i - before
            if at < batch.n_rows:
                first = at - at % BLOCK_ROWS
                last = min(first + BLOCK_ROWS, batch.n_rows)
                some = batch if last - first == batch.n_rows else batch.slice(first, last)
                rows = python_rows([some.columns[name] for name in self._names])
                self._put_back(batch, first, rows)
                return before + first, rows
            before += batch.n_rows
        raise IndexError(i)

    def _put_back(self, batch: Batch, first: int, rows: list[list[Value]]) -> None:
        """What could not be cast, as it came."""
        for name, uncast in batch.uncast.items():
            j = self._names.index(name)
            for i in uncast.rows[(uncast.rows >= first) & (uncast.rows < first + len(rows))]:
                rows[i - first][j] = uncast.column.slice(i, i + 1).tolist()[0]


def refuse_sparse(X: Tabular) -> None:
    """The rows of a sparse matrix are not held: their evidence would fill the memory."""
    if hasattr(X, "tocsr"):
        raise InputError(
            "sparse rows are not explained all at once.",
            hint="explain takes X[[i]], explain_rows X.toarray(); evidence gives matrices",
        )


def _matrix_row(X: Tabular, i: int) -> list[Value]:
    if hasattr(X, "iloc"):
        return list(X.iloc[i].tolist())
    row = X[i]
    return list(row.tolist() if hasattr(row, "tolist") else row)
