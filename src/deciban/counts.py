"""The table of counts: all that training leaves behind.

A :class:`Counts` holds, for every class, the weight of its rows, and for every
block of columns a :class:`Table` of sums that add up. Hence the algebra:

``a + b``
    the counts of both data sets; classes, columns and categories are united
``a - b``
    what is left when the rows of ``b`` are taken back; a count that would fall
    below zero is an error, and nothing changes
``a * s``
    every row's weight times ``s``: decay

Sums of numeric columns are exact whatever the weights; other counts are exact
for whole weights up to 2**53, and fractional weights may show in the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import encoding, families, labels
from deciban.cells import Cells
from deciban.errors import InputError, NegativeCountError, ParameterError
from deciban.exact import ExactSum
from deciban.labels import Labels
from deciban.table import FloatArray, Table

#: Counts that differ by less than this share are the same: the last bits of fractional weights.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of labelled rows, by class and by block of columns.

    >>> a = Counts.of({"size": ["S", "M", "L"]}, [1, 1, -1])
    >>> b = Counts.of({"size": ["S"]}, [-1])
    >>> (a + b).classes, (a + b).weight
    (array([-1,  1]), array([2., 2.]))
    >>> (a + b) - b == a
    True
    >>> b - a
    Traceback (most recent call last):
    ...
    deciban.errors.NegativeCountError: class 1 has less than 2 rows to take away, it has 0. Hint: only rows that were added can be taken away.
    """

    classes: Labels
    weight: FloatArray
    tables: Mapping[str, Table]

    @classmethod
    def of(
        cls,
        X: Mapping[Any, Any] | Any,
        y: Any,
        *,
        family: str | Mapping[Any, str] = "categorical",
        weight: Any = None,
    ) -> Counts:
        """Count columns ``{name: values}``, or the columns of a matrix, by class.

        ``family`` is that of all columns or ``{name: family}``: categorical,
        gaussian, bernoulli, multinomial or complement.

        >>> counts = Counts.of({"x": [1.0, 2.0, 4.0]}, ["a", "b", "b"], family="gaussian")
        >>> counts.tables["gaussian"].sums["total"].floats().ravel()
        array([1., 6.])
        """
        columns = X if isinstance(X, Mapping) else dict(enumerate(np.asarray(X).T))
        labelled = encoding.class_codes(y)
        weights = encoding.weights(weight, len(labelled.codes))
        rows = np.bincount(labelled.codes, weights, len(labelled.classes)).astype(np.float64)
        names: dict[str, list[Any]] = {}
        for name, values in columns.items():
            encoding.check_length(values, len(labelled.codes), f"column {name!r}")
            kind = family if isinstance(family, str) else family[name]
            names.setdefault(kind, []).append(name)
        tables = {}
        for kind, block in names.items():
            cells, matrix = encoding.block(kind, block, [columns[name] for name in block])
            sums = families.family(kind).count(
                matrix, labelled.codes, len(labelled.classes), weights, cells
            )
            tables[kind] = Table(kind, cells, rows, sums)
        return cls(labelled.classes, rows, tables)

    def aligned(self, classes: Labels, shape: Mapping[str, Cells]) -> Counts:
        """The same counts with these classes and, by block, these cells."""
        at = labels.positions(self.classes, classes)
        weight = np.zeros(len(classes))
        weight[at] = self.weight
        tables = {
            name: table.aligned(at, len(classes), shape[name])
            for name, table in self.tables.items()
        }
        return Counts(classes, weight, tables)

    def pruned(self) -> Counts:
        """Without the classes and cells in which nothing is counted any more."""
        keep = self.weight > 0
        tables = {n: t.selected(keep, t.used()) for n, t in self.tables.items() if t.used().any()}
        return Counts(self.classes[keep], self.weight[keep], tables)

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        return _combined(self, other, lambda a, b: a + b)

    def __sub__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        result = _combined(self, other, _difference)
        _check(result, self, other)
        return result.pruned()

    def __mul__(self, factor: object) -> Counts:
        if not isinstance(factor, int | float | np.number):
            return NotImplemented
        scale = float(factor)
        if not (np.isfinite(scale) and scale >= 0):
            raise ParameterError(
                f"counts can be multiplied by a number >= 0, got {factor!r}.",
                hint="0.5 halves the weight of everything learned so far",
            )
        tables = {n: t.mapped(lambda part: part * scale) for n, t in self.tables.items()}
        return Counts(self.classes, self.weight * scale, tables)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Whether both count the same; what is not there counts as zero."""
        if not isinstance(other, Counts):
            return NotImplemented
        try:
            a, b = _united(self, other)
        except InputError:
            return False
        if not _close(a.weight, b.weight):
            return False
        return all(_same_table(a.tables.get(name), b.tables.get(name)) for name in {*a.tables, *b.tables})

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        blocks = ", ".join(f"{n}: {len(t.cells.columns)} columns" for n, t in self.tables.items())
        return f"<Counts of {self.weight.sum():g} rows, {len(self.classes)} classes, {blocks or 'no columns'}>"


def merge(parts: list[Counts]) -> Counts:
    """All of them together."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _united(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Both on the same classes and cells."""
    classes = labels.union(a.classes, b.classes)
    if len(classes) > len(a.classes):
        classes = labels.ordered(classes.tolist())
    shape = {name: table.cells for name, table in {**b.tables, **a.tables}.items()}
    for name in a.tables.keys() & b.tables.keys():
        left, right = a.tables[name], b.tables[name]
        if left.family != right.family:
            raise InputError(
                f"block {name!r} is {left.family} on one side and {right.family} on the other.",
                hint="count both with the same families",
            )
        shape[name] = left.cells.union(right.cells)
    if labels.same(classes, a.classes) and labels.same(classes, b.classes) and all(
        shape[name].same(t.cells) for side in (a, b) for name, t in side.tables.items()
    ):
        return a, b
    return a.aligned(classes, shape), b.aligned(classes, shape)


def _combined(a: Counts, b: Counts, combine: Callable[[Any, Any], Any]) -> Counts:
    a, b = _united(a, b)
    tables = {name: table.combined(b.tables.get(name), combine) for name, table in a.tables.items()}
    for name in b.tables.keys() - a.tables.keys():
        nothing = b.tables[name].mapped(lambda part: part * 0.0)
        tables[name] = nothing.combined(b.tables[name], combine)
    return Counts(a.classes, combine(a.weight, b.weight), tables)


def _difference(a: Any, b: Any) -> Any:
    """``a - b``; what is left of fractional weights by rounding alone is nothing."""
    out = a - b
    if isinstance(out, ExactSum):
        return out
    out[np.abs(out) <= ROUNDING * np.maximum(a, b)] = 0.0
    return out


def _check(result: Counts, a: Counts, b: Counts) -> None:
    """Refuse a difference that is less than nothing."""
    hint = "only rows that were added can be taken away"
    if np.any(result.weight < 0):
        label = result.classes[int(np.argmin(result.weight))]
        has, takes = (_weight_of(side, label) for side in (a, b))
        raise NegativeCountError(
            f"class {label!s} has less than {takes:g} rows to take away, it has {has:g}.", hint=hint
        )
    for name, table in result.tables.items():
        bad = families.family(table.family).impossible(table.sums)
        if bad.any() or np.any(table.rows < 0):
            c, cell = divmod(int(np.argmax(bad)), max(table.cells.size, 1))
            column = int(np.searchsorted(table.cells.offsets, cell, side="right")) - 1
            raise NegativeCountError(
                f"a count of column {table.cells.columns[column]!s} in class {result.classes[c]!s} "
                f"would fall below zero (block {name!r}).",
                hint=hint,
            )


def _weight_of(counts: Counts, label: object) -> float:
    return float(counts.weight[counts.classes == label].sum())


def _same_table(a: Table | None, b: Table | None) -> bool:
    if a is None or b is None:
        table = a or b
        return table is None or not table.used().any()
    return _close(a.rows, b.rows) and all(_close(a.sums[name], b.sums[name]) for name in a.sums)


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, ExactSum):
        if not (a - b).nonzero().any():
            return True
        a, b = a.floats(), b.floats()
    return bool(np.all(np.abs(a - b) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))))
