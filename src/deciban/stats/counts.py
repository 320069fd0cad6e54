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

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from deciban import encoding, labels
from deciban.errors import (
    DecibanError,
    InputError,
    NegativeCountError,
    ParameterError,
    ShapeError,
)
from deciban.labels import Labels
from deciban.sources.frames import columns_by_name
from deciban.sources.tabular import Tabular
from deciban.stats import rounding
from deciban.stats.cells import Cells
from deciban.stats.statistic import FloatArray, Statistic
from deciban.stats.table import Table

__all__ = ["Counts", "Table", "merge"]


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of labelled rows, by class and by block of columns.

    >>> a = Counts.of({"size": ["S", "M", "L"]}, [1, 1, -1])
    >>> b = Counts.of({"size": ["S"]}, [-1])
    >>> (a + b).classes, (a + b).weight
    (array([-1,  1]), array([2., 2.]))
    >>> (a + b) - b == a
    True
    >>> b - a  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.NegativeCountError: 2 rows of class 1 cannot be taken away, it has 0. Hint: ...
    """

    classes: Labels
    weight: FloatArray
    tables: Mapping[str, Table]

    #: numpy leaves ``number * counts`` to this class.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(
        cls,
        X: Tabular,
        y: Any,
        *,
        family: str | Mapping[Hashable, str] = "categorical",
        weight: Any = None,
    ) -> Counts:
        """Count columns ``{name: values}``, or the columns of a frame or matrix, by class.

        ``family`` is that of all columns or ``{name: family}``: categorical,
        gaussian, bernoulli, multinomial, complement or words.

        >>> counts = Counts.of({"x": [1.0, 2.0, 4.0]}, ["a", "b", "b"], family="gaussian")
        >>> counts.tables["gaussian"].sums["total"].floats().ravel()
        array([1., 6.])
        """
        from deciban import families

        columns = columns_by_name(X)
        labelled = encoding.class_codes(y)
        weights = encoding.weights(weight, len(labelled.codes))
        rows = np.bincount(labelled.codes, weights, len(labelled.classes)).astype(np.float64)
        tables = {}
        for kind, block in _by_family(columns, family).items():
            statistic = families.get(kind).statistic
            cells, matrix = _encode(kind, statistic, block, len(labelled.codes))
            statistic.check(matrix, cells.columns)
            sums = statistic.count(matrix, labelled.codes, len(rows), weights, cells)
            tables[kind] = Table(statistic, cells, rows, sums)
        return cls(labelled.classes, rows, tables)

    def align(self, classes: Labels, shape: Mapping[str, Cells]) -> Counts:
        """These counts with these classes and, by block, these cells."""
        at = labels.positions(self.classes, classes)
        if np.any(at < 0):
            raise InputError(
                f"class {self.classes[at < 0][0]!s} has counts that would be lost.",
                hint="name every class that was counted",
            )
        weight = np.zeros(len(classes))
        weight[at] = self.weight
        tables = {
            name: table.align(at, len(classes), shape.get(name, table.cells))
            for name, table in self.tables.items()
        }
        return Counts(classes, weight, tables)

    def prune(self) -> Counts:
        """Without the classes and cells in which nothing is counted any more.

        >>> a, b = Counts.of({"x": ["S"]}, [1]), Counts.of({"x": ["L"]}, [2])
        >>> (a + b * 0).classes, (a + b * 0).prune().classes
        (array([1, 2]), array([1]))
        """
        counted = [self.weight > 0, *(table.rows > 0 for table in self.tables.values())]
        keep = np.any(counted, axis=0)
        tables = {name: table.select(keep, table.used()) for name, table in self.tables.items()}
        return Counts(self.classes[keep], self.weight[keep], tables)

    def scale_classes(self, factors: FloatArray) -> Counts:
        """Every class's rows times its factor, exactly as if counted with that weight.

        >>> Counts.of({"x": ["S", "L"]}, [1, 2]).scale_classes(np.array([1.0, 3.0])).weight
        array([1., 3.])
        """
        tables = {name: table.scale_classes(factors) for name, table in self.tables.items()}
        return Counts(self.classes, self.weight * factors, tables)

    def __add__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = _unite(self, other)
        tables = {name: table + b.tables[name] for name, table in a.tables.items()}
        return Counts(a.classes, a.weight + b.weight, tables)

    def __sub__(self, other: object) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = _unite(self, other)
        weight = rounding.difference(a.weight, b.weight)
        _refuse_negative_rows(a, b, weight)
        tables = {name: _subtract(a, name, b.tables[name]) for name in a.tables}
        return Counts(a.classes, weight, tables).prune()

    def __mul__(self, factor: object) -> Counts:
        if not isinstance(factor, Real):
            return NotImplemented
        scale = float(factor)
        if not (np.isfinite(scale) and scale >= 0):
            raise ParameterError(
                f"counts can be multiplied by a number >= 0, got {factor!r}.",
                hint="0.5 halves the weight of everything learned so far",
            )
        tables = {name: table * scale for name, table in self.tables.items()}
        return Counts(self.classes, self.weight * scale, tables)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Whether both count the same; what is not there counts as zero."""
        if not isinstance(other, Counts):
            return NotImplemented
        try:
            a, b = _unite(self, other)
        except InputError:
            return False
        return rounding.same(a.weight, b.weight) and all(
            table.equals(b.tables[name]) for name, table in a.tables.items()
        )

    def ordered(self) -> Counts:
        """The counts with the values of every column in their own order.

        Counts that were added up in another order have them in another order, and sums over them
        would differ in the last bit.

        >>> Counts.of({"x": ["b", "a"]}, [1, 1]).ordered().tables["categorical"].cells.values
        (array(['a', 'b'], dtype='<U1'),)
        """
        tables, classes = dict(self.tables), np.arange(len(self.classes))
        for name, table in self.tables.items():
            if table.cells.values is not None and (moved := table.cells.ordered()) is not None:
                cells, at = moved
                shape = len(classes), len(at)
                sums = {key: part.place(classes, at, shape) for key, part in table.sums.items()}
                tables[name] = Table(table.statistic, cells, table.rows, sums)
        return Counts(self.classes, self.weight, tables)

    def to_bytes(self) -> bytes:
        """The counts in the format of model files: for another process, or to keep.

        Equal counts give equal bytes. Nothing in them can run, and all of them are under checksums.

        >>> counts = Counts.of({"size": ["S", "M", "L"]}, [1, 1, -1])
        >>> Counts.from_bytes(counts.to_bytes()) == counts
        True
        """
        return bytes(_format().to_bytes(self))

    @staticmethod
    def from_bytes(data: bytes) -> Counts:
        """The counts that :meth:`to_bytes` wrote; every part of them is checked.

        >>> Counts.from_bytes(b"spam")
        Traceback (most recent call last):
        ...
        deciban.errors.ModelFileError: these bytes cannot be read: it has 4 bytes. Hint: the file \
was cut off, or is another.
        """
        counts: Counts = _format().from_bytes(data)
        return counts

    def __repr__(self) -> str:
        blocks = [f"{n}: {len(t.cells.columns)} columns" for n, t in self.tables.items()]
        return (
            f"<Counts of {self.weight.sum():g} rows, {len(self.classes)} classes, "
            f"{', '.join(blocks) or 'no columns'}>"
        )

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        by_class = zip(self.classes.tolist(), self.weight.tolist(), strict=True)
        rows = [(str(label), f"{weight:,.6g}") for label, weight in by_class]
        blocks = [(name, str(len(table.cells.columns))) for name, table in self.tables.items()]
        return html_tables(
            (f"counts of {self.weight.sum():,.6g} rows", [("class", "rows"), *rows]),
            ("", [("counted as", "columns"), *blocks]),
        )


def _format() -> Any:
    """The format of files, which is made of counts and so above them: it is asked for by name."""
    return import_module("deciban.files.counts")


def merge(parts: Iterable[Counts]) -> Counts:
    """All of them together.

    >>> merge(Counts.of({"x": [value]}, [1]) for value in "abc")
    <Counts of 3 rows, 1 classes, categorical: 1 columns>
    """
    total: Counts | None = None
    for part in parts:
        total = part if total is None else total + part
    if total is None:
        raise InputError("there are no counts to merge.", hint="give at least one")
    return total


# ---------------------------------------------------------------------- from data


def _by_family(
    columns: Mapping[Hashable, ArrayLike], family: str | Mapping[Hashable, str]
) -> dict[str, dict[Hashable, ArrayLike]]:
    """The columns of each family."""
    from deciban import families

    kinds = family if isinstance(family, Mapping) else dict.fromkeys(columns, family)
    blocks: dict[str, dict[Hashable, ArrayLike]] = {}
    for name, values in columns.items():
        if name not in kinds:
            raise ParameterError(
                f"column {name!r} has no family.", hint="name one for every column"
            )
        families.get(kinds[name])
        blocks.setdefault(kinds[name], {})[name] = values
    return blocks


def _encode(
    kind: str, statistic: Statistic, block: Mapping[Hashable, ArrayLike], n_rows: int
) -> tuple[Cells, Any]:
    """The cells of a block and its matrix."""
    try:
        for name, values in block.items():
            encoding.check_length(values, n_rows, f"column {name!r}")
        cells, matrix = statistic.encode(list(block), list(block.values()))
    except DecibanError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {', '.join(map(repr, block))} cannot be counted as {kind}: {error}.",
            hint="a column is a flat list or array; only categorical ones hold other than numbers",
        ) from None
    if isinstance(matrix, np.ndarray) and matrix.shape != (n_rows, len(block)):
        raise ShapeError(
            f"{len(block)} columns of {n_rows} values are needed, got {matrix.shape[::-1]}.",
            hint="a column is a flat list or array",
        )
    return cells, matrix


# ---------------------------------------------------------------------- two at a time


def _unite(a: Counts, b: Counts) -> tuple[Counts, Counts]:
    """Both on the same classes, blocks and cells."""
    classes = labels.union(a.classes, b.classes)
    if len(classes) > len(a.classes):
        classes = labels.sort(classes)
    shape = {name: table.cells for name, table in a.tables.items()}
    for name, table in b.tables.items():
        shape[name] = _unite_cells(name, a.tables[name], table) if name in shape else table.cells
    return _spread(a, classes, shape, b), _spread(b, classes, shape, a)


def _unite_cells(name: str, left: Table, right: Table) -> Cells:
    """The cells of a block that both have."""
    if left.statistic.name != right.statistic.name:
        raise InputError(
            f"block {name!r} is {left.statistic.name} on one side and {right.statistic.name} "
            "on the other.",
            hint="count both with the same families",
        )
    return left.cells.union(right.cells)


def _spread(a: Counts, classes: Labels, shape: Mapping[str, Cells], other: Counts) -> Counts:
    """These counts on wider axes, with nothing counted in the blocks of the other alone."""
    fits = all(shape[name].same(table.cells) for name, table in a.tables.items())
    wide = a if fits and labels.same(classes, a.classes) else a.align(classes, shape)
    if len(shape) == len(wide.tables):
        return wide
    tables = {
        name: wide.tables.get(name)
        or Table.empty(other.tables[name].statistic, cells, len(classes))
        for name, cells in shape.items()
    }
    return Counts(wide.classes, wide.weight, tables)


def _refuse_negative_rows(a: Counts, b: Counts, left: FloatArray) -> None:
    if np.any(left < 0):
        c = int(np.argmin(left))
        raise NegativeCountError(
            f"{b.weight[c]:g} rows of class {a.classes[c]!s} cannot be taken away, "
            f"it has {a.weight[c]:g}.",
            hint="only rows that were added can be taken away",
        )


def _subtract(a: Counts, name: str, part: Table) -> Table:
    """What is left of a block; less than nothing is refused."""
    whole = a.tables[name]
    left = whole.subtract(part)
    if np.any(left.rows < 0):
        _refuse_part(f"block {name!r}", a.classes[int(np.argmin(left.rows))])
    bad = whole.statistic.impossible(left.sums, whole.sums, left.rows, whole.cells)
    if bad.any():
        c, cell = divmod(int(np.argmax(bad)), whole.cells.size)
        _refuse_part(f"column {whole.cells.column_of(cell)!s}", a.classes[c])
    return left


def _refuse_part(where: str, label: object) -> NoReturn:
    raise NegativeCountError(
        f"the counts of {where} in class {label!s} do not hold what is taken away.",
        hint="only rows that were added can be taken away",
    )
