"""A bottom-k sample: the rows whose keys are least, kept while a table is read.

The key of a row is a hash of what it holds, its label too (:mod:`deciban.sources.row_keys`). So
which rows are kept depends on the table alone: not on the order of rows, on batches, on who reads
them, or on how many parts of the table were sampled apart and put together with ``+``. Rows that
hold the same are one row, whose weight is that of all of them: a row of weight k is k copies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from deciban.kernels import keys as kernel
from deciban.sources import sample
from deciban.sources.batch import Batch, LabelledBatch
from deciban.sources.columns import Column, missing_column
from deciban.sources.row_keys import Keys, content_keys
from deciban.sources.sample import Part, Sample

__all__ = ["RowSample"]

FloatArray = NDArray[np.float64]
#: The largest key.
MAX_KEY = (1 << 64) - 1
#: Rows that came lie beside those in order until they are so many times as many as are kept.
MAX_UNSETTLED = 3
#: The limit is looked at again when so many of the rows that are kept may have changed.
NEW_SHARE = 4


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """Different rows with their keys, and the weight of all copies of each."""

    rows: LabelledBatch
    keys: Keys
    weight: FloatArray

    def take(self, rows: NDArray[np.intp]) -> KeyedRows:
        """Some of the rows, copied."""
        return KeyedRows(self.rows.take(rows), self.keys[rows], self.weight[rows])

    @staticmethod
    def merge(parts: list[KeyedRows], limit: int) -> KeyedRows:
        """The rows of key up to a limit in the order of their keys; copies are put together."""
        keys = np.concatenate([part.keys for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        first, weight = kernel.distinct(keys, weight, limit)
        order = np.argsort(keys[first])
        rows = LabelledBatch.concatenate([part.rows for part in parts]).take(first[order])
        return KeyedRows(rows, keys[first[order]], weight[order])


@dataclass
class RowSample(Sample):
    """The different rows of least key of those that were added, no more than ``max_rows``.

    >>> from deciban.sources.labelled import labelled_scan
    >>> rows = labelled_scan({"x": ["a", "b", "a", "c"]}, [1, 2, 1, 2])
    >>> sample = RowSample(max_rows=2)
    >>> for batch in rows.labelled_batches():
    ...     sample.add(batch)
    >>> (kept,) = sample.batches
    >>> kept.batch.tolist(), kept.weights.tolist(), sample.rows_seen
    ([{'x': 'b'}, {'x': 'a'}], [1.0, 2.0], 4)
    """

    max_rows: int = field(default_factory=lambda: sample.SAMPLE_ROWS)
    rows_seen: int = 0
    weight_seen: float = 0.0
    #: No key above this is kept.
    limit: int = MAX_KEY
    #: Rows in the order of their keys, and those that came since.
    _settled: KeyedRows | None = None
    _more: list[KeyedRows] = field(default_factory=list)
    #: How many rows came since the limit was looked at.
    _new: int = 0

    @property
    def batches(self) -> list[LabelledBatch]:
        """The rows that are kept, in the order of their keys, as one batch or none."""
        self._settle()
        if self._settled is None or not len(self._settled.keys):
            return []
        rows, weight = self._settled.rows, self._settled.weight
        single = rows.weight is None and bool(np.all(weight == 1.0))
        return [replace(rows, weight=None if single else weight.copy()).drop_unused_classes()]

    @property
    def settled(self) -> KeyedRows | None:
        """The rows that are kept with their keys and weights, in the order of their keys."""
        self._settle()
        return self._settled

    def hold(self, rows: KeyedRows) -> None:
        """Take rows over that another sample kept; they are counted as seen there."""
        self._more.append(rows)

    @staticmethod
    def of_pieces(pieces: Sequence[RowSample]) -> RowSample:
        """One sample of pieces of it, the rows of least key first."""
        rows = [part for piece in pieces for part in piece._parts()]
        return replace(pieces[0], limit=pieces[-1].limit, _settled=None, _more=rows)

    def merge(self, other: RowSample) -> None:
        """Put the rows of another sample, of as many rows, into this one."""
        both = self + other
        self.rows_seen, self.weight_seen = both.rows_seen, both.weight_seen
        self.limit, self._settled, self._more = both.limit, both._settled, both._more

    @property
    def n_rows(self) -> int:
        """How many different rows are kept."""
        self._settle()
        return 0 if self._settled is None else len(self._settled.keys)

    @property
    def stands_for(self) -> float:
        """How many times their weight the rows that are kept stand for."""
        self._settle()
        if self.limit == MAX_KEY or self._settled is None:
            return 1.0
        return self.weight_seen / float(self._settled.weight.sum())

    def add(self, batch: LabelledBatch, content: Collection[str] | None = None) -> None:
        """Keep some of these rows; ``content`` are the columns that tell rows apart, or all."""
        n_rows = len(batch.codes)
        self.rows_seen += n_rows
        self.weight_seen += float(n_rows if batch.weight is None else batch.weight.sum())
        if not n_rows:
            return
        keys = content_keys(batch, content)
        first, weight = kernel.distinct(keys, batch.weight, self.limit)
        self._add_distinct(batch, first, keys[first], weight)

    def _add_distinct(
        self, batch: LabelledBatch, rows: NDArray[np.intp], keys: Keys, weight: FloatArray
    ) -> None:
        new = self._add_to_settled(keys, weight)
        if len(new) > self.max_rows:  # rows beyond so many of this batch alone are not copied
            self.limit = _nth_least(keys[new], self.max_rows)
            new = new[keys[new] <= np.uint64(self.limit)]
        if len(new):
            self._more.append(KeyedRows(batch.take(rows[new]), keys[new], weight[new]))
            self._new += len(new)
        if self._new * NEW_SHARE > self.max_rows:
            self._lower_limit()
        if sum(len(part.keys) for part in self._more) > MAX_UNSETTLED * self.max_rows:
            self._settle()

    def _lower_limit(self) -> None:
        """See from the keys alone which rows cannot be among those of least key."""
        keys = np.concatenate([part.keys for part in self._parts()])
        different = keys[kernel.distinct(keys, None, self.limit)[0]]
        if len(different) > self.max_rows:
            self.limit = _nth_least(different, self.max_rows)
        self._new = 0

    def _add_to_settled(self, keys: Keys, weight: FloatArray) -> NDArray[np.intp]:
        """Count copies of rows that are settled; the numbers of the others are returned."""
        if self._settled is None or not len(self._settled.keys):
            return np.arange(len(keys))
        known = self._settled.keys
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        same = known[at] == keys
        self._settled.weight[at[same]] += weight[same]
        return np.flatnonzero(~same)

    def _settle(self) -> None:
        """Put all rows together in the order of their keys, and keep no more than are asked for."""
        if self._more:
            self._lower_limit()
            self._settled, self._more = KeyedRows.merge(self._parts(), self.limit), []
        rows = self._settled
        if rows is None or not len(rows.keys):
            return
        if len(rows.keys) > self.max_rows:
            self.limit = min(self.limit, int(rows.keys[self.max_rows - 1]))
        if int(rows.keys[-1]) > self.limit:
            n_rows = int(np.searchsorted(rows.keys, np.uint64(self.limit), side="right"))
            self._settled = rows.take(np.arange(n_rows))

    def __add__(self, other: RowSample) -> RowSample:
        """The sample of the rows of both."""
        both = replace(
            self,
            max_rows=min(self.max_rows, other.max_rows),
            rows_seen=self.rows_seen + other.rows_seen,
            weight_seen=self.weight_seen + other.weight_seen,
            limit=min(self.limit, other.limit),
            _settled=None,
            _more=[part for side in (self, other) for part in side._parts()],
        )
        both._settle()
        return both

    def _parts(self) -> list[KeyedRows]:
        return [*([] if self._settled is None else [self._settled]), *self._more]

    def with_columns(self, new: Mapping[str, Column]) -> RowSample:
        """The sample with columns, each of the type of another, that its rows do not have."""
        parts = []
        for part in self._parts():
            rows, n_rows = part.rows, part.rows.n_rows
            more = {name: missing_column(like, n_rows) for name, like in new.items()}
            batch = Batch(n_rows, {**rows.batch.columns, **more})
            parts.append(KeyedRows(replace(rows, batch=batch), part.keys, part.weight))
        return replace(self, _settled=None, _more=parts)

    def thin(self, max_rows: int) -> None:
        """Keep no more rows than this, of those that were added and of those to come."""
        self.max_rows = min(self.max_rows, max_rows)
        self._settle()

    def part(self, step: int) -> Part:
        """About one in so many of the rows that are kept, to be judged; there must be some.

        They are those of least key: the sample of so many fewer rows.
        """
        if step == 1:
            return Part(self.batches[0], self.stands_for)
        fewer = replace(self, max_rows=-(-self.n_rows // step))
        (rows,) = fewer.batches
        return Part(rows, fewer.stands_for)

    def chunks(self, n_rows: int) -> Iterator[LabelledBatch]:
        """All rows that are kept, so many at once."""
        for batch in self.batches:
            total = len(batch.codes)
            if total <= n_rows:
                yield batch
                continue
            for start in range(0, total, n_rows):
                yield batch.take(np.arange(start, min(start + n_rows, total)))


def _nth_least(keys: Keys, n: int) -> int:
    return int(np.partition(keys, n - 1)[n - 1])
