"""The contract of a statistic: what is counted of a kind of column.

Conventions
-----------
- Counting is apart from estimating: a statistic knows no likelihood, and several families may
  read one statistic.
- ``X`` is a block of columns as the statistic counts them: codes (int64), numbers (float64) or
  bags of amounts; ``y`` are class codes, ``weight`` one number >= 0 a row or None for all ones.
- ``Sums`` maps names to arrays of (classes, cells) that add up; ``rows`` is the weight of each
  class's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Labels
from deciban.stats.cells import Cells
from deciban.stats.table import Mask, Stored, Sum

FloatArray = NDArray[np.float64]
Codes = NDArray[np.intp]
Sums = Mapping[str, Sum]
#: A block of columns as a statistic counts them: an array, or rows in compressed form.
Matrix = Any


class Statistic(Protocol):
    """What is counted of some columns: sums by class and cell, and their laws."""

    @property
    def name(self) -> str:
        """By which tables and files know it."""

    @property
    def cells(self) -> type[Cells]:
        """What is counted besides the class: cells, or those of a grid."""

    @property
    def by_value(self) -> bool:
        """Whether a column has a cell for each of its values; or else one."""

    def encode(self, names: Sequence[object], columns: Sequence[Any]) -> tuple[Cells, Matrix]:
        """The cells of columns of raw values, and the matrix that is counted."""

    def check(self, X: Matrix, columns: Labels) -> None:
        """Refuse values that cannot be counted."""

    def empty(self, columns: Labels, n_classes: int) -> tuple[Cells, dict[str, Sum]]:
        """The cells and sums of no rows at all."""

    def count(
        self, X: Matrix, y: Codes, n_classes: int, weight: FloatArray | None, cells: Cells
    ) -> dict[str, Sum]:
        """The sums of some rows."""

    def subtract(self, whole: Sums, part: Sums) -> dict[str, Sum]:
        """The sums that are left when those of a part are taken away."""

    def equals(self, a: Sums, b: Sums) -> bool:
        """Whether two sums of the same cells are equal, up to the rounding of weights."""

    def impossible(self, left: Sums, whole: Sums | None, rows: FloatArray, cells: Cells) -> Mask:
        """Where sums can come from no data of so many rows, (classes, cells).

        ``whole`` is what they are left of, if that is known.
        """

    def from_arrays(self, arrays: Stored, shape: tuple[int, int]) -> dict[str, Sum]:
        """The sums of so many classes and cells that a file holds, each as what it must be."""


class Additive:
    """What holds for sums that are subtracted and compared one by one."""

    def subtract(self, whole: Sums, part: Sums) -> dict[str, Sum]:
        """The sums that are left when those of a part are taken away."""
        return {name: whole[name].subtract(part[name]) for name in whole}

    def equals(self, a: Sums, b: Sums) -> bool:
        """Whether two sums of the same cells are equal, up to the rounding of weights."""
        return all(a[name].equals(b[name]) for name in a)


def refuse_infinity(X: FloatArray, columns: Labels) -> None:
    """Numbers are finite, or NaN for a missing value."""
    from deciban.errors import MissingValueError

    infinite = np.isinf(X)
    if infinite.any():
        row, column = divmod(int(np.argmax(infinite)), X.shape[1])
        raise MissingValueError(
            f"X has {X[row, column]} (infinity) in column {columns[column]!s}.",
            hint="replace it by a large finite number, or by NaN for missing",
        )


def number_matrix(columns: Sequence[Any]) -> FloatArray:
    """Columns of numbers as one matrix."""
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
