"""Shallow boosted trees, in folds: each grows until its held-out rows gain no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.ensemble.features import UNKNOWN_CELL, Cells, Features
from deciban.ensemble.logits import FloatArray
from deciban.kernels import boosting
from deciban.kernels import trees as kernel
from deciban.kernels.team import Team
from deciban.sources.unit_folds import Split

#: Some rows: their cells, classes and weights.
Side = tuple[Cells, NDArray[np.intp], FloatArray]


class Rules(NamedTuple):
    """How trees grow.

    ``depth`` is the most splits between root and leaf, which is how many columns act together,
    ``n_leaves`` the most leaves; the leaves that gain most are split next. Of d columns a tree
    may split by ``columns_per_root`` times sqrt(d): all where they are few. ``rate`` is the share
    of a Newton step that is taken. ``leaf_penalty`` is added to the Hessian of a leaf,
    ``set_leaf_penalty`` to that of a leaf of sets of categories; ``min_leaf_weight`` is the least
    weight of the rows in a leaf.
    """

    depth: int
    n_leaves: int
    columns_per_root: float
    rate: float
    leaf_penalty: float
    set_leaf_penalty: float
    min_leaf_weight: float


#: By the least rows.
RULES_BY_MIN_ROWS = {
    0: Rules(3, 8, 4.0, 0.2, 1.0, 10.0, 3.0),
    1_000: Rules(4, 16, 2.5, 0.2, 1.0, 10.0, 3.0),
    4_000: Rules(5, 32, 2.5, 0.2, 1.0, 10.0, 3.0),
    10_000: Rules(7, 32, 2.5, 0.2, 1.0, 20.0, 3.0),
    40_000: Rules(8, 128, 4.0, 0.3, 3.0, 20.0, 10.0),
}
MAX_DEPTH = 8  # what the kernel has room for
#: After so many rounds without gain a fold ends; no more than this for each row is no gain.
PATIENCE_ROUNDS, MIN_GAIN_NATS = 15, 1e-5
#: No Newton step is larger than this: of rows that are surely wrong the loss has a slope, but
#: hardly a curvature, which would make steps of hundreds of nats where a class is rare.
MAX_STEP = 3.0
#: From this round on the rate grows in proportion to the rounds, up to this one: what many rounds
#: have not overfitted needs many more, which may be bolder.
STEADY_ROUNDS, MAX_RATE = 50.0, 0.5
#: Rows that have this share of the sum of all gradients, the smallest, are sampled where there are
#: so many rows and more than two classes: then most rows say next to nothing about each.
TRIMMED_SHARE, MIN_TRIMMED_ROWS = 0.5, 2_000
#: The most rounds, and fewer where each is a tree for every class.
MAX_ROUNDS, MIN_MAX_ROUNDS, MAX_TREES = 400, 100, 3_000
#: Added to the Hessian of a category where categories are ordered.
CATEGORY_SMOOTHING = 20.0


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as :mod:`deciban.kernels.trees` has them, whose values are added up."""

    column: NDArray[np.int32]
    left: NDArray[np.uint64]
    value: FloatArray

    @classmethod
    def empty(cls) -> Forest:
        """No tree at all."""
        inner = (1 << RULES_BY_MIN_ROWS[0].depth) - 1
        return cls(
            np.empty((0, inner), dtype=np.int32),
            np.empty((0, inner, 4), dtype=np.uint64),
            np.empty((0, 2 * inner + 1)),
        )

    @classmethod
    def mean(cls, forests: Sequence[Forest]) -> Forest:
        """The mean of what forests of one depth add; of no forest, that is nothing."""
        if not forests:
            return cls.empty()
        parts = [(f.column, f.left, f.value / len(forests)) for f in forests]
        return cls(*(np.concatenate(side) for side in zip(*parts, strict=True)))

    def __len__(self) -> int:
        return len(self.value)

    def __mul__(self, factor: float) -> Forest:
        return Forest(self.column, self.left, self.value * factor)

    def constants(self, n_classes: int) -> FloatArray:
        """What the roots add before any split, class by class."""
        out = np.zeros(n_classes)
        target = [1] if n_classes == 2 else np.arange(n_classes)
        roots = self.value[:, 0].reshape(-1, len(target))
        out[target] = roots.sum(axis=0)
        return out

    def add(self, cells: Cells, out: FloatArray) -> None:
        """Add the logits of the trees to ``out``, (rows, classes).

        A row stays at a node that asks for what is unknown of it, and has the node's own value.
        """
        unknown = (cells == UNKNOWN_CELL).any(axis=1)
        if not unknown.any():
            kernel.add(cells, self.column, self.left, self.value, out, False)
            return
        for some, are in ((~unknown, False), (unknown, True)):
            logits = out[some]
            kernel.add(cells[some], self.column, self.left, self.value, logits, are)
            out[some] = logits

    def add_contributions(self, cells: Cells, out: FloatArray) -> None:
        """Add what each column changes to ``out``, (rows, columns, classes), without constants."""
        kernel.explain(cells, self.column, self.left, self.value, out)


@dataclass(frozen=True, eq=False)
class TreesFit:
    """The forest of each fold, how many rounds it took, and the logits of rows held out."""

    forests: tuple[Forest, ...]
    rounds: tuple[int, ...]
    held_out: FloatArray


def fit(
    features: Features,
    cells: Cells,
    y: NDArray[np.intp],
    weight: FloatArray,
    splits: Sequence[Split],
    offset: FloatArray,
    advance: Callable[[], None],
    begun: Sequence[Forest] = (),
) -> TreesFit:
    """Trees added to an offset, (classes,), that is the same for all rows; folds on all cores.

    ``begun`` are the forests of the first folds, where these are fitted already.
    """
    trees_per_round = 1 if len(offset) == 2 else len(offset)
    rules, max_rounds = _rules(len(y)), _max_rounds(trees_per_round)

    def boost(split: Split) -> Forest:
        inside, held = ((cells[rows], y[rows], weight[rows]) for rows in split)
        return _boost(features, inside, held, offset, rules, max_rounds)

    held_out, forests = np.tile(offset, (len(y), 1)), []
    others = threads.run(boost, iter(splits[len(begun) :]))
    for number, ((_, held), forest) in enumerate(zip(splits, chain(begun, others), strict=True)):
        logits = held_out[held]
        forest.add(cells[held], logits)
        held_out[held] = logits
        forests.append(forest)
        if number >= len(begun):
            advance()
    rounds = tuple(len(forest) // trees_per_round for forest in forests)
    return TreesFit(tuple(forests), rounds, held_out)


def _boost(
    features: Features,
    inside: Side,
    held: Side,
    offset: FloatArray,
    rules: Rules,
    max_rounds: int,
) -> Forest:
    """Trees fitted to the rows inside a fold, until those held out gain no more."""
    n_rows, n_classes, d = len(inside[1]), len(offset), len(features.n_cells)
    n_columns = min(d, round(rules.columns_per_root * math.sqrt(d)))
    trim = TRIMMED_SHARE if n_classes > 2 and n_rows >= MIN_TRIMMED_ROWS else 0.0
    team = Team(threads.n_threads())
    with threads.helped(team.help, team.dismiss):
        column, left, value, _ = boosting.boost(
            *inside, *held, offset, features.n_cells, features.ordered, rules.depth,
            rules.n_leaves, rules.rate, MAX_STEP, rules.leaf_penalty, rules.set_leaf_penalty,
            CATEGORY_SMOOTHING, rules.min_leaf_weight, STEADY_ROUNDS, MAX_RATE / rules.rate,
            max_rounds, PATIENCE_ROUNDS, MIN_GAIN_NATS * held[2].sum(), trim, n_columns, team,
        )  # fmt: skip
    return Forest(column, left, value)


def _rules(n_rows: int) -> Rules:
    """How trees on so many rows grow.

    >>> _rules(500).depth, _rules(50_000).depth
    (3, 8)
    """
    return RULES_BY_MIN_ROWS[max(least for least in RULES_BY_MIN_ROWS if n_rows >= least)]


def _max_rounds(trees_per_round: int) -> int:
    """How many rounds there are at most.

    >>> _max_rounds(1), _max_rounds(10), _max_rounds(100)
    (400, 300, 100)
    """
    return min(MAX_ROUNDS, max(MIN_MAX_ROUNDS, MAX_TREES // trees_per_round))
