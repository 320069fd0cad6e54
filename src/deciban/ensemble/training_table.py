"""The table that base learners are fitted to: different rows, their weights, and folds.

Rows that are alike are one row of more weight, and a row of weight k is k rows:
both are dealt out to folds in one way, so that weights are worth copies. Which
fold a row falls into depends on what it holds and on the seed, not on its place.
Rows that were held out keep their logits, and are scored when somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deciban.ensemble import features
from deciban.ensemble.features import Features
from deciban.ensemble.logits import FloatArray, prior_logits
from deciban.families.remaining import Remaining, remaining_rows
from deciban.models import scores
from deciban.models.conformal import ConformityScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import (
    MAX_NOVELTY_ROWS,
    RowLikelihoods,
    TypicalityScores,
    sum_likelihoods,
)
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch
from deciban.sources.row_keys import Keys, mix, row_keys
from deciban.sources.unit_folds import Split, deal_units

if TYPE_CHECKING:
    from deciban.ensemble.model import EnsembleModel

RowIndices = NDArray[np.intp]

#: How many folds there are; and how many of them are fitted, by the least rows: where rows are
#: many, fewer hold out enough of them, and one that is alone but the half of its rows.
N_FOLDS = 5
FITTED_FOLDS_BY_MIN_ROWS = {0: N_FOLDS, 10_000: 3, 40_000: 1}
#: One fold is believed if it holds out so many rows.
MIN_JUDGING_ROWS = 1_000
#: No row is dealt out in more copies: floats must tell them apart.
MAX_COPIES = 1e6


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Different rows with their features, classes, weights and folds.

    ``counted`` is the model of the counts, in which they are, ``words`` that of the texts, if
    there are any. They stand for ``n_rows`` rows of the table. Where rows belong to groups or
    times, ``remaining`` is what counts are left for each; of times, those of the parts before its
    own.
    """

    counted: NaiveBayesModel
    part: LabelledBatch
    features: Features
    numbers: FloatArray
    codes: NDArray[np.int64]
    y: RowIndices
    weight: FloatArray
    n_rows: int
    splits: Sequence[Split]
    remaining: Remaining | None = None
    words: NaiveBayesModel | None = None

    @classmethod
    def of(
        cls,
        counted: NaiveBayesModel,
        part: LabelledBatch,
        seed: int,
        words: NaiveBayesModel | None = None,
    ) -> TrainingTable:
        """The table of some counted rows."""
        numbers, codes = counted.columns(part.batch)
        y = part.codes_among(counted.counts.classes)
        ignored = {column.name for column in counted.schema.columns if not column.used}
        keys = _keys(part.batch, set(part.batch.columns) - ignored)
        units = part.units
        if units is None:
            dealt = deal(keys, y, part.weights, seed)
            at, weight, splits = dealt.rows, dealt.weight, split(dealt.fold)
        else:
            at, weight, units, splits = deal_units(keys, y, part.weights, units, seed, N_FOLDS)
        rows = replace(part.take(at), weight=weight, units=units)
        return cls(
            counted=counted,
            part=rows,
            features=features.fit(counted.counts, numbers[at], weight),
            numbers=numbers[at],
            codes=codes[at],
            y=y[at],
            weight=weight,
            n_rows=len(y),
            splits=splits,
            remaining=None if rows.units is None else remaining_rows(rows, counted.classes),
            words=words,
        )

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.counted.counts.classes)

    @property
    def single_weight(self) -> FloatArray:
        """What leave-one-out takes out of the counts: of a row of weight k, one of k."""
        return np.minimum(self.weight, 1.0)

    def in_first_fold(self) -> TrainingTable:
        """The table with its first fold alone; itself where that holds out too few rows.

        Nor do folds in time: the first of them is fitted to the fewest rows.
        """
        first = self.splits[:1]
        judging = sum(self.weight[held].sum() for _, held in first)
        few = judging < MIN_JUDGING_ROWS
        return self if few or self.forward else replace(self, splits=first)

    def in_enough_folds(self) -> TrainingTable:
        """The table with its first folds alone, as many as its rows call for."""
        if self.forward:
            return self
        rows = self.weight.sum()
        n_fitted = min(n for least, n in FITTED_FOLDS_BY_MIN_ROWS.items() if rows >= least)
        splits = self.splits[:n_fitted]
        alone = n_fitted == 1 and self.part.units is None  # groups stay whole
        return replace(self, splits=_halved(splits[0]) if alone else splits)

    @property
    def forward(self) -> bool:
        """Whether the folds are those of times, each fitted to what came before."""
        return self.part.units is not None and self.part.units.kind == "time"

    def spaced_rows(self, max_rows: int) -> RowIndices:
        """About so many rows at most, evenly spaced among those that each split holds out.

        All of them where they are in groups or times.
        """
        step = 1 if self.remaining is not None else -(-len(self.y) // max_rows)
        never = np.setdiff1d(np.arange(len(self.y)), self.held_rows)
        parts = [*(held for _, held in self.splits), never]
        return np.sort(np.concatenate([part[::step] for part in parts]))

    def take(self, rows: RowIndices) -> TrainingTable:
        """The table of some rows, in rising order, in their folds."""
        if len(rows) == len(self.y):
            return self
        return replace(
            self,
            part=self.part.take(rows),
            numbers=self.numbers[rows],
            codes=self.codes[rows],
            y=self.y[rows],
            weight=self.weight[rows],
            splits=[(_places(inside, rows), _places(held, rows)) for inside, held in self.splits],
        )

    @cached_property
    def held_rows(self) -> RowIndices:
        """The rows that some split holds out: all of them, but for the first in time."""
        if not self.splits:
            return np.arange(len(self.y))
        return np.sort(np.concatenate([held for _, held in self.splits]))

    @cached_property
    def held_weight(self) -> FloatArray:
        """The weights of the rows, zero where no split holds a row out."""
        if len(self.held_rows) == len(self.y):
            return self.weight
        out = np.zeros_like(self.weight)
        out[self.held_rows] = self.weight[self.held_rows]
        return out

    @cached_property
    def prior_logits(self) -> FloatArray:
        """The logits of the class frequencies alone, (classes,)."""
        return prior_logits(self.y, self.weight, self.n_classes)

    @property
    def offset(self) -> FloatArray:
        """The logits of the class frequencies alone for every row, (rows, classes)."""
        return np.tile(self.prior_logits, (len(self.y), 1))


def _keys(batch: Batch, names: set[str]) -> Keys:
    """The keys of rows by some columns, whatever these are called: in the order of their names."""
    ranked = {f"x{rank}": batch.columns[name] for rank, name in enumerate(sorted(names))}
    return row_keys(Batch(batch.n_rows, ranked))


def _halved(split: Split) -> list[Split]:
    """The split, with every second of the rows that it holds out fitted to as well.

    >>> _halved((np.array([0, 3]), np.array([1, 2, 4])))
    [(array([0, 2, 3]), array([1, 4]))]
    """
    inside, held = split
    return [(np.sort(np.concatenate([inside, held[1::2]])), held[::2])]


def _places(rows: RowIndices, some: RowIndices) -> RowIndices:
    """Where those of ``rows`` that are among ``some`` stand there; both rise.

    >>> _places(np.array([1, 2, 6]), np.array([0, 2, 4, 6]))
    array([1, 3])
    """
    return np.flatnonzero(np.isin(some, rows, assume_unique=True))


# ---------------------------------------------------------------------- folds


@dataclass(frozen=True, eq=False)
class Deal:
    """Different rows, the weight of each, and its fold; one may be in several folds."""

    rows: RowIndices
    weight: FloatArray
    fold: RowIndices


def deal(
    keys: Keys, y: NDArray[np.intp], weight: FloatArray, seed: int, n_folds: int = N_FOLDS
) -> Deal:
    """Rows by their keys, which are equal for equal rows: shuffled, each class dealt out evenly.

    >>> keys, y = np.array([7, 8, 7, 7], dtype=np.uint64), np.zeros(4, dtype=np.intp)
    >>> dealt = deal(keys, y, np.ones(4), seed=0, n_folds=2)
    >>> sorted(zip(keys[dealt.rows].tolist(), dealt.weight.tolist()))
    [(7, 1.0), (7, 2.0), (8, 1.0)]
    """
    mixed = mix(keys + np.uint64(seed))
    order = np.lexsort((mixed, y))
    new = np.diff(mixed[order], prepend=mixed[order][:1]) != 0
    new |= np.diff(y[order], prepend=-1) != 0
    first = np.flatnonzero(new)
    total = np.add.reduceat(weight[order], first)
    copies = np.clip(np.ceil(total), 1.0, MAX_COPIES)
    end = np.cumsum(copies)
    ends = np.stack([end - copies, end])[:, :, None] + np.arange(n_folds)
    copies_in_fold = np.diff(np.floor(ends / n_folds), axis=0)[0]
    at, fold = np.nonzero(copies_in_fold)
    return Deal(order[first][at], copies_in_fold[at, fold] * (total / copies)[at], fold)


def split(folds: RowIndices) -> list[Split]:
    """The rows that each fold is fitted to, and those it holds out; none without both.

    >>> split(np.array([0, 1, 0]))
    [(array([1]), array([0, 2])), (array([0, 2]), array([1]))]
    """
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))
        for fold in np.unique(folds)
        if np.any(folds != fold)
    ]


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The logits of rows when held out, (rows, classes), their classes and weights.

    Base learners give logits of rows that they were not fitted to; their weighted sum, of which
    the weights alone are fitted to the same rows, is how the model would have answered without
    each. ``judged`` are those by which novelty is judged, ``batch`` has them, and ``one`` is what
    each weighs in the counts; rows of groups or times need those beside them, and have their
    ``typicality`` already.
    """

    logits: FloatArray
    prior_logits: FloatArray
    y: NDArray[np.intp]
    weight: FloatArray
    judged: NDArray[np.intp]
    batch: Batch
    one: FloatArray
    typicality: TypicalityScores | None

    @classmethod
    def of(cls, table: TrainingTable, logits: FloatArray) -> HeldOutRows:
        """The rows of a table in folds."""
        held = table.held_rows
        judged = held[:: max(1, -(-len(held) // MAX_NOVELTY_ROWS))]
        one, typicality = table.single_weight[judged], None
        if table.remaining is not None:
            typicality = _typicality_of_units(table, judged)
        rows = table.y, table.held_weight, judged, table.part.take(judged).batch, one
        return cls(logits, table.prior_logits, *rows, typicality)

    def scores(self, model: EnsembleModel) -> KeptScores:
        """Their scores under the model that they were held out of."""
        posterior = np.ascontiguousarray(self.logits).copy()
        scores.normalise(posterior, self.prior_logits, logarithm=True)
        conformity = ConformityScores.of(model.classes, posterior, self.y, self.weight)
        left_out = LeaveOneOutScores.of(posterior, self.y, self.weight)
        typicality = self.typicality
        if typicality is None:
            typicality = self._typicality(_counted(model.counted, model.words))
        return KeptScores(conformity, typicality, left_out)

    def _typicality(self, counted: list[NaiveBayesModel]) -> TypicalityScores | None:
        """How likely some rows are, each left out of the counts; None without columns."""
        if not counted:
            return None
        y, weight = self.y[self.judged], self.weight[self.judged]
        parts = [model.likelihoods.leave_one_out(self.batch, y, self.one) for model in counted]
        return TypicalityScores.of(counted[0].classes, sum_likelihoods(parts), y, weight)


def _counted(*models: NaiveBayesModel | None) -> list[NaiveBayesModel]:
    """The models that have columns, which are independent in a class: what they say adds up."""
    return [model for model in models if model and model.blocks]


def _typicality_of_units(table: TrainingTable, judged: NDArray[np.intp]) -> TypicalityScores | None:
    """How likely some rows are by what is left without their group, or by what came before."""
    counted, batch, remaining = (
        _counted(table.counted, table.words),
        table.part.batch,
        table.remaining,
    )
    if not counted or remaining is None:
        return None
    every = sum_likelihoods([model.likelihoods.leave_out(batch, remaining) for model in counted])
    rows = RowLikelihoods(every.log_likelihood[judged], every.size[judged])
    y, weight = table.y[judged], table.held_weight[judged]
    return TypicalityScores.of(table.counted.classes, rows, y, weight)
