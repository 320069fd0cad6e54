"""Trees as formulas: a split is a condition on the column itself, not on its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.inputs import Inputs
from deciban.ensemble.features import UNKNOWN_CELL, Features
from deciban.ensemble.trees import Forest
from deciban.formulas.build import runs
from deciban.formulas.nodes import (
    All,
    Any,
    Case,
    Cell,
    Compare,
    Condition,
    Expression,
    FloatArray,
    Missing,
    Number,
    OneOf,
    Shared,
    Table,
)


class Tree(NamedTuple):
    """One tree: the column of every inner node, its cells that go left, the value of every node."""

    column: NDArray[np.int32]
    left: NDArray[np.uint64]
    value: FloatArray


def trees_by_class(forest: Forest, n_classes: int) -> list[list[Tree]]:
    """The trees of every class: of two classes, all are of the second."""
    out: list[list[Tree]] = [[] for _ in range(n_classes)]
    each = zip(forest.column, forest.left, forest.value, strict=True)
    for t, parts in enumerate(each):
        out[1 if n_classes == 2 else t % n_classes].append(Tree(*parts))
    return out


class CellTests:
    """Conditions on the cells of columns: numbers by their cut points, categories by their rank."""

    def __init__(
        self,
        features: Features,
        inputs: Inputs,
        names: Sequence[str],
        values: Mapping[str, Sequence[object]],
    ) -> None:
        self._features, self._inputs = features, inputs
        self._names, self._values = names, values
        self._rank = cache(self._rank_of)

    def inside(self, column: int, cells: NDArray[np.bool_]) -> Condition:
        """Whether the value of a column is in some cells; the last cell is for missing ones."""
        if column >= self._features.n_numbers:
            return OneOf(self._rank(column), tuple(np.flatnonzero(cells).tolist()))
        x, edges = self._inputs.by_name[self._names[column]], self._features.edges[column]
        conditions = [_between(x, edges, a, b) for a, b in runs(cells[:-1].tolist())]
        if cells[-1]:
            conditions.append(Missing(x))
        return conditions[0] if len(conditions) == 1 else Any(tuple(conditions))

    def unknown(self, column: int) -> Condition | None:
        """Whether training had no such value of a column; None where it had them all."""
        if column >= self._features.n_numbers:
            return Compare(self._rank(column), "=", Number(float(UNKNOWN_CELL)))
        known = self._features.has_missing[column]
        return None if known else Missing(self._inputs.by_name[self._names[column]])

    def _rank_of(self, column: int) -> Expression:
        """The cell of a category: how frequent it is; the last one if it is rare."""
        name, j = self._names[column], column - self._features.n_numbers
        cells = np.minimum(self._features.rank[j], self._features.n_cells[column])
        table = Table((tuple(self._values[name]),), cells[:, None].astype(np.float64))
        x, unknown = self._inputs.by_name[name], Number(float(UNKNOWN_CELL))
        cell: Expression = Cell(table, (x,), 0, unknown)
        if self._features.has_missing[column]:
            missing = Number(float(self._features.n_cells[column]))
            cell = Case(((Missing(x), missing),), cell)
        return Shared(cell)

    def split(self, tree: Tree, node: int) -> tuple[Condition, bool]:
        """The condition of a node on the smaller of its two sets, and whether that goes left."""
        column = int(tree.column[node])
        size = int(self._features.n_cells[column]) + 1
        cells = np.arange(size)
        left = (tree.left[node][cells >> 6] >> (cells & 63).astype(np.uint64)) & np.uint64(1)
        goes_left = left.astype(bool)
        few = goes_left.sum() <= size / 2 or column < self._features.n_numbers
        return self.inside(column, goes_left if few else ~goes_left), bool(few)


def _between(x: Expression, edges: FloatArray, first: int, stop: int) -> Condition:
    """Whether a number is in one of the bins from ``first`` to below ``stop``."""
    conditions: list[Condition] = []
    if first > 0:
        conditions.append(Compare(x, ">=", Number(float(edges[first - 1]))))
    if stop <= len(edges):
        conditions.append(Compare(x, "<", Number(float(edges[stop - 1]))))
    if not conditions:  # any number at all
        return Compare(x, "=", x)
    return conditions[0] if len(conditions) == 1 else All(tuple(conditions))


def tree(tests: CellTests, of: Tree, node: int = 0) -> Expression:
    """What a tree adds: the value of the leaf."""
    if node >= len(of.column) or of.column[node] < 0:
        return Number(float(of.value[node]))
    children = [tree(tests, of, 2 * node + side) for side in (1, 2)]
    return _fork(tests, of, node, float(of.value[node]), *children)


def column_tree(tests: CellTests, of: Tree, column: int) -> Expression:
    """What the splits of a tree by one column change."""
    return _changes(tests, of, column, 0, 0.0)


def _changes(tests: CellTests, of: Tree, column: int, node: int, before: float) -> Expression:
    if node >= len(of.column) or of.column[node] < 0:
        return Number(before)
    own = of.column[node] == column
    children = []
    for child in (2 * node + 1, 2 * node + 2):
        change = float(of.value[child] - of.value[node]) if own else 0.0
        children.append(_changes(tests, of, column, child, before + change))
    return _fork(tests, of, node, before, *children)


def _fork(
    tests: CellTests, of: Tree, node: int, here: float, left: Expression, right: Expression
) -> Expression:
    """One of two expressions by the split of a node, or ``here`` where a row stays at it.

    One number alone where all of them are it.
    """
    if all(isinstance(one, Number) and one.value == here for one in (left, right)):
        return left
    condition, goes_left = tests.split(of, node)
    then, otherwise = (left, right) if goes_left else (right, left)
    unknown = tests.unknown(int(of.column[node]))
    stays = () if unknown is None else ((unknown, Number(here)),)
    return Case((*stays, (condition, then)), otherwise)
