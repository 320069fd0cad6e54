"""Sums of which few are not zero: most words are said in a few classes only.

Conventions
-----------
- A table of (classes, cells) is kept cell by cell: what is not zero of cell j
  lies at ``starts[j] .. starts[j + 1]``, in the order of the classes.
- No value is zero. Whole numbers are kept in as few bytes as hold the largest;
  all arithmetic is that of float64, as in a table that is kept in full.
- The *key* of an entry is ``cell * n_classes + class``; keys rise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.errors import ModelFileError
from deciban.labels import Array
from deciban.stats import rounding
from deciban.stats.table import Stored

FloatArray = NDArray[np.float64]
Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Types that hold whole numbers, the narrowest first.
_WHOLE = (np.uint8, np.uint16, np.uint32)
#: Those of which each value is counted in a table.
_COUNTED = (np.uint8, np.uint16)


@dataclass(frozen=True, eq=False)
class SparseSum:
    """A table of sums, (classes, cells), by its entries that are not zero.

    >>> table = SparseSum.of(np.array([[2.0, 0.0], [1.0, 3.0]]))
    >>> table.starts, table.classes, table.values
    (array([0, 2, 3]), array([0, 1, 1], dtype=uint8), array([2, 1, 3], dtype=uint8))
    >>> (table + table).dense()
    array([[4., 0.],
           [2., 6.]])
    """

    starts: NDArray[np.int64]
    classes: Array
    values: Array
    n_classes: int

    #: numpy leaves ``number * sum`` to this class.
    __array_ufunc__ = None

    @classmethod
    def of(cls, table: Array) -> SparseSum:
        """The entries of a table that is kept in full."""
        turned = np.asarray(table).T
        cell, of = np.nonzero(turned)
        return cls.of_keys(cell * len(table) + of, turned[cell, of], table.shape)

    @classmethod
    def of_keys(cls, keys: Keys, values: Array, shape: tuple[int, ...]) -> SparseSum:
        """The table of some entries, whose keys rise; zeros are left out."""
        n_classes, n_cells = shape
        starts = np.searchsorted(keys, np.arange(n_cells + 1) * max(n_classes, 1))
        of = keys % max(n_classes, 1)
        return cls.of_entries(starts.astype(np.int64, copy=False), of, values, n_classes)

    @classmethod
    def of_entries(
        cls, starts: NDArray[np.int64], of: Array, values: Array, n_classes: int
    ) -> SparseSum:
        """The table of entries that lie as they are kept; zeros are left out."""
        if not values.all():
            some = values != 0
            starts = np.append(0, np.cumsum(some))[starts]
            of, values = of[some], values[some]
        return cls(starts, of.astype(_narrowest(n_classes)), _narrow(values), n_classes)

    @property
    def shape(self) -> tuple[int, int]:
        """Classes and cells."""
        return self.n_classes, len(self.starts) - 1

    @property
    def cells(self) -> NDArray[np.int64]:
        """The cell of every entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def keys(self) -> Keys:
        """The key of every entry."""
        return np.asarray(self.cells * self.n_classes + self.classes)

    @property
    def amounts(self) -> FloatArray:
        """The values as floats."""
        return self.values.astype(np.float64)

    def dense(self) -> FloatArray:
        """The table in full."""
        out = np.zeros(self.shape)
        out[self.classes, self.cells] = self.values
        return out

    @cached_property
    def by_cell(self) -> FloatArray:
        """The sum of every cell."""
        return _sum_by(self.cells, self.amounts, self.shape[1])

    @cached_property
    def by_class(self) -> FloatArray:
        """The sum of every class."""
        return _sum_by(self.classes, self.amounts, self.n_classes)

    def used(self) -> Mask:
        """The cells that are not zero in some class."""
        return np.asarray(np.diff(self.starts) > 0)

    def distinct(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """The different sums, zero among them, and how often each occurs.

        >>> SparseSum.of(np.array([[2.0, 0.0], [2.0, 3.0]])).distinct()
        (array([0., 2., 3.]), array([1, 2, 1]))
        """
        values: Array
        if self.values.dtype in _COUNTED:
            by_value = np.bincount(self.values)
            values = np.flatnonzero(by_value)
            times = by_value[values]
        else:
            values, times = np.unique(self.values, return_counts=True)
        zeros = self.n_classes * (len(self.starts) - 1) - len(self.values)
        return np.append(0.0, values), np.append(zeros, times)

    # ------------------------------------------------------------------ other tables

    def place(
        self, rows: NDArray[np.intp], cells: NDArray[np.intp], shape: tuple[int, int]
    ) -> SparseSum:
        """The entries at other places of a larger table; cells at -1 are left out."""
        at, of = cells[self.cells], rows[self.classes]
        kept = at >= 0
        keys, values = (at * shape[0] + of)[kept], self.values[kept]
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys)
            keys, values = keys[order], values[order]
        return SparseSum.of_keys(keys, values, shape)

    def select(self, classes: Mask, cells: Mask) -> SparseSum:
        """Some classes and cells."""
        rows, columns = np.cumsum(classes) - 1, np.where(cells, np.cumsum(cells) - 1, -1)
        kept = classes[self.classes] & cells[self.cells]
        shape = int(classes.sum()), int(cells.sum())
        keys = columns[self.cells[kept]] * shape[0] + rows[self.classes[kept]]
        return SparseSum.of_keys(keys, self.values[kept], shape)

    def between(self, start: int, stop: int) -> SparseSum:
        """Consecutive cells, as a view.

        >>> SparseSum.of(np.array([[2.0, 0.0], [1.0, 3.0]])).between(1, 2).dense()
        array([[0.],
               [3.]])
        """
        some = slice(int(self.starts[start]), int(self.starts[stop]))
        starts = self.starts[start : stop + 1] - self.starts[start]
        return SparseSum(starts, self.classes[some], self.values[some], self.n_classes)

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: SparseSum) -> SparseSum:
        keys, a, b = align(self, other)
        return SparseSum.of_keys(keys, a + b, self.shape)

    def __mul__(self, factor: float) -> SparseSum:
        return SparseSum.of_keys(self.keys, self.amounts * factor, self.shape)

    def subtract(self, other: SparseSum) -> SparseSum:
        """What is left without the other, zero where only rounding is; it may be below zero."""
        keys, a, b = align(self, other)
        return SparseSum.of_keys(keys, rounding.difference(a, b), self.shape)

    def scale_classes(self, factors: FloatArray) -> SparseSum:
        """Every class's numbers times its factor."""
        return SparseSum.of_keys(self.keys, self.amounts * factors[self.classes], self.shape)

    def equals(self, other: SparseSum) -> bool:
        """Whether both are equal up to rounding."""
        _, a, b = align(self, other)
        return rounding.same(a, b)

    # ------------------------------------------------------------------ files

    def to_arrays(self) -> dict[str, Array]:
        """Where each cell's entries start, and the class and value of every entry."""
        return {
            ".starts": self.starts,
            ".classes": self.classes.astype(np.int32),
            ".values": self.amounts,
        }

    @classmethod
    def from_arrays(cls, arrays: Stored, name: str, shape: tuple[int, int]) -> SparseSum:
        """The entries of a file, in the order of cells and classes, none twice."""
        (n,) = arrays.shape(f"{name}.values", 1)
        starts = arrays.integers(f"{name}.starts", (shape[1] + 1,))
        of = arrays.integers(f"{name}.classes", (n,), np.int32)
        values = arrays.amounts(f"{name}.values", (n,))
        if starts[0] or starts[-1] != n or np.any(np.diff(starts) < 0):
            raise ModelFileError(f"the entries of {name!r} are not those of its cells.")
        if n and not (of.min() >= 0 and of.max() < shape[0]):
            raise ModelFileError(f"{name!r} has a class that is not there.")
        keys = np.repeat(np.arange(shape[1]), np.diff(starts)) * shape[0] + of
        if np.any(np.diff(keys) <= 0):
            raise ModelFileError(f"the entries of {name!r} are out of order.")
        return cls.of_keys(keys, values, shape)


def align(a: SparseSum, b: SparseSum) -> tuple[Keys, FloatArray, FloatArray]:
    """The entries that one of two tables has: their keys, and the values in each."""
    left, right = a.keys, b.keys
    if np.array_equal(left, right):
        return left, a.amounts, b.amounts
    keys = np.concatenate([left, right])
    keys.sort(kind="stable")  # two runs that rise are merged, not sorted
    keys = keys[np.diff(keys, prepend=-1) > 0]
    sides = []
    for table, own in ((a, left), (b, right)):
        values = np.zeros(len(keys))
        values[np.searchsorted(keys, own)] = table.values
        sides.append(values)
    return keys, sides[0], sides[1]


def concatenate(parts: list[SparseSum]) -> SparseSum:
    """Tables of the same classes side by side.

    >>> one = SparseSum.of(np.array([[2.0], [1.0]]))
    >>> concatenate([one, one]).dense()
    array([[2., 2.],
           [1., 1.]])
    """
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.values) for part in parts)])
    starts = [part.starts[:-1] + end for part, end in zip(parts, ends, strict=False)]
    values = np.concatenate([part.amounts for part in parts])
    return SparseSum(
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([part.classes for part in parts]),
        _narrow(values),
        parts[0].n_classes,
    )


def _sum_by(at: Array, values: FloatArray, n: int) -> FloatArray:
    return np.bincount(at, values, n).astype(np.float64, copy=False)


def _narrowest(n: int) -> Any:
    """The type of whole numbers below ``n``."""
    return next((t for t in _WHOLE if n <= np.iinfo(t).max + 1), np.int64)


def _narrow(values: Array) -> Array:
    """The values in the narrowest type that holds them."""
    if not len(values):
        return np.empty(0, np.uint8)
    fractions = values.dtype.kind == "f" and np.any(values != np.floor(values))
    if fractions or values.min() < 0 or not values.max() < 2**32:
        return values.astype(np.float64, copy=False)
    return values.astype(_narrowest(int(values.max()) + 1), copy=False)
