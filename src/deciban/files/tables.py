"""Counts in a file: a document that people can read, and arrays.

Whatever comes back has been checked: shapes agree, counts are finite and not
below zero, labels are unique, the family of every block is known, has the sums
that it needs, and finds that some data can have produced them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import encoding, text
from deciban.errors import InputError, ModelFileError
from deciban.families import FAMILIES, family
from deciban.files.document import check_keys, field
from deciban.files.vocabulary import Reader, Writer
from deciban.labels import Labels
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.exact import ExactSum
from deciban.stats.grid import MOST, Grid
from deciban.stats.rounding import ROUNDING
from deciban.stats.sparse import SparseSum
from deciban.stats.table import Table

#: Exact sums have no more digits than this, and none is farther from the point.
MOST_DIGITS = 512
#: Below this a weight has lost digits itself, and nothing can be checked against it.
TINY = 1e-290

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Pattern:
    """What a sum of a family looks like."""

    exact: bool
    signed: bool
    sparse: bool = False


@cache
def patterns(name: str) -> tuple[bool, dict[str, Pattern]]:
    """Whether the columns of a family have values, and what it sums: found by counting one row.

    >>> patterns("gaussian")[1]["total"]
    Pattern(exact=True, signed=True, sparse=False)
    """
    block = text.block if name == "words" else partial(encoding.block, name)
    cells, row = block(["x"], [np.array([-1.0])])
    sums = family(name).count(row, np.zeros(1, dtype=np.intp), 1, None, cells)
    exact = {name: part for name, part in sums.items() if isinstance(part, ExactSum)}
    signed = {name for name, part in exact.items() if part.negative().any()}
    return cells.values is not None, {
        n: Pattern(n in exact, n in signed, isinstance(part, SparseSum)) for n, part in sums.items()
    }


# ---------------------------------------------------------------------- writing


def counts_to(counts: Counts) -> tuple[dict[str, Any], Arrays]:
    """The counts as a document and arrays.

    >>> document, arrays = counts_to(Counts.of({"size": ["S", "M"]}, ["ham", "spam"]))
    >>> document["classes"], sorted(arrays)
    ({'dtype': 'str', 'labels': ['ham', 'spam']}, ['table0.rows', 'table0.sum.count', 'weight'])
    """
    writer = Writer()
    document: dict[str, Any] = {"classes": writer.put(counts.classes), "tables": []}
    arrays: Arrays = {"weight": counts.weight}
    for number, (name, table) in enumerate(counts.tables.items()):
        entry, sums = _table_to(table, writer)
        document["tables"].append({"name": name, **entry})
        arrays |= {f"table{number}.{key}": part for key, part in sums.items()}
    arrays |= {f"labels.{key}": part for key, part in writer.arrays().items()}
    try:
        counts_from(document, arrays)
    except ModelFileError as error:
        raise InputError(f"these counts cannot be saved: {error}") from None
    return document, arrays


def _table_to(table: Table, writer: Writer) -> tuple[dict[str, Any], Arrays]:
    values = table.cells.values
    bases: dict[str, int] = {}
    arrays: Arrays = {"rows": table.rows}
    for name, part in table.sums.items():
        if isinstance(part, ExactSum):
            numbers = part.carried()  # the same numbers give the same digits
            bases[name], arrays[f"sum.{name}"] = numbers.base, numbers.digits
        elif isinstance(part, SparseSum):
            arrays[f"sum.{name}.starts"] = part.starts
            arrays[f"sum.{name}.classes"] = part.classes.astype(np.int32)
            arrays[f"sum.{name}.values"] = part.amounts
        else:
            arrays[f"sum.{name}"] = part
    entry: dict[str, Any] = {
        "family": table.family,
        "columns": writer.put(table.cells.columns),
        "values": None if values is None else [writer.put(column) for column in values],
        "base": bases,
    }
    if isinstance(table.cells, Grid):
        entry["drop"] = list(table.cells.drop)
    return entry, arrays


# ---------------------------------------------------------------------- reading


def counts_from(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Counts:
    """The counts, checked.

    >>> counts = Counts.of({"size": ["S", "M"]}, ["ham", "spam"])
    >>> document, arrays = counts_to(counts)
    >>> counts_from(document, arrays) == counts
    True
    >>> counts_from(document, arrays | {"weight": np.array([1.0, -1.0])})
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'weight' must be finite and not below zero, got -1.0.
    """
    check_keys(document, "classes", "tables")
    left = dict(arrays)
    reader = Reader(_popped(left, "labels."))
    classes = reader.take(field(document, "classes", dict))
    weight = _amounts(left, "weight", (len(classes),))
    tables: dict[str, Table] = {}
    for number, entry in enumerate(field(document, "tables", list)):
        if not isinstance(entry, dict) or field(entry, "name", str) in tables:
            raise ModelFileError(f"table {number} has no name, or that of another.")
        table = _table_from(entry, reader, _popped(left, f"table{number}."), len(classes))
        tables[entry["name"]] = table
    reader.done()
    _refuse_rest(left)
    counts = Counts(classes, weight, tables)
    _check(counts)
    return counts


def _popped(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of that prefix, without it; they are gone from where they were."""
    found = [name for name in arrays if name.startswith(prefix)]
    return {name[len(prefix) :]: arrays.pop(name) for name in found}


def _refuse_rest(arrays: Mapping[str, NDArray[Any]]) -> None:
    if arrays:
        raise ModelFileError(f"array {next(iter(arrays))!r} belongs to nothing.")


def _table_from(entry: dict[str, Any], reader: Reader, arrays: Arrays, n_classes: int) -> Table:
    check_keys(entry, "name", "family", "columns", "values", "base", "drop")
    name = field(entry, "family", str)
    if name not in FAMILIES:
        raise ModelFileError(f"the family {short(name)} is not known.")
    valued, expected = patterns(name)
    cells = _cells(entry, reader, valued)
    if isinstance(cells, Grid) != (name == "histogram"):
        raise ModelFileError(f"the cells of family {name} have the wrong kind.")
    rows = _amounts(arrays, "rows", (n_classes,))
    shape, bases = (n_classes, cells.size), field(entry, "base", dict)
    check_keys(bases, *(key for key, pattern in expected.items() if pattern.exact))
    sums = {
        key: _exact(arrays, f"sum.{key}", shape, field(bases, key, int), pattern.signed)
        if pattern.exact
        else _sparse(arrays, f"sum.{key}", shape)
        if pattern.sparse
        else _amounts(arrays, f"sum.{key}", shape)
        for key, pattern in expected.items()
    }
    _refuse_rest(arrays)
    return Table(name, cells, rows, sums)


def _cells(entry: dict[str, Any], reader: Reader, valued: bool) -> Cells:
    columns = reader.take(field(entry, "columns", dict))
    if not valued:
        field(entry, "values", type(None))
        return Cells(columns)
    stated = field(entry, "values", list)
    if len(stated) != len(columns) or not all(isinstance(column, dict) for column in stated):
        raise ModelFileError(f"{len(columns)} columns have the values of {len(stated)}.")
    values = tuple(reader.take(column) for column in stated)
    if "drop" not in entry:
        return Cells(columns, values)
    return _grid(columns, values, field(entry, "drop", list))


def _grid(columns: Labels, keys: tuple[Labels, ...], drop: list[Any]) -> Grid:
    """A grid: keys in order, and the bits that they drop."""
    if len(drop) != len(columns) or not all(type(bits) is int and 0 <= bits < 64 for bits in drop):
        raise ModelFileError(f"{len(columns)} columns of keys drop {short(drop)} bits.")
    for some, bits in zip(keys, drop, strict=True):
        most = 1 << (63 - bits)
        ordered = not np.any(np.diff(some) <= 0)
        if some.dtype != np.int64 and len(some):
            raise ModelFileError(f"keys must be whole numbers, got {some.dtype}.")
        if len(some) > MOST or not ordered or np.any((some < -most) | (some >= most)):
            raise ModelFileError("the keys of a histogram are out of order, or too many.")
    return Grid(columns, tuple(some.astype(np.int64) for some in keys), tuple(drop))


def _array(arrays: Arrays, name: str, dtype: type, shape: tuple[int, ...]) -> NDArray[Any]:
    """The array of that name, type and shape; it is gone from where it was."""
    array = arrays.pop(name, None)
    if array is None:
        raise ModelFileError(f"array {name!r} is missing.")
    if array.dtype != dtype or array.shape != shape:
        raise ModelFileError(
            f"array {name!r} must be {dtype.__name__} of shape {shape}, "
            f"got {array.dtype} of shape {array.shape}."
        )
    return array


def _amounts(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = _array(arrays, name, np.float64, shape)
    bad = array[~(np.isfinite(array) & (array >= 0))]
    if bad.size:
        raise ModelFileError(f"{name!r} must be finite and not below zero, got {bad[0]}.")
    return array


def _sparse(arrays: Arrays, name: str, shape: tuple[int, int]) -> SparseSum:
    """Entries in the order of cells and classes, none twice."""
    n = arrays[f"{name}.values"].size if f"{name}.values" in arrays else 0
    starts = _array(arrays, f"{name}.starts", np.int64, (shape[1] + 1,))
    of = _array(arrays, f"{name}.classes", np.int32, (n,))
    values = _amounts(arrays, f"{name}.values", (n,))
    if starts[0] or starts[-1] != n or np.any(np.diff(starts) < 0):
        raise ModelFileError(f"the entries of {name!r} are not those of its cells.")
    if n and not (of.min() >= 0 and of.max() < shape[0]):
        raise ModelFileError(f"{name!r} has a class that is not there.")
    keys = np.repeat(np.arange(shape[1]), np.diff(starts)) * shape[0] + of
    if np.any(np.diff(keys) <= 0):
        raise ModelFileError(f"the entries of {name!r} are out of order.")
    return SparseSum.of_keys(keys, values, shape)


def _exact(arrays: Arrays, name: str, shape: tuple[int, ...], base: int, signed: bool) -> ExactSum:
    """Sums in carried digits: all but the last are in 0 .. 2**32 - 1, the last has the sign."""
    length = arrays[name].shape[-1] if name in arrays and arrays[name].ndim else 0
    digits = _array(arrays, name, np.int64, (*shape, length))
    if not 1 <= length <= MOST_DIGITS or abs(base) > MOST_DIGITS:
        raise ModelFileError(f"{name!r} has {length} digits from place {base}.")
    last = digits[..., -1]
    if np.any(digits[..., :-1] >> 32) or np.any(np.abs(last) >> 33):
        raise ModelFileError(f"{name!r} has a digit that no sum has.")
    if not signed and np.any(last < 0):
        raise ModelFileError(f"{name!r} is below zero.")
    return ExactSum(digits, base)


def _check(counts: Counts) -> None:
    """Refuse counts that no data can have produced."""
    for name, table in counts.tables.items():
        if np.any(table.rows > (1 + ROUNDING) * counts.weight + TINY):
            raise ModelFileError(f"table {short(name)} has more rows than there are.")
        _, expected = patterns(table.family)
        # Signed sums of zero leave the most room: decays have rounded them all a little.
        room = {
            key: part.zeroed(part.nonzero()) if expected[key].signed else part
            for key, part in table.sums.items()
        }
        bad = family(table.family).impossible(dict(table.sums), room, table.rows, table.cells)
        bad &= ~((table.rows > 0) & (table.rows < TINY))[:, None]
        if bad.any():
            c, cell = divmod(int(np.argmax(bad)), table.cells.size)
            raise ModelFileError(
                f"column {short(table.cells.column_of(cell))} has counts of class "
                f"{short(counts.classes[c])} that no data have."
            )
