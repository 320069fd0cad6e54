"""How the rows of a drop-in classifier are counted: chunks on all cores, added up in order."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from deciban import encoding, threads
from deciban.families.protocol import Family
from deciban.families.settings import Settings
from deciban.labels import Labels
from deciban.models.prior import StatedPrior
from deciban.naive_bayes.dropins.answers import MatrixClassifier
from deciban.naive_bayes.dropins.model import BLOCK, UNWEIGHTED, Encoder
from deciban.sources.matrix import (
    CheckedMatrix,
    FloatArray,
    MatrixRows,
    numbers_per_row,
    slice_rows,
)
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.statistic import Matrix
from deciban.stats.table import Table

#: Checked rows, their classes by number, all classes, and weights.
CountedRows: TypeAlias = tuple[CheckedMatrix, encoding.Codes, Labels, FloatArray | None]


class CountingClassifier(MatrixClassifier):
    """A classifier that turns checked rows into counts."""

    _family: Family
    #: Whether rows are counted without their weights as well.
    _unweighted = False

    # ------------------------------------------------------------------ what a subclass says

    def _encoder(self) -> Encoder:
        """How rows are counted and scored."""
        raise NotImplementedError

    def _countable(self, rows: MatrixRows, cells: Cells) -> Matrix:
        """A chunk of rows as they are counted into these cells, checked."""
        return self._encoder().encode(rows, cells)

    def _settings(self, counts: Counts) -> Settings:
        """How parameters are estimated."""
        raise NotImplementedError

    def _stated_prior(self) -> StatedPrior:
        """The class prior as it is stated; None is as counted."""
        raise NotImplementedError

    def _cells(self, X: CheckedMatrix) -> Cells:
        """The cells that the rows fall into."""
        return Cells(np.arange(X.shape[1]))

    def _n_cells(self, cells: Cells) -> int:
        """How many cells there are: one a column."""
        return len(cells.columns)

    def _copies(self, X: CheckedMatrix) -> bool:
        """Whether encoding makes a copy of the rows."""
        sparse = not isinstance(X, np.ndarray)
        plain = X.dtype == np.float64 and (sparse or X.flags.c_contiguous)
        return not plain or (self._dense and sparse)

    # ------------------------------------------------------------------ counting

    def _count(
        self,
        X: CheckedMatrix,
        codes: encoding.Codes,
        classes: Labels,
        weight: FloatArray | None,
    ) -> Counts:
        """The counts of checked rows: chunks counted by all cores, then added up in order."""
        tables = {BLOCK: self._count_table(X, codes, len(classes), weight)}
        rows = tables[BLOCK].rows
        if self._unweighted:
            plain = weight is None
            tables[UNWEIGHTED] = (
                tables[BLOCK] if plain else self._count_table(X, codes, len(classes), None)
            )
        return Counts(classes, rows, tables)

    def _count_table(
        self, X: CheckedMatrix, codes: encoding.Codes, n_classes: int, weight: FloatArray | None
    ) -> Table:
        rows = np.bincount(codes, weight, n_classes).astype(np.float64)
        cells, statistic = self._cells(X), self._family.statistic

        def work(part: slice) -> Table:
            some = None if weight is None else weight[part]
            matrix = self._countable(slice_rows(X, part), cells)
            sums = statistic.count(matrix, codes[part], n_classes, some, cells)
            return Table(statistic, cells, rows, sums)

        chunks = self._count_chunks(X, n_classes * self._n_cells(cells))
        parts = [work(chunks[0])] if len(chunks) == 1 else threads.run(work, chunks)
        total: Table | None = None
        for part in parts:
            total = part if total is None else total + part
        assert total is not None
        return Table(statistic, cells, rows, total.sums)

    def _count_chunks(self, X: CheckedMatrix, table_size: int) -> list[slice]:
        return threads.count_chunks(X.shape[0], self._width(X), table_size, copied=self._copies(X))

    def _width(self, X: CheckedMatrix) -> int:
        """How many numbers an encoded row holds."""
        return int(X.shape[1]) if self._dense else numbers_per_row(X)

    def _empty(self, classes: Labels) -> Counts:
        """The counts of no rows: all columns and these classes."""
        none = np.empty((0, self.n_features_in_))
        return self._count(none, np.empty(0, dtype=np.intp), classes, None)
