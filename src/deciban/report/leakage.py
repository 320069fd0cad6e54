"""Leakage suspects: columns that alone predict nearly perfectly.

A column alone answers with the commonest class among the other rows that have
the same value (numbers: that are in the same bin, cut by description length).
Leaving the row itself out keeps values that occur once from looking perfect.
What it is worth is the share of the errors of always guessing that it avoids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deciban.encoding.matrices import category_columns, factorise, numbers
from deciban.families.histogram import sum_bins
from deciban.labels import label_array
from deciban.report.rows import LabelledRows
from deciban.stats.histogram import MDL, cut_points, tabulate

FloatArray = NDArray[np.float64]

#: A column that avoids a larger share of the errors is a suspect.
MAX_AVOIDED_ERRORS = 0.9


@dataclass(frozen=True)
class SingleColumn:
    """A column, the accuracy and ROC area it has alone, and the share of errors that it avoids."""

    column: str
    accuracy: float
    avoided: float
    roc_auc: float

    @property
    def suspect(self) -> bool:
        """Whether this is too good to be true."""
        return self.avoided > MAX_AVOIDED_ERRORS


def single_columns(
    rows: LabelledRows, codes: NDArray[np.intp], n_classes: int
) -> list[SingleColumn]:
    """Every column by itself, the best first; texts are left out."""
    guess = np.bincount(codes, minlength=n_classes).max() / len(codes)
    columns = []
    for name, table in _tables(rows, codes, n_classes):
        right = leave_one_out_accuracy(table)
        avoided = (right - guess) / (1.0 - guess) if guess < 1.0 else 0.0
        area = leave_pair_out_area(table)
        columns.append(SingleColumn(name, right, max(0.0, float(avoided)), area))
    return sorted(columns, key=lambda one: (-one.avoided, one.column))


def leave_one_out_accuracy(table: FloatArray) -> float:
    """The share of rows that are answered right by the others of their cell, (cells, classes).

    >>> leave_one_out_accuracy(np.array([[3.0, 0.0], [0.0, 2.0]]))
    1.0
    """
    order = np.sort(table, axis=1)
    best, next_best = order[:, -1:], order[:, -2:-1] if table.shape[1] > 1 else 0.0 * order
    other = np.where(table == best, next_best, best)
    return float((table * (table - 1.0 > other)).sum() / max(table.sum(), 1.0))


def leave_pair_out_area(table: FloatArray) -> float:
    """The area under the ROC curve, each pair of rows ranked by the others, (cells, classes).

    A pair is a row of a class and one of another; a row's score is the share of the class among
    the other rows of its cell, without the other of the pair. Pairs of one cell, and rows that are
    alone in theirs, tell nothing: they count half. Mean over classes with rows; NaN if only one.

    >>> leave_pair_out_area(np.array([[3.0, 0.0], [0.0, 2.0]]))
    1.0
    >>> leave_pair_out_area(np.eye(6)[:, :2])                     # every value once: nothing known
    0.5
    """
    here = table[:, table.sum(axis=0) > 0]
    if here.shape[1] < 2:
        return float("nan")
    return float(np.mean([_area(mine, here.sum(axis=1) - mine) for mine in here.T]))


def _area(positive: FloatArray, negative: FloatArray) -> float:
    """The share of pairs of a positive and a negative row in the right order, ties being half."""
    total = positive + negative
    others = np.maximum(total - 1.0, 1.0)
    prior = positive.sum() / total.sum()
    for_positive = np.where(total > 1, (positive - 1.0) / others, prior)
    for_negative = np.where(total > 1, positive / others, prior)
    order = np.argsort(for_negative, kind="stable")
    scores, below = for_negative[order], np.append(0.0, np.cumsum(negative[order]))
    lower = below[np.searchsorted(scores, for_positive, "left")]
    not_higher = below[np.searchsorted(scores, for_positive, "right")]
    # A cell's own negative rows have the higher score; they are ties.
    right = 0.5 * (lower + not_higher) + 0.5 * np.where(total > 1, negative, 0.0)
    return float(positive @ right / (positive.sum() * negative.sum()))


def _tables(
    rows: LabelledRows, codes: NDArray[np.intp], n_classes: int
) -> Iterator[tuple[str, FloatArray]]:
    X, names = numbers(rows.schema, rows.batch), rows.schema.numbers
    grid, counts = tabulate(list(X.T), codes, n_classes, None, label_array(list(names)))
    for j, (start, stop) in enumerate(pairwise(grid.offsets)):
        part = counts.values[:, start:stop]
        table = sum_bins(part, cut_points(part, MDL)).T
        holes = np.bincount(codes[np.isnan(X[:, j])], minlength=n_classes)
        yield names[j], np.vstack([table, holes])
    columns = category_columns(rows.schema, rows.batch)
    for name, column in zip(rows.schema.categories, columns, strict=True):
        values, at = factorise(column)
        table = np.zeros((len(values) + 1, n_classes))
        np.add.at(table, (at, codes), 1.0)
        yield name, table
