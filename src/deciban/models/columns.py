"""Which columns of a table a model needs, and what the others held."""

from __future__ import annotations

from dataclasses import replace

from deciban.encoding.matrices import Caster
from deciban.models.protocol import HasCounts, Model, Scored
from deciban.sources.scan import Scan
from deciban.sources.tabular import Row, Value
from deciban.stats.categories import count_by_column
from deciban.stats.cells import Grid
from deciban.stats.table import DenseSum, Table


def required_columns(model: Model) -> list[str]:
    """The columns that are used, and did not hold one value in all rows of training.

    >>> from deciban import NaiveBayes
    >>> X = {"size": ["S", "S", "L"], "shop": ["A", "A", "A"], "id": ["k1", "k2", "k3"]}
    >>> m = NaiveBayes(kinds={"id": "identifier"}).fit(X, [1, 1, 2])
    >>> required_columns(m.model_), constant_values(m.model_)
    (['size'], {'shop': 'A'})
    """
    constant = constant_values(model)
    return [name for name in model.caster.types if name not in constant]


def require_columns(model: Model, table: Scan) -> Caster:
    """Refuse a table that lacks a column which the model needs; how its rows are cast."""
    for name in required_columns(model):
        table.require(name)
    return replace(model.caster, absent=constant_values(model))


def constant_values(model: Scored) -> Row:
    """What columns held in every row of training, by name; None where that was nothing.

    A table that lacks such a column has that value in it. Times are not among them.
    """
    if not isinstance(model, HasCounts):
        return {}
    times = {column.name for column in model.schema.columns if column.unit}
    values: dict[str, Value] = {}
    for table in model.counts.tables.values():
        if isinstance(table.sums.get("count"), DenseSum):
            values |= _constants(table)
    names = model.caster.types.keys() - times
    return {name: value for name, value in values.items() if name in names}


def _constants(table: Table) -> dict[str, Value]:
    """The one value of each column of categories or numbers that has no other, and no holes."""
    cells, rows = table.cells, table.rows.sum()
    constants: dict[str, Value] = {}
    for j, (name, count) in enumerate(zip(cells.columns, count_by_column(table), strict=True)):
        if not count.sum():
            constants[str(name)] = None
        elif count.shape[1] == 1 and count.sum() == rows:
            known = cells.middles(j) if isinstance(cells, Grid) else (cells.values or ())[j]
            constants[str(name)] = known.tolist()[0]
    return constants
