"""A batch of columns to counts: the one pass over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels, tabular
from deciban.cells import Cells
from deciban.counts import Counts, Table
from deciban.families import categorical, gaussian, histogram
from deciban.schema import Schema
from deciban.source.columns import Batch

FloatArray = NDArray[np.float64]


def count(
    schema: Schema,
    batch: Batch,
    y: NDArray[np.intp],
    classes: labels.Labels,
    weight: FloatArray | None,
) -> Counts:
    """The counts of some rows.

    Three blocks: ``categories``, and for the numeric columns both ``moments``,
    which are exact, and the ``histogram``.
    """
    K = len(classes)
    rows = np.bincount(y, weight, K).astype(np.float64)
    tables: dict[str, Table] = {}
    if schema.categories:
        cells, codes = _categories(schema, batch)
        sums = categorical.count(codes, y, K, weight, cells)
        tables["categories"] = Table("categorical", cells, rows, sums)
    if schema.numbers:
        X = tabular.numbers(schema, batch)
        names = labels.narrowed(schema.numbers)
        columns = Cells(names)
        tables["moments"] = Table(
            "gaussian", columns, rows, gaussian.count(X, y, K, weight, columns)
        )
        grid, table = histogram.tabulate(X, y, K, weight, names)
        tables["histogram"] = Table("histogram", grid, rows, table)
    return Counts(classes, rows, tables)


def _categories(schema: Schema, batch: Batch) -> tuple[Cells, NDArray[np.int64]]:
    columns = tabular.category_columns(schema, batch)
    found = [tabular.factorise(column) for column in columns]
    cells = Cells(labels.narrowed(schema.categories), tuple(values for values, _ in found))
    codes: list[Any] = [codes for _, codes in found]
    return cells, np.ascontiguousarray(np.column_stack(codes))
