"""Samples of rows that belong together: whole groups, or all rows where their order matters."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from deciban.errors import DataWarning, InputError
from deciban.sources.batch import UnitKind
from deciban.sources.labelled import LabelledBatch
from deciban.sources.sample import ALL_ROWS, SAMPLE_ROWS, Part, Sample
from deciban.sources.tabular import UnitsLike
from deciban.sources.units import ARGUMENTS, UnitSource, unit_source

__all__ = ["AllRows", "GroupSample", "TrainingUnits", "check_units", "later_units"]

Keys = NDArray[np.uint64]

#: No fewer groups than this are kept, however many rows they have.
MIN_GROUPS = 50
#: No more groups than this are remembered for rows that are learned later.
MAX_SEEN_GROUPS = 4_096
#: One more than the largest hash.
_N_HASHES = 1 << 64


@dataclass
class _HeldRows(Sample):
    """Rows that are kept in the batches they came in."""

    max_rows: int = field(default_factory=lambda: SAMPLE_ROWS)
    rows_seen: int = 0
    _batches: list[LabelledBatch] = field(default_factory=list)

    @property
    def batches(self) -> list[LabelledBatch]:
        """The rows that are kept, in the order in which they came."""
        return self._batches


@dataclass
class GroupSample(_HeldRows):
    """All rows of some groups: those whose hash is below a limit, halved while rows are too many.

    So whole groups are kept in one pass, and which they are depends neither on the order of rows
    nor on batches. There may be more rows than ``max_rows`` if fewer than ``MIN_GROUPS`` groups
    would be left. Groups that were ``seen`` in earlier calls are not kept: some of their rows
    are not here.
    """

    limit: int = _N_HASHES
    seen: Keys = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def add(self, batch: LabelledBatch, content: Collection[str] | None = None) -> None:
        """Keep the rows of groups below the limit."""
        self.rows_seen += batch.n_rows
        part = self._below(batch, self.limit)
        if len(self.seen):
            part = part.take(np.flatnonzero(~np.isin(_keys(part), self.seen)))
        if part.n_rows:
            self._batches.append(part)
        self._make_room()

    def thin(self, max_rows: int) -> None:
        """Keep no more rows than this, of those that were added and of those to come."""
        self.max_rows = min(self.max_rows, max_rows)
        self._make_room()

    @property
    def stands_for(self) -> float:
        """How many rows each row stands for."""
        return self.rows_seen / max(self.n_rows, 1)

    def chunks(self, n_rows: int) -> Iterator[LabelledBatch]:
        """All rows that are kept, in whole groups, in the order of their hashes."""
        whole, order, ends = self._by_group()
        start = 0
        while start < len(order):
            stop = int(ends[min(int(np.searchsorted(ends, start + n_rows)), len(ends) - 1)])
            yield whole.take(order[start:stop])
            start = stop

    def part(self, step: int) -> Part:
        """About one in so many of the rows, in whole groups, not too few of them."""
        whole, order, ends = self._by_group()
        last = max(int(np.searchsorted(ends, -(-len(order) // step))), MIN_GROUPS - 1)
        rows = whole.take(order[: int(ends[min(last, len(ends) - 1)])])
        return Part(rows, self.rows_seen / rows.n_rows)

    def _by_group(self) -> tuple[LabelledBatch, NDArray[np.intp], NDArray[np.intp]]:
        """All rows, their order by the hash of their group, and where each group ends in it."""
        whole = LabelledBatch.concatenate(self.batches)
        keys = _keys(whole)
        order = np.argsort(keys, kind="stable")
        return whole, order, np.append(np.flatnonzero(np.diff(keys[order])) + 1, len(order))

    def _make_room(self) -> None:
        while self.n_rows > self.max_rows:
            below = [self._below(batch, self.limit // 2) for batch in self.batches]
            if len(np.unique(np.concatenate([_keys(batch) for batch in below]))) < MIN_GROUPS:
                return
            self.limit //= 2
            self._batches = [batch for batch in below if batch.n_rows]

    @staticmethod
    def _below(batch: LabelledBatch, limit: int) -> LabelledBatch:
        if limit == _N_HASHES:
            return batch
        return batch.take(np.flatnonzero(_keys(batch) < np.uint64(limit)))


@dataclass
class AllRows(_HeldRows):
    """All rows: each is judged by those before it, whichever are looked at."""

    max_rows: int = ALL_ROWS

    def add(self, batch: LabelledBatch, content: Collection[str] | None = None) -> None:
        """Keep all rows."""
        self.rows_seen += batch.n_rows
        if batch.n_rows:
            self._batches.append(batch)

    @property
    def stands_for(self) -> float:
        """A row stands for itself."""
        return 1.0

    def chunks(self, n_rows: int) -> Iterator[LabelledBatch]:
        """All rows at once."""
        if self.batches:
            yield LabelledBatch.concatenate(self.batches)

    def part(self, step: int) -> Part:
        """All rows, of which one in so many is judged."""
        rows = LabelledBatch.concatenate(self.batches)
        return Part(rows, float(step), np.arange(0, rows.n_rows, step))

    def thin(self, max_rows: int) -> None:
        """All rows stay."""


@dataclass(frozen=True, eq=False)
class TrainingUnits:
    """What is remembered of the groups or times of the rows that a model learned.

    ``column`` is where they were, None if they came beside the table. Of the groups whose hash is
    below the ``limit``, ``seen`` are those that were learned; ``last`` is the last time.
    """

    kind: UnitKind
    column: str | None = None
    limit: int = _N_HASHES
    seen: Keys = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    last: float | int | None = None

    def sample(self, max_rows: int = SAMPLE_ROWS) -> Sample:
        """An empty sample for the rows of one more call."""
        if self.kind == "time":
            return AllRows()
        return GroupSample(max_rows, limit=self.limit, seen=self.seen)

    def after(self, sample: Sample | None) -> TrainingUnits:
        """What is remembered when the rows of a sample have been learned as well."""
        if isinstance(sample, GroupSample):
            keys = [self.seen, *(_keys(batch) for batch in sample.batches)]
            limit, seen = sample.limit, np.unique(np.concatenate(keys))
            while len(seen) > MAX_SEEN_GROUPS:
                limit //= 2
                seen = seen[seen < np.uint64(limit)]
            return replace(self, limit=limit, seen=seen)
        times = [batch.units.values for batch in sample.batches if batch.units] if sample else []
        return replace(self, last=np.concatenate(times).max().item()) if times else self

    def __add__(self, other: TrainingUnits | None) -> TrainingUnits:
        """What is remembered of both; ``column`` is where those of the first were."""
        if other is None or other.kind != self.kind:
            return self
        limit = min(self.limit, other.limit)
        seen = np.union1d(self.seen, other.seen)
        last = max((t for t in (self.last, other.last) if t is not None), default=None)
        return replace(self, limit=limit, seen=seen[seen < limit], last=last)

    def check_order(self, sample: Sample | None) -> None:
        """Refuse rows from before those that were learned: these were not judged without them."""
        for batch in sample.batches if sample and self.last is not None else []:
            if batch.units is not None and np.any(batch.units.values < self.last):
                raise InputError(
                    "some rows are from before rows that were learned in an earlier call.",
                    hint="learn rows in the order of time, or fit all of them together",
                )


def later_units(
    known: TrainingUnits | None, groups: UnitsLike, time: UnitsLike, *, fixed: bool = True
) -> UnitSource | None:
    """The groups or times of more rows: as stated, or in the column where they were before.

    They must be there where those of training, ``known``, were, and if ``fixed``, only there.
    """
    given = unit_source(groups, time)
    if known is None:
        if given is not None and fixed:
            raise InputError(
                f"this model was fitted without {ARGUMENTS[given.kind]}, and some rows of "
                "them may be counted already.",
                hint=f"fit all rows anew, with {ARGUMENTS[given.kind]}=",
            )
        return given
    what = ARGUMENTS[known.kind]
    if given is None and known.column is not None:
        return UnitSource(known.kind, known.column)
    if given is None or given.kind != known.kind:
        raise InputError(
            f"this model was fitted with {what}, which these rows must have too.",
            hint=f"pass {what}=, an array or the name of a column",
        )
    return given


def check_units(sample: Sample | None) -> None:
    """Refuse units of which one holds all rows, and groups of which each is a class of its own.

    A class all of whose rows are in one group is warned about.
    """
    some = [batch for batch in sample.batches if batch.units is not None] if sample else []
    if not some:
        return
    rows = LabelledBatch.concatenate(some)
    units = rows.units.codes() if rows.units is not None else np.zeros(1, dtype=np.intp)
    what = "group" if isinstance(sample, GroupSample) else "time"
    if not units.any():
        raise InputError(
            f"all rows have one {what}: without it, nothing is left to judge them by.",
            hint=f"leave the {what}s out, or give those of the rows",
        )
    if isinstance(sample, GroupSample) and sample.limit == _N_HASHES:
        _check_classes(rows, units)


def _check_classes(rows: LabelledBatch, units: NDArray[np.intp]) -> None:
    pairs = np.unique(np.column_stack([rows.codes, units]), axis=0)
    n_groups = np.bincount(pairs[:, 0], minlength=len(rows.classes))
    alone = np.flatnonzero(n_groups == 1)
    if len(alone) == len(rows.classes) > 1:
        raise InputError(
            f"all rows of class {rows.classes[0]!s} are in one group, and so are those of every "
            "other: no row can be judged by others of its class.",
            hint="a group is what rows have in common besides their class, such as a patient",
        )
    if len(alone) and len(rows.classes) > 1:
        names = ", ".join(map(str, rows.classes[alone[:5]]))
        warnings.warn(
            f"all rows of class {names} are in one group: without it nothing is known of the "
            "class. Hint: such rows make the model less sure than it could be.",
            DataWarning,
            stacklevel=4,
        )


def _keys(batch: LabelledBatch) -> Keys:
    if batch.units is None:
        raise TypeError("rows of a sample of groups have groups")
    return np.asarray(batch.units.values)
