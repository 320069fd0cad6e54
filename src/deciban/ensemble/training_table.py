"""The table that base learners are fitted to: different rows, their weights, and folds.

Rows that are alike are one row of more weight, and a row of weight k is k rows:
both are dealt out to folds in one way, so that weights are worth copies. Which
fold a row falls into depends on what it holds and on the seed, not on its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import text_column
from deciban.ensemble import features
from deciban.ensemble.features import Features
from deciban.ensemble.logits import FloatArray, prior_logits
from deciban.labels import Labels
from deciban.naive_bayes.model import NaiveBayesModel
from deciban.sources.batch import Batch
from deciban.sources.columns import Strings
from deciban.sources.labelled import LabelledBatch
from deciban.stats.categories import CATEGORIES

RowIndices = NDArray[np.intp]
Keys = NDArray[np.uint64]
#: The rows that a fold is fitted to, and those it holds out.
Split = tuple[RowIndices, RowIndices]

#: How many folds there are.
N_FOLDS = 5
#: One fold is believed if it holds out so many rows.
MIN_JUDGING_ROWS = 1_000
#: No row is dealt out in more copies: floats must tell them apart.
MAX_COPIES = 1e6
#: Odd numbers that mix all bits (the finaliser of splitmix64).
_MIX_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Different rows with their features, classes, weights and folds.

    ``counted`` is the model of the counts, in which they are. They stand for
    ``n_rows`` rows of the table.
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

    @classmethod
    def of(cls, counted: NaiveBayesModel, part: LabelledBatch, seed: int) -> TrainingTable:
        """The table of some counted rows."""
        numbers, codes = counted.columns(part.batch)
        y = part.codes_among(counted.counts.classes)
        dealt = deal(_row_keys(counted, part.batch, numbers, codes), y, part.weights, seed)
        at, weight = dealt.rows, dealt.weight
        return cls(
            counted=counted,
            part=replace(part.take(at), weight=weight),
            features=features.fit(counted.counts, numbers[at], weight),
            numbers=numbers[at],
            codes=codes[at],
            y=y[at],
            weight=weight,
            n_rows=len(y),
            splits=split(dealt.fold),
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
        """The table with its first fold alone; itself where that holds out too few rows."""
        first = self.splits[:1]
        judging = sum(self.weight[held].sum() for _, held in first)
        return self if judging < MIN_JUDGING_ROWS else replace(self, splits=first)

    @cached_property
    def prior_logits(self) -> FloatArray:
        """The logits of the class frequencies alone, (classes,)."""
        return prior_logits(self.y, self.weight, self.n_classes)

    @property
    def offset(self) -> FloatArray:
        """The logits of the class frequencies alone for every row, (rows, classes)."""
        return np.tile(self.prior_logits, (len(self.y), 1))


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
    mixed = _mix(keys + np.uint64(seed))
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


# ---------------------------------------------------------------------- what a row holds


def _row_keys(
    counted: NaiveBayesModel, batch: Batch, numbers: FloatArray, codes: NDArray[np.int64]
) -> Keys:
    """A key of all that a row holds: its texts as well, which are not among the counts."""
    table = counted.counts.tables.get(CATEGORIES.name)
    values = () if table is None else table.cells.values or ()
    texts = [text_column(batch, name) for name in batch.columns if name not in counted.schema.names]
    return row_keys(numbers, codes, values, texts)


def row_keys(
    numbers: FloatArray,
    codes: NDArray[np.int64],
    values: Sequence[Labels],
    texts: Sequence[Strings],
) -> Keys:
    """A number of 64 bits for every row; two rows that differ share one once in 10**19 pairs."""
    out = np.zeros(len(numbers), dtype=np.uint64)
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, one zero
    for column in plain.T:
        out = _mix(out + np.ascontiguousarray(column).view(np.uint64))
    for j, known in enumerate(values):
        # By their names: codes depend on the order in which values were seen.
        names = _digests(str(value).encode() for value in [*known.tolist(), ""])
        out = _mix(out + names[codes[:, j]])
    for text in texts:
        data = text.data.tobytes()
        ends = zip(text.offsets[:-1].tolist(), text.offsets[1:].tolist(), strict=True)
        out = _mix(out + _digests(data[start:end] for start, end in ends))
    return out


def _digests(values: Iterable[bytes]) -> Keys:
    digests = (blake2b(value, digest_size=8).digest() for value in values)
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)


def _mix(keys: Keys) -> Keys:
    out = keys + np.uint64(0x9E3779B97F4A7C15)
    for factor, shift in zip(_MIX_FACTORS, (30, 27), strict=True):
        out = (out ^ (out >> np.uint64(shift))) * factor
    return np.asarray(out ^ (out >> np.uint64(31)))
