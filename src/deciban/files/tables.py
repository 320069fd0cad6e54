"""Counts in a file: a document that people can read, and arrays.

Whatever comes back has been checked: shapes agree, counts are finite and not
below zero, labels are unique, the statistic of every block is known, has the sums
that it needs, and finds that some data can have produced them.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as short

import numpy as np
from msgspec import UnsetType

from deciban.errors import InputError, ModelFileError
from deciban.files.description import CountsEntry, TableEntry
from deciban.files.document import read
from deciban.files.vocabulary import Reader, Writer
from deciban.labels import Array, Labels
from deciban.plain import PlainDict
from deciban.stats.cells import MAX_GRID_KEYS, Cells, Grid
from deciban.stats.counts import Counts
from deciban.stats.registry import STATISTICS
from deciban.stats.rounding import ROUNDING
from deciban.stats.sums import amounts
from deciban.stats.table import Table

#: Below this a weight has lost digits itself, and nothing can be checked against it.
MIN_CHECKED_WEIGHT = 1e-290

Arrays = dict[str, Array]


# ---------------------------------------------------------------------- writing


def counts_to(counts: Counts) -> tuple[PlainDict, Arrays]:
    """The counts as a document and arrays.

    >>> document, arrays = counts_to(Counts.of({"size": ["S", "M"]}, ["ham", "spam"]))
    >>> document["classes"], sorted(arrays)
    ({'dtype': 'str', 'labels': ['ham', 'spam']}, ['table0.rows', 'table0.sum.count', 'weight'])
    """
    writer = Writer()
    document: PlainDict = {"classes": writer.put(counts.classes), "tables": []}
    arrays: Arrays = {"weight": counts.weight}
    for number, (name, table) in enumerate(counts.tables.items()):
        document["tables"].append({"name": name, **_table_entry(table, writer)})
        arrays[f"table{number}.rows"] = table.rows
        for key, part in table.sums.items():
            prefix = f"table{number}.sum.{key}"
            arrays |= {prefix + suffix: values for suffix, values in part.to_arrays().items()}
    arrays |= {f"labels.{key}": part for key, part in writer.arrays().items()}
    try:
        counts_from(read(document, CountsEntry), arrays)
    except ModelFileError as error:
        raise InputError(f"these counts cannot be saved: {error}") from None
    return document, arrays


def _table_entry(table: Table, writer: Writer) -> PlainDict:
    values = table.cells.values
    entry: PlainDict = {
        "statistic": table.statistic.name,
        "columns": writer.put(table.cells.columns),
        "values": None if values is None else [writer.put(column) for column in values],
    }
    if isinstance(table.cells, Grid):
        entry["drop"] = list(table.cells.drop)
    return entry


# ---------------------------------------------------------------------- reading


def counts_from(entry: CountsEntry, arrays: Mapping[str, Array]) -> Counts:
    """The counts, checked.

    >>> counts = Counts.of({"size": ["S", "M"]}, ["ham", "spam"])
    >>> document, arrays = counts_to(counts)
    >>> entry = read(document, CountsEntry)
    >>> counts_from(entry, arrays) == counts
    True
    >>> counts_from(entry, arrays | {"weight": np.array([1.0, -1.0])})
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'weight' must be finite and not below zero, got -1.0.
    """
    left = dict(arrays)
    reader = Reader(_pop(left, "labels."))
    classes = reader.take(entry.classes)
    weight = amounts(left, "weight", (len(classes),))
    tables: dict[str, Table] = {}
    for number, table in enumerate(entry.tables):
        if table.name in tables:
            raise ModelFileError(f"table {number} has the name of another.")
        own = _pop(left, f"table{number}.")
        tables[table.name] = _table_from(table, reader, own, len(classes))
    reader.done()
    _refuse_rest(left)
    counts = Counts(classes, weight, tables)
    _check(counts)
    return counts


def _pop(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of that prefix, without it; they are gone from where they were."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name[len(prefix) :]: arrays.pop(name) for name in names}


def _refuse_rest(arrays: Mapping[str, Array]) -> None:
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")


def _table_from(entry: TableEntry, reader: Reader, arrays: Arrays, n_classes: int) -> Table:
    name = entry.statistic
    if name not in STATISTICS:
        raise ModelFileError(f"the statistic {short(name)} is not known.")
    statistic = STATISTICS[name]
    columns = reader.take(entry.columns)
    like, _ = statistic.empty(columns, n_classes)
    cells = _cells(entry, columns, reader, valued=like.values is not None)
    if isinstance(cells, Grid) != isinstance(like, Grid):
        raise ModelFileError(f"the cells of statistic {name} have the wrong kind.")
    rows = amounts(arrays, "rows", (n_classes,))
    shape = (n_classes, cells.size)
    sums = {
        key: kind.from_arrays(arrays, f"sum.{key}", shape, signed=key in statistic.signed)
        for key, kind in statistic.sum_types.items()
    }
    _refuse_rest(arrays)
    return Table(statistic, cells, rows, sums)


def _cells(entry: TableEntry, columns: Labels, reader: Reader, *, valued: bool) -> Cells:
    if valued == (entry.values is None):
        raise ModelFileError(f"the values of table {short(entry.name)} are missing, or too many.")
    if entry.values is None:
        return Cells(columns)
    if len(entry.values) != len(columns):
        raise ModelFileError(f"{len(columns)} columns have the values of {len(entry.values)}.")
    values = reader.take_all(entry.values)
    if isinstance(entry.drop, UnsetType):
        return Cells(columns, values)
    return _grid(columns, values, entry.drop)


def _grid(columns: Labels, keys: tuple[Labels, ...], drop: list[int]) -> Grid:
    """A grid: keys in order, and the bits that they drop."""
    if len(drop) != len(columns):
        raise ModelFileError(f"{len(columns)} columns of keys drop {short(drop)} bits.")
    for some, bits in zip(keys, drop, strict=True):
        most = 1 << (63 - bits)
        ordered = bool(np.all(some[1:] > some[:-1]))  # differences might not fit 64 bits
        if some.dtype != np.int64 and len(some):
            raise ModelFileError(f"keys must be whole numbers, got {some.dtype}.")
        if len(some) > MAX_GRID_KEYS or not ordered or np.any((some < -most) | (some >= most)):
            raise ModelFileError("the keys of a histogram are out of order, or too many.")
    return Grid(columns, tuple(some.astype(np.int64) for some in keys), tuple(drop))


def _check(counts: Counts) -> None:
    """Refuse counts that no data can have produced."""
    for name, table in counts.tables.items():
        if np.any(table.rows > (1 + ROUNDING) * counts.weight + MIN_CHECKED_WEIGHT):
            raise ModelFileError(f"table {short(name)} has more rows than there are.")
        # Signed sums of zero leave the most room: decays have rounded them all a little.
        room = {
            key: part * 0.0 if key in table.statistic.signed else part
            for key, part in table.sums.items()
        }
        bad = table.statistic.impossible(table.sums, room, table.rows, table.cells)
        bad &= ~((table.rows > 0) & (table.rows < MIN_CHECKED_WEIGHT))[:, None]
        if bad.any():
            c, cell = divmod(int(np.argmax(bad)), table.cells.size)
            raise ModelFileError(
                f"column {short(table.cells.column_of(cell))} has counts of class "
                f"{short(counts.classes[c])} that no data have."
            )
