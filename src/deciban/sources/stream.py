"""Iterables of tables or of rows, read as they come: all in the types of the first batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice

import numpy as np

from deciban.errors import InputError
from deciban.sources.batch import Batch
from deciban.sources.columns import Column, Integers, Numbers, Times, missing_column
from deciban.sources.objects import is_record, scan_records
from deciban.sources.scan import BatchScan, Scan, read_once
from deciban.sources.tabular import Tabular

__all__ = ["align_batches", "scan_stream"]


def scan_stream(items: Iterable[Tabular], rows: int, scan: Callable[[Tabular], Scan]) -> BatchScan:
    """An iterable of tables, which ``scan`` opens, or of dicts that are rows; read once."""
    rest = iter(items)
    first = next(rest, None)
    if first is None:
        raise InputError("the source is empty: it gave no table.", hint="give at least one row")
    everything = chain([first], rest)
    if is_record(first):
        scans: Iterator[Scan] = (scan_records(some, rows) for some in _bundles(everything, rows))
    else:
        scans = (scan(item) for item in everything)
    head = next(scans)
    read = read_once(_align(chain([head], scans)))
    return BatchScan(head.names, read, rereadable=False)


def _bundles(items: Iterator[Tabular], size: int) -> Iterator[list[Tabular]]:
    while bundle := list(islice(items, size)):
        yield bundle


def align_batches(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Batches of one table, in the types of the first."""
    first: Mapping[str, Column] | None = None
    for number, batch in enumerate(batches, start=1):
        first = batch.columns if first is None else first
        yield _align_batch(first, batch, number)


def _align(scans: Iterable[Scan]) -> Iterator[Batch]:
    """The batches of all tables, in the types of the first batch."""
    first: Mapping[str, Column] | None = None
    for number, scan in enumerate(scans, start=1):
        for batch in scan:
            first = batch.columns if first is None else first
            yield _align_batch(first, batch, number)


def _align_batch(first: Mapping[str, Column], batch: Batch, number: int) -> Batch:
    """A batch of frame ``number``, with the columns of the first in their order and types."""
    odd = sorted(set(first) ^ set(batch.columns))
    if odd:
        where = "only in the first" if odd[0] in first else "not in the first"
        raise InputError(
            f"frame {number} has other columns than the first: {odd[0]!r} is {where}.",
            hint="all frames of a stream need the same columns",
        )
    columns = {
        name: _align_column(name, like, batch.columns[name], number) for name, like in first.items()
    }
    return Batch(batch.n_rows, columns)


def _align_column(name: str, first: Column, column: Column, number: int) -> Column:
    """The column as the type it had in the first frame, where nothing is lost by that."""
    if isinstance(column, Times) and isinstance(first, Times):
        if "time" not in {first.unit, column.unit} or first.unit == column.unit:
            return Times(column.values, column.missing, first.unit)
    elif type(column) is type(first):
        return column
    elif isinstance(column, Integers) and isinstance(first, Numbers):
        return column.numbers()
    elif isinstance(column, Numbers):
        known = column.values[~column.missing]
        if len(known) == 0:
            return missing_column(first, len(column))
        if (
            isinstance(first, Integers)
            and np.all(np.abs(known) <= 2**53)
            and np.all(known % 1 == 0)
        ):
            values = np.where(column.missing, 0, column.values).astype(np.int64)
            return Integers(values, column.missing)
    raise InputError(
        f"column {name!r} holds {type(first).__name__.lower()} in the first frame and "
        f"{type(column).__name__.lower()} in frame {number}.",
        hint="give the column the same type in every frame",
    )
