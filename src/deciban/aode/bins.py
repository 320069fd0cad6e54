"""Where numbers are cut into bins, before pairs can be counted.

Pairs of values can only be counted when it is known what a value is. So the
first rows of a table, at most ``LOOK``, are held back and counted as
``NaiveBayes`` counts numbers: a histogram on fixed keys, which is then cut into
ten bins of equal frequency, or into its values where there are few. (More bins
serve a column alone; pairs of them become too rare.) Then these rows and all
others are counted in the one pass. The cut points never move again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.aode.tally import Edges
from deciban.encoding import matrices
from deciban.errors import ParameterError
from deciban.families import histogram
from deciban.labels import narrowed
from deciban.schema import Schema
from deciban.sources import column_names
from deciban.sources.labelled import LabelledBatch
from deciban.stats.cuts import EACH, MDL, cut_points

FloatArray = NDArray[np.float64]

#: Bins are cut in about this many rows; those of smaller tables are cut in all rows.
LOOK = 100_000
#: Columns of no more different values are not cut: every value is a bin.
FEW = 16
#: The bins of all other columns.
BINS = 10


def check(stated: Any) -> None:
    """``"auto"``, ``"mdl"``, a whole number >= 2, or ``{column: cut points}``."""
    if isinstance(stated, Mapping):
        for name, edges in stated.items():
            _check_edges(name, edges)
        return
    whole = isinstance(stated, int | np.integer) and not isinstance(stated, bool) and stated >= 2
    if not (whole or (isinstance(stated, str) and stated in ("auto", "mdl"))):
        raise ParameterError(
            f'bins must be "auto", "mdl", a whole number >= 2 or a dict, got {stated!r}.',
            hint="bins=other.bins_ takes the cut points of another model",
        )


def _check_edges(name: Any, edges: Any) -> None:
    try:
        cuts = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.array(np.nan)
    if cuts.ndim != 1 or not np.all(np.isfinite(cuts)) or np.any(np.diff(cuts) <= 0):
        raise ParameterError(
            f"the cut points of column {name!r} must be numbers that rise, got {edges!r}.",
            hint="n cut points make n + 1 bins; none at all make one",
        )


def looked_at(
    parts: Iterator[LabelledBatch], schema: Schema, stated: Any
) -> tuple[Edges, Iterator[LabelledBatch]]:
    """The cut points of the numeric columns, and all rows again."""
    known = dict(stated) if isinstance(stated, Mapping) else {}
    for name in known:
        if name not in schema.numbers:
            raise column_names.unknown(str(name), schema.numbers)
    edges = {name: np.array(cuts, dtype=np.float64) for name, cuts in known.items()}
    if all(name in edges for name in schema.numbers):
        return {name: edges[name] for name in schema.numbers}, parts
    first: list[LabelledBatch] = []
    while sum(part.batch.n_rows for part in first) < LOOK:
        part = next(parts, None)
        if part is None:
            break
        first.append(part)
    rule = "auto" if isinstance(stated, Mapping) else stated
    found = _cut(schema, first, rule)
    return {n: edges.get(n, found[n]) for n in schema.numbers}, chain(first, parts)


def _cut(schema: Schema, first: list[LabelledBatch], rule: Any) -> Edges:
    """The cut points in the first rows, however these came in batches."""
    some = [part for part in first if part.batch.n_rows]
    if not some:
        return {name: np.empty(0) for name in schema.numbers}
    whole = LabelledBatch.concatenate(some)
    if whole.batch.n_rows > LOOK:
        whole = whole.take(np.arange(LOOK))
    X = matrices.numbers(schema, whole.batch)
    names = narrowed(schema.numbers)
    grid, sums = histogram.tabulate(X, whole.codes, len(whole.classes), whole.weight, names)
    columns = histogram.by_column(sums, grid)
    rules = _rules([part.shape[1] for part in columns], rule)
    return {
        name: histogram.edges_of(grid, j, cut_points(columns[j], rules[j]))
        for j, name in enumerate(schema.numbers)
    }


def _rules(sizes: list[int], rule: Any) -> list[int]:
    """How each column is cut, given how many different values it has."""
    if rule == "auto":
        return [EACH if size <= FEW else BINS for size in sizes]
    return [MDL if rule == "mdl" else int(rule)] * len(sizes)
