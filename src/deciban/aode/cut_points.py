"""The cut points of numeric columns, selected before pairs are counted.

Pairs of values can only be counted when it is known what a value is. So the
first rows of a table, at most ``CUTTING_ROWS``, are held back and counted as
``NaiveBayes`` counts numbers: a histogram on fixed keys, which is then cut into
ten bins of equal frequency, or into its values where there are few. (More bins
serve a column alone; pairs of them become too rare.) Below a hundred rows there are fewer: as many
as the square root of the rows, so that each has as many rows as there are bins (proportional
discretisation, Yang & Webb 2001). Then these rows and all others are counted in one pass. The cut
points never move again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.encoding import matrices
from deciban.errors import ParameterError
from deciban.families.histogram import edges_of
from deciban.labels import label_array
from deciban.schema import Schema
from deciban.sources import column_names
from deciban.sources.labelled import LabelledBatch
from deciban.stats.histogram import EACH, MDL, cut_points, tabulate

FloatArray = NDArray[np.float64]
#: By numeric column, the least value of each bin but the first, in increasing order.
CutPoints = Mapping[str, FloatArray]
#: A rule, ``"auto"`` or ``"mdl"``, a number of bins, or cut points by column.
Bins = str | int | Mapping[str, ArrayLike]

#: Cut points are selected on about this many rows; those of smaller tables on all rows.
CUTTING_ROWS = 100_000
#: The bins of a number: the square root of the rows, between these.
MIN_BINS, MAX_BINS = 2, 10
#: Columns of no more different values than so many times the bins are not cut: each is a bin.
MAX_UNCUT_VALUES_PER_BIN = 1.6


def check(bins: Bins) -> None:
    """``"auto"``, ``"mdl"``, a whole number >= 2, or ``{column: cut points}``."""
    if isinstance(bins, Mapping):
        for name, cuts in bins.items():
            _check_cuts(name, cuts)
        return
    whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool) and bins >= 2
    if not (whole or (isinstance(bins, str) and bins in ("auto", "mdl"))):
        raise ParameterError(
            f'bins must be "auto", "mdl", a whole number >= 2 or a dict, got {bins!r}.',
            hint="bins=other.bins_ takes the cut points of another model",
        )


def _check_cuts(name: str, cuts: ArrayLike) -> None:
    try:
        values = np.asarray(cuts, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not np.all(np.isfinite(values)) or np.any(np.diff(values) <= 0):
        raise ParameterError(
            f"the cut points of column {name!r} must be numbers that rise, got {cuts!r}.",
            hint="n cut points make n + 1 bins; none at all make one",
        )


def select(
    parts: Iterator[LabelledBatch], schema: Schema, bins: Bins
) -> tuple[CutPoints, Iterator[LabelledBatch]]:
    """The cut points of the numeric columns, and an iterator over all rows again."""
    stated, rule = (bins, "auto") if isinstance(bins, Mapping) else ({}, bins)
    for name in stated:
        if name not in schema.numbers:
            raise column_names.unknown(str(name), schema.numbers)
    known = {name: np.array(cuts, dtype=np.float64) for name, cuts in stated.items()}
    if all(name in known for name in schema.numbers):
        return {name: known[name] for name in schema.numbers}, parts
    first: list[LabelledBatch] = []
    while sum(part.batch.n_rows for part in first) < CUTTING_ROWS:
        part = next(parts, None)
        if part is None:
            break
        first.append(part)
    cut = _cut(schema, first, rule)
    return {n: known.get(n, cut[n]) for n in schema.numbers}, chain(first, parts)


def _cut(schema: Schema, first: list[LabelledBatch], rule: str | int) -> CutPoints:
    """Cut points from the first rows; the size of their batches makes no difference."""
    some = [part for part in first if part.batch.n_rows]
    if not some:
        return {name: np.empty(0) for name in schema.numbers}
    whole = LabelledBatch.concatenate(some)
    if whole.batch.n_rows > CUTTING_ROWS:
        whole = whole.take(np.arange(CUTTING_ROWS))
    X = matrices.numbers(schema, whole.batch)
    names, n_classes = label_array(schema.numbers), len(whole.classes)
    grid, counts = tabulate(list(X.T), whole.codes, n_classes, whole.weight, names)
    columns = [counts.values[:, a:b] for a, b in pairwise(grid.offsets)]
    n_rows = whole.batch.n_rows if whole.weight is None else float(whole.weight.sum())
    rules = _rules([column.shape[1] for column in columns], rule, n_rows)
    return {
        name: edges_of(grid, j, cut_points(columns[j], rules[j]))
        for j, name in enumerate(schema.numbers)
    }


def _rules(n_values: list[int], rule: str | int, n_rows: float) -> list[int]:
    """The rule for each column, given how many different values it has among so many rows."""
    if rule != "auto":
        return [MDL if rule == "mdl" else int(rule)] * len(n_values)
    n_bins = default_bins(n_rows)
    return [EACH if size <= MAX_UNCUT_VALUES_PER_BIN * n_bins else n_bins for size in n_values]


def default_bins(n_rows: float) -> int:
    """How many bins a number has where so many rows are to fill them.

    >>> [default_bins(n_rows) for n_rows in (4, 16, 64, 100, 1_000_000)]
    [2, 4, 8, 10, 10]
    """
    return int(np.clip(np.rint(np.sqrt(n_rows)), MIN_BINS, MAX_BINS))
