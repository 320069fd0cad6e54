"""Tables that are joined: their lines as VALUES, or their columns as arrays.

A parser takes seconds for the many expressions of long VALUES, and next to nothing for an array
that is one text. In an array, a text is written as the digits of its bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from deciban.formulas.nodes import Table
from deciban.sql.writer import Writer

__all__ = ["write_lookup"]


def write_lookup(table: Table, writer: Writer) -> str:
    """A SELECT of all lines: the parts of the key k0, k1, ..., and the numbers n0, n1, ..."""
    if writer.dialect.arrays is None:
        return _values(table, writer)
    return _arrays(table, writer)


def _names(table: Table) -> list[str]:
    keys, numbers = len(table.keys), table.numbers.shape[1]
    return [*(f"k{i}" for i in range(keys)), *(f"n{i}" for i in range(numbers))]


def _values(table: Table, writer: Writer) -> str:
    lines = ",\n".join(f"({line})" for line in _lines(table, writer))
    given = ", ".join(f"{writer.dialect.values_column.format(i + 1)} AS {name}"
                      for i, name in enumerate(_names(table)))  # fmt: skip
    return f"SELECT {given} FROM (VALUES\n{lines})"


def _lines(table: Table, writer: Writer) -> Iterator[str]:
    number = writer.dialect.write_number
    for keys, numbers in zip(zip(*table.keys, strict=True), table.numbers.tolist(), strict=True):
        written = [writer.literal(key) for key in keys]
        if None not in written:
            yield ", ".join([*map(str, written), *map(number, numbers)])


def _arrays(table: Table, writer: Writer) -> str:
    """One array a column, taken apart side by side."""
    arrays = writer.dialect.arrays
    assert arrays is not None
    usable = [
        all(writer.literal(key) is not None for key in keys)
        for keys in zip(*table.keys, strict=True)
    ]
    written, given = [], []
    columns: list[Sequence[Hashable]] = [*table.keys, *table.numbers.T.tolist()]
    for name, column in zip(_names(table), columns, strict=True):
        some = [value for value, fits in zip(column, usable, strict=True) if fits]
        text = any(isinstance(value, str) for value in some)
        whole = all(isinstance(value, int) for value in some)
        of = "bigint" if whole else arrays.types[text]
        written.append((_array(some, text, arrays.brackets), of))
        given.append(f"{arrays.decode.format(name)} AS {name}" if text else name)
    names = _names(table)
    return arrays.select.format(
        given=", ".join(given),
        arrays=",\n".join(f"{text}::{of}[]" for text, of in written),
        texts=",\n".join(
            f"{text} AS {name}" for (text, _), name in zip(written, names, strict=True)
        ),
        named=", ".join(
            f"unnest({n}::{of}[]) AS {n}" for (_, of), n in zip(written, names, strict=True)
        ),
        names=", ".join(names),
    )


def _array(values: Sequence[Hashable], text: bool, brackets: str) -> str:
    if text:
        items = [f"x{str(value).encode().hex()}" for value in values]
    else:
        items = [repr(value) for value in values]
    return f"'{brackets[0]}{','.join(items)}{brackets[1]}'"
