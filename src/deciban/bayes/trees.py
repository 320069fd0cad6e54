"""Shallow boosted trees, in folds: each grows until its held-out rows gain no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban.bayes.columns import Cells, Columns
from deciban.bayes.folds import Rows
from deciban.bayes.margins import FloatArray
from deciban.engines import threads
from deciban.kernels import boosting
from deciban.kernels import trees as kernel

#: Splits between root and leaf, which is how many columns act together: more from so many rows on.
DEPTHS = {0: 3, 1_000: 4, 4_000: 5}
#: The share of a Newton step that is taken; how many steps may fail before it ends.
RATE, PATIENCE = 0.1, 20
#: The most steps, and fewer where each is a tree for every class.
MOST_ROUNDS, FEWEST_ROUNDS, MOST_TREES = 1_000, 100, 3_000
#: Added to the curvature of a leaf; the same for sets of categories, and for their order.
SHRINK, SHRINK_SETS, SMOOTH = 1.0, 3.0, 5.0
#: The least weight of the rows in a leaf.
LEAST = 3.0


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as :mod:`deciban.kernels.trees` has them; the mean of what the folds found."""

    column: NDArray[np.int32]
    left: NDArray[np.uint64]
    value: FloatArray

    @classmethod
    def nothing(cls) -> Forest:
        """No tree at all."""
        inner = (1 << DEPTHS[0]) - 1
        return cls(
            np.empty((0, inner), dtype=np.int32),
            np.empty((0, inner, 4), dtype=np.uint64),
            np.empty((0, 2 * inner + 1)),
        )

    def scaled(self, factor: float) -> Forest:
        """The same trees, saying more or less."""
        return Forest(self.column, self.left, self.value * factor)

    def constants(self, n_classes: int) -> FloatArray:
        """What the trees say before any split, class by class."""
        out = np.zeros(n_classes)
        target = [1] if n_classes == 2 else np.arange(n_classes)
        roots = self.value[:, 0].reshape(-1, len(target))
        out[target] = roots.sum(axis=0)
        return out

    def add(self, cells: Cells, out: FloatArray) -> None:
        """Add what the trees say, (rows, classes)."""
        kernel.add(cells, self.column, self.left, self.value, out)

    def explain(self, cells: Cells, out: FloatArray) -> None:
        """Add what each column changes, (rows, columns, classes); constants are left out."""
        kernel.explain(cells, self.column, self.left, self.value, out)


@dataclass(frozen=True, eq=False)
class Grown:
    """The forest, how many rounds each fold took, and the margins of rows held out."""

    forest: Forest
    rounds: tuple[int, ...]
    judged: FloatArray


def learn(
    columns: Columns,
    cells: Cells,
    y: NDArray[np.intp],
    weight: FloatArray,
    splits: Sequence[tuple[Rows, Rows]],
    start: FloatArray,
    tell: Callable[[], None],
) -> Grown:
    """Trees added to margins that are the same for all rows, fold by fold on all cores."""
    n_classes = len(start)
    trees_a_round = 1 if n_classes == 2 else n_classes
    depth, most = _depth(len(y)), _most_rounds(trees_a_round)

    def work(split: tuple[Rows, Rows]) -> Forest:
        sides = [
            (cells[rows], y[rows], weight[rows], np.tile(start, (len(rows), 1))) for rows in split
        ]
        column, left, value, _ = boosting.boost(
            *sides[0], *sides[1], columns.sizes, columns.ordered, depth, RATE, SHRINK,
            SHRINK_SETS, SMOOTH, LEAST, most, PATIENCE,
        )  # fmt: skip
        return Forest(column, left, value)

    judged, found = np.tile(start, (len(y), 1)), []
    for (_, held), forest in zip(splits, threads.run(work, iter(splits)), strict=True):
        own = judged[held]
        forest.add(cells[held], own)
        judged[held] = own
        found.append(forest)
        tell()
    rounds = tuple(len(forest.value) // trees_a_round for forest in found)
    return Grown(_mean(found), rounds, judged)


def _depth(n_rows: int) -> int:
    """How deep trees are.

    >>> _depth(500), _depth(50_000)
    (3, 5)
    """
    return max(depth for least, depth in DEPTHS.items() if n_rows >= least)


def _most_rounds(trees_a_round: int) -> int:
    """How many rounds there are at most.

    >>> _most_rounds(1), _most_rounds(10), _most_rounds(100)
    (1000, 300, 100)
    """
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, MOST_TREES // trees_a_round))


def _mean(forests: Sequence[Forest]) -> Forest:
    parts = [(f.column, f.left, f.value / len(forests)) for f in forests]
    return Forest(*(np.concatenate(side) for side in zip(*parts, strict=True)))
