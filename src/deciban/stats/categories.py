"""Categories: the weight of the rows of each class with each value of each column.

``X`` holds codes: the position of the value among the column's cells, -1 for a missing value,
anything beyond for a value that has no cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, labels
from deciban.kernels import categorical as kernel
from deciban.labels import Labels
from deciban.stats import rounding
from deciban.stats.cells import Cells
from deciban.stats.statistic import Additive, Codes, FloatArray, Sums
from deciban.stats.table import DenseSum, Mask, Stored, Sum, Table

NO_VALUES: Labels = np.empty(0, dtype=object)


class CountsOfValues(Additive):
    """What holds for counts of the rows of each class with each value of a column."""

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """A count below zero, or more values in a column than rows."""
        count = cast("DenseSum", left["count"]).values
        too_many = exceeds(kernel.sum_columns(count, cells.offsets), rows)
        return np.asarray((count < 0) | np.repeat(too_many, np.diff(cells.offsets), axis=1))

    def from_arrays(self, arrays: Stored, shape: tuple[int, int]) -> dict[str, Sum]:
        """The counts of a file."""
        return {"count": DenseSum(arrays.amounts("sum.count", shape))}


class Categories(CountsOfValues):
    """``N_{c,j,a}``: the rows of class c with value a in column j."""

    name = "categories"
    cells: type[Cells] = Cells
    by_value = True

    def encode(
        self, names: Sequence[object], columns: Sequence[Any]
    ) -> tuple[Cells, NDArray[np.int64]]:
        """Values in order, and the code of every row.

        >>> cells, codes = CATEGORIES.encode(["size"], [["S", "M", "S"]])
        >>> cells.values, codes.ravel()
        ((array(['M', 'S'], dtype='<U1'),), array([1, 0, 1]))
        """
        pairs = [labels.factorise(encoding.vector(column)) for column in columns]
        matrix = np.column_stack([codes.astype(np.int64) for _, codes in pairs])
        return Cells.of_values(list(names), [values for values, _ in pairs]), matrix

    def check(self, X: NDArray[np.int64], columns: Labels) -> None:
        """Every code is a value, missing, or new."""

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """Columns without any value."""
        cells = Cells(columns, (NO_VALUES,) * len(columns))
        return cells, {"count": DenseSum(np.zeros((n_classes, 0)))}

    def count(
        self,
        X: NDArray[np.int64],
        y: Codes,
        n_classes: int,
        weight: FloatArray | None,
        cells: Cells,
    ) -> dict[str, Sum]:
        """The weight of the rows of each class with each value."""
        return {"count": DenseSum(kernel.count(X, y, weight, cells.offsets, n_classes))}


CATEGORIES = Categories()


def count_columns(
    columns: Iterable[tuple[Labels, NDArray[np.uint8] | NDArray[np.int32] | NDArray[np.int64]]],
    y: Codes,
    n_classes: int,
    weight: FloatArray | None,
) -> list[FloatArray]:
    """The weight of the rows of each class with each value of each column, (classes, values).

    A column is its values and the code of each row among them.
    """
    return [
        kernel.count_column(codes, y, weight, len(values), n_classes) for values, codes in columns
    ]


def count_of(table: Table) -> FloatArray:
    """The counts of a table of categories or of a histogram, (classes, cells)."""
    return cast("DenseSum", table.sums["count"]).values


def count_by_column(table: Table) -> list[FloatArray]:
    """The counts of each column of such a table, (classes, cells of the column)."""
    count = count_of(table)
    return [count[:, start:stop] for start, stop in pairwise(table.cells.offsets)]


def rows_with_value(table: Table) -> FloatArray:
    """The weight of each class's rows in which each column of such a table has a value."""
    return kernel.sum_columns(count_of(table), table.cells.offsets)


def exceeds(amount: FloatArray, rows: FloatArray) -> Mask:
    """Where more is counted, (classes, ...), than there are rows."""
    return np.asarray(amount > (1 + rounding.ROUNDING) * rows[:, None])
