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

from deciban.stats import rounding

FloatArray = NDArray[np.float64]
Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: Types that hold whole numbers, the narrowest first.
_WHOLE = (np.uint8, np.uint16, np.uint32)


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
    classes: NDArray[Any]
    values: NDArray[Any]
    n_classes: int

    #: numpy leaves ``number * sum`` to this class.
    __array_ufunc__ = None

    @classmethod
    def of(cls, table: NDArray[Any]) -> SparseSum:
        """The entries of a table that is kept in full."""
        turned = np.asarray(table).T
        cell, of = np.nonzero(turned)
        return cls.of_keys(cell * len(table) + of, turned[cell, of], table.shape)

    @classmethod
    def of_keys(cls, keys: Keys, values: NDArray[Any], shape: tuple[int, ...]) -> SparseSum:
        """The table of some entries, whose keys rise; zeros are left out."""
        if not values.all():
            some = np.flatnonzero(values)
            keys, values = keys[some], values[some]
        n_classes, n_cells = shape
        starts = np.searchsorted(keys, np.arange(n_cells + 1) * max(n_classes, 1))
        of = (keys % max(n_classes, 1)).astype(_narrowest(n_classes))
        return cls(starts.astype(np.int64, copy=False), of, _narrowed(values), n_classes)

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
        return _binned(self.cells, self.amounts, self.shape[1])

    @cached_property
    def by_class(self) -> FloatArray:
        """The sum of every class."""
        return _binned(self.classes, self.amounts, self.n_classes)

    def used(self) -> Mask:
        """The cells that are not zero in some class."""
        return np.asarray(np.diff(self.starts) > 0)

    def distinct(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """The different sums, zero among them, and how often each occurs.

        >>> SparseSum.of(np.array([[2.0, 0.0], [2.0, 3.0]])).distinct()
        (array([0., 2., 3.]), array([1, 2, 1]))
        """
        values, times = np.unique(self.values, return_counts=True)
        zeros = self.n_classes * (len(self.starts) - 1) - len(self.values)
        return np.append(0.0, values), np.append(zeros, times)

    # ------------------------------------------------------------------ other tables

    def placed(
        self, rows: NDArray[np.intp], cells: NDArray[np.intp], shape: tuple[int, int]
    ) -> SparseSum:
        """The same at other places of a table; cells at -1 are left out."""
        at, of = cells[self.cells], rows[self.classes]
        kept = at >= 0
        keys, values = (at * shape[0] + of)[kept], self.values[kept]
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys)
            keys, values = keys[order], values[order]
        return SparseSum.of_keys(keys, values, shape)

    def selected(self, classes: Mask, cells: Mask) -> SparseSum:
        """Only some classes and cells."""
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
        keys, a, b = both(self, other)
        return SparseSum.of_keys(keys, a + b, self.shape)

    def __mul__(self, factor: float) -> SparseSum:
        return SparseSum.of_keys(self.keys, self.amounts * factor, self.shape)

    def less(self, other: SparseSum) -> SparseSum:
        """What is left without the other, zero where only rounding is; it may be below zero."""
        keys, a, b = both(self, other)
        return SparseSum.of_keys(keys, rounding.difference(a, b), self.shape)

    def same(self, other: SparseSum) -> bool:
        """Whether both are equal up to rounding."""
        _, a, b = both(self, other)
        return rounding.same(a, b)


def both(a: SparseSum, b: SparseSum) -> tuple[Keys, FloatArray, FloatArray]:
    """The entries that one of two tables has: their keys, and the values in each."""
    left, right = a.keys, b.keys
    if np.array_equal(left, right):
        return left, a.amounts, b.amounts
    keys = np.concatenate([left, right])
    keys.sort(kind="stable")  # two runs that rise are merged, not sorted
    keys = keys[np.diff(keys, prepend=-1) > 0]
    found = []
    for table, own in ((a, left), (b, right)):
        values = np.zeros(len(keys))
        values[np.searchsorted(keys, own)] = table.values
        found.append(values)
    return keys, found[0], found[1]


def joined(parts: list[SparseSum]) -> SparseSum:
    """Tables of the same classes side by side.

    >>> one = SparseSum.of(np.array([[2.0], [1.0]]))
    >>> joined([one, one]).dense()
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
        _narrowed(values),
        parts[0].n_classes,
    )


def full(table: SparseSum | FloatArray) -> FloatArray:
    """A table in full, however it is kept."""
    return table.dense() if isinstance(table, SparseSum) else table


def _binned(at: NDArray[Any], values: FloatArray, n: int) -> FloatArray:
    return np.bincount(at, values, n).astype(np.float64, copy=False)


def _narrowest(n: int) -> Any:
    """The type of whole numbers below ``n``."""
    return next((t for t in _WHOLE if n <= np.iinfo(t).max + 1), np.int64)


def _narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """The values in the narrowest type that holds them."""
    if not len(values):
        return np.empty(0, np.uint8)
    fractions = values.dtype.kind == "f" and np.any(values != np.floor(values))
    if fractions or values.min() < 0 or not values.max() < 2**32:
        return values.astype(np.float64, copy=False)
    return values.astype(_narrowest(int(values.max()) + 1), copy=False)
