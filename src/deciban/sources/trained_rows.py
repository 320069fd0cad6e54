"""Hashes of some rows that a model learned, by which it knows them again.

A model that is judged on rows it was trained on looks better than it is. Hashes of a few hundred
evenly spaced rows tell, without holding any row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import Caster, column_classes
from deciban.sources.batch import Batch
from deciban.sources.columns import Column
from deciban.sources.row_keys import hash_rows, label_keys, mix

__all__ = ["MAX_KEPT_ROWS", "TrainedRows", "hashes"]

Keys = NDArray[np.uint32]

#: Hashes of no more rows than this are kept.
MAX_KEPT_ROWS = 512
#: Rows are said to be known if they are this share of all, and more than chance would have:
MIN_SHARE, CHANCE_SDS, MIN_MATCHES = 0.1, 3.0, 3


@dataclass(frozen=True, eq=False)
class TrainedRows:
    """Hashes of 32 bits of some of so many rows.

    ``n_equal_pairs`` of ``n_pairs`` pairs of rows that were looked at were equal.

    >>> from deciban.schema import ColumnSchema, Schema
    >>> from deciban.sources.columns import Numbers
    >>> caster = Caster(Schema((ColumnSchema("x", "numeric", ""),)))
    >>> x, labels = np.arange(40.0), Numbers(np.zeros(40))
    >>> rows, others = (Batch(40, {"x": Numbers(values)}) for values in (x, x + 0.5))
    >>> known = TrainedRows.of(hashes(caster, rows, labels), 40)
    >>> known.share_known(hashes(caster, rows, labels))
    1.0
    >>> known.share_known(hashes(caster, others, labels))
    0.0
    """

    n_rows: int
    kept: Keys
    n_pairs: float = 0.0
    n_equal_pairs: float = 0.0

    @classmethod
    def of(cls, keys: Keys, n_rows: int) -> TrainedRows:
        """Evenly spaced ones of these, which stand for so many rows."""
        _, copies = np.unique(keys, return_counts=True)
        equal, n = float((copies * (copies - 1)).sum()) / 2, len(keys)
        return cls(n_rows, _spaced(keys, MAX_KEPT_ROWS), n * (n - 1) / 2, equal)

    def __add__(self, other: TrainedRows) -> TrainedRows:
        """Those of both; each is thinned as far as the sparser one."""
        n_rows = self.n_rows + other.n_rows
        share = min(MAX_KEPT_ROWS / max(n_rows, 1), self._kept_share, other._kept_share)
        parts = [_spaced(one.kept, int(share * one.n_rows)) for one in (self, other)]
        pairs = self.n_pairs + other.n_pairs, self.n_equal_pairs + other.n_equal_pairs
        return TrainedRows(n_rows, np.concatenate(parts), *pairs)

    def without(self, keys: Keys, n_rows: int) -> TrainedRows:
        """What is left when so many rows are forgotten, of which these are some."""
        left = self.kept[~np.isin(self.kept, keys)]
        return replace(self, n_rows=max(self.n_rows - n_rows, len(left)), kept=left)

    @property
    def _kept_share(self) -> float:
        return min(1.0, len(self.kept) / max(self.n_rows, 1))

    def share_known(self, keys: Keys) -> float:
        """Which share of some rows was learned; 0 where chance explains what is known of them.

        A row that was not learned is equal to one that was as often as two rows of training are
        equal; of that rate, the most that is likely is taken.
        """
        n_kept, n = len(self.kept), len(keys)
        if not n_kept or not n or not self.n_pairs:
            return 0.0
        known = int(np.isin(keys, self.kept).sum())
        usual, most = self.n_equal_pairs, self.n_equal_pairs + 3 * self.n_equal_pairs**0.5 + 3
        by_chance, at_most = (min(1.0, n_kept * pairs / self.n_pairs) for pairs in (usual, most))
        expected = n * at_most
        if known < MIN_MATCHES or known - expected <= CHANCE_SDS * np.sqrt(expected):
            return 0.0
        share = min(1.0, (known / n - by_chance) / (self._kept_share * (1 - by_chance)))
        return share if share >= MIN_SHARE else 0.0


def hashes(caster: Caster, rows: Batch, labels: Column) -> Keys:
    """A hash of the features and the label of every row, as the model takes them."""
    used = [column.name for column in caster.schema.columns if column.used]
    of = column_classes(labels)
    label = np.append(label_keys(of.classes), np.uint64(0))[of.codes]
    keys = mix(hash_rows(caster.cast(rows), used) ^ label)
    return np.asarray(keys >> np.uint64(32), dtype=np.uint32)


def _spaced(keys: Keys, n: int) -> Keys:
    """So many evenly spaced keys, or all where they are fewer."""
    return keys if len(keys) <= n else keys[np.arange(n) * len(keys) // max(n, 1)]
