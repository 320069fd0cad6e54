"""Rows that are held out: a share of them, or every fold in its turn.

Classes are held out in equal shares. Rows of a group stay together. Of rows that have a time, the
last ones are held out: no model is judged on what came before the rows that it learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.cli.recipes import Roles
from deciban.encoding import matrices
from deciban.errors import InputError
from deciban.sources import Batch, BatchScan, Scan
from deciban.sources.batch import Units
from deciban.sources.labelled import labelled_scan
from deciban.sources.scan import scan_batches
from deciban.sources.units import unit_source

RowIndices = NDArray[np.intp]
#: The rows that a model learns, and those that it is judged on.
Split = tuple[RowIndices, RowIndices]


@dataclass(frozen=True, eq=False)
class HeldRows:
    """A table in memory, and where each row stands between 0 and 1 when rows are held out.

    ``position`` is NaN for rows without a label, which are never held out.
    """

    table: BatchScan
    rows: Batch
    position: NDArray[np.float64]
    forward: bool

    @classmethod
    def of(cls, table: Scan, roles: Roles, seed: int, max_rows: int | None = None) -> HeldRows:
        """Read a table; of more rows than ``max_rows``, that many at random."""
        held = _hold(table)
        for name in roles.names():
            held.require(name)
        (rows,) = held.read()
        rng = np.random.default_rng(seed)
        if max_rows is not None and rows.n_rows > max_rows and roles.group is None:
            rows = rows.take(np.sort(rng.choice(rows.n_rows, max_rows, replace=False)))
            held = _with_rows(held, rows)
        codes = matrices.column_classes(rows.columns[roles.target]).codes
        units = _units(held, rows, roles)
        position = _positions(codes, units, rng)
        return cls(held, rows, position, units is not None and units.kind == "time")

    @property
    def n_labelled(self) -> int:
        """How many rows have a label."""
        return int(np.count_nonzero(~np.isnan(self.position)))

    def share(self, share: float) -> Split:
        """One split that holds a share of the labelled rows out."""
        held = self.position >= 1.0 - share
        return _checked(np.flatnonzero(~held), np.flatnonzero(held), self.position)

    def folds(self, n_folds: int) -> Iterator[Split]:
        """Splits that hold every labelled row out once; of times, all but the first of them."""
        parts = n_folds + 1 if self.forward else n_folds
        fold = np.floor(self.position * parts)
        for k in range(parts - n_folds, parts):
            inside = fold < k if self.forward else fold != k
            yield _checked(np.flatnonzero(inside), np.flatnonzero(fold == k), self.position)

    def take(self, rows: RowIndices) -> BatchScan:
        """Some rows as a table."""
        return _with_rows(self.table, self.rows.take(rows))


def _hold(table: Scan) -> BatchScan:
    batches = [batch for batch in table if batch.n_rows]
    if not batches:
        raise InputError("there are no rows.", hint="a table needs rows")
    held = scan_batches(table.names, [Batch.concatenate(batches)])
    return replace(held, formats=table.formats) if isinstance(table, BatchScan) else held


def _with_rows(table: BatchScan, rows: Batch) -> BatchScan:
    return replace(scan_batches(table.names, [rows]), formats=table.formats)


def _units(held: BatchScan, rows: Batch, roles: Roles) -> Units | None:
    source = unit_source(roles.group, roles.time)
    if source is not None and source.is_auto:
        source = labelled_scan(held, target=roles.target, units=source).units
    return None if source is None else source.of_rows(rows, 0, rows.n_rows)


def _positions(
    codes: NDArray[Any], units: Units | None, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Where each labelled row stands: at random within its class, by its group, or by its time."""
    position = np.full(len(codes), np.nan)
    labelled = np.flatnonzero(codes >= 0)
    if units is None:
        for code in np.unique(codes[labelled]):
            own = np.flatnonzero(codes == code)
            places = (np.arange(len(own)) + rng.random()) / len(own)
            position[own] = rng.permutation(places)
        return position
    of = units.take(labelled).codes()
    if units.kind == "group":
        of = rng.permutation(int(of.max(initial=-1)) + 1)[of]
    order = np.argsort(of, kind="stable")
    # A unit stands where the middle of its rows does, so that it stays whole.
    first = np.searchsorted(of[order], np.arange(int(of.max(initial=-1)) + 2))
    middle = (first[:-1] + first[1:]) / 2 / max(len(of), 1)
    position[labelled] = middle[of]
    return position


def _checked(inside: RowIndices, held: RowIndices, position: NDArray[np.float64]) -> Split:
    labelled = ~np.isnan(position)
    if not len(held) or not labelled[inside].any():
        raise InputError(
            f"{np.count_nonzero(labelled)} rows cannot be parted so that some are learned and "
            "some are held out.",
            hint="hold another share out, or give more rows or groups",
        )
    return inside, held
