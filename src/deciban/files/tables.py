"""Counts in a file: a document that people can read, and arrays.

Whatever comes back has been checked: shapes agree, counts are finite and not
below zero, labels are unique, the statistic of every block is known, has the sums
that it needs, and finds that some data can have produced them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as short

import numpy as np
from msgspec import UnsetType

from deciban.errors import InputError, ModelFileError
from deciban.files import vocabulary
from deciban.files.arrays import ArrayReader
from deciban.files.description import CountsEntry, TableEntry, Vocabulary
from deciban.files.document import read
from deciban.files.vocabulary import Writer
from deciban.labels import Array, Labels
from deciban.plain import PlainDict
from deciban.stats.cells import MAX_GRID_KEYS, Cells, Grid
from deciban.stats.counts import Counts
from deciban.stats.registry import STATISTICS
from deciban.stats.rounding import ROUNDING
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
    deciban.errors.ModelFileError: 'weight' has -1.0 among its numbers; 0 to 1e+150 may be.
    """
    left = ArrayReader(arrays)
    labels = iter(vocabulary.read(_vocabularies(entry), left.starting("labels.")))
    classes = next(labels)
    weight = left.amounts("weight", (len(classes),))
    tables: dict[str, Table] = {}
    for number, table in enumerate(entry.tables):
        if table.name in tables:
            raise ModelFileError(f"table {number} has the name of another.")
        own = ArrayReader(left.starting(f"table{number}."))
        tables[table.name] = _table_from(table, labels, own, len(classes))
    left.done()
    counts = Counts(classes, weight, tables)
    _check(counts)
    return counts


def _vocabularies(entry: CountsEntry) -> list[Vocabulary]:
    """All labels of some counts, in the order in which they are written."""
    tables = ((table.columns, *(table.values or ())) for table in entry.tables)
    return [entry.classes, *(labels for table in tables for labels in table)]


def _table_from(
    entry: TableEntry, labels: Iterator[Labels], arrays: ArrayReader, n_classes: int
) -> Table:
    name = entry.statistic
    if name not in STATISTICS:
        raise ModelFileError(f"the statistic {short(name)} is not known.")
    statistic = STATISTICS[name]
    columns = next(labels)
    cells = _cells(entry, columns, [next(labels) for _ in entry.values or ()])
    if type(cells) is not statistic.cells or (cells.values is not None) != statistic.by_value:
        raise ModelFileError(f"the cells of statistic {name} have the wrong kind.")
    rows = arrays.amounts("rows", (n_classes,))
    sums = statistic.from_arrays(arrays, (n_classes, cells.size))
    arrays.done()
    return Table(statistic, cells, rows, sums)


def _cells(entry: TableEntry, columns: Labels, values: list[Labels]) -> Cells:
    if entry.values is None:
        return Cells(columns)
    if len(values) != len(columns):
        raise ModelFileError(f"{len(columns)} columns have the values of {len(values)}.")
    if isinstance(entry.drop, UnsetType):
        return Cells(columns, tuple(values))
    return _grid(columns, values, entry.drop)


def _grid(columns: Labels, keys: list[Labels], drop: list[int]) -> Grid:
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
        bad = table.statistic.impossible(table.sums, None, table.rows, table.cells)
        bad &= ~((table.rows > 0) & (table.rows < MIN_CHECKED_WEIGHT))[:, None]
        if bad.any():
            c, cell = divmod(int(np.argmax(bad)), table.cells.size)
            raise ModelFileError(
                f"column {short(table.cells.column_of(cell))} has counts of class "
                f"{short(counts.classes[c])} that no data have."
            )
