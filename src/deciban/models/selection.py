"""What the counts select: the family of each column, its smoothing, and whether holes matter.

Everything here is arithmetic on the table; no row is read again.

- *The family of a column* is the candidate with the least leave-one-out loss when the column is
  used alone: of numbers a bell curve, 5, 10 or 20 bins of equal frequency, or every value by
  itself where there are few; families say themselves what may be tried. Where the caller asks for
  a family of numbers that has no candidate for a column, that column is free.
- *Smoothing* is chosen by empirical Bayes, column by column: the ``lam`` under which the counts
  of the column are likeliest, when each class's shares are drawn from a Dirichlet(lam).
- *Missing values* say something of their own where "missing or not", used alone, has a smaller
  leave-one-out loss than the prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deciban import families
from deciban.families.alone import best_candidates, missing_matters, smooth_columns
from deciban.families.protocol import Candidate, CountedColumns, ForKind
from deciban.models.options import Options
from deciban.schema import Schema
from deciban.stats.categories import CATEGORIES, count_of
from deciban.stats.counts import Counts
from deciban.stats.histogram import HISTOGRAM
from deciban.stats.moments import MOMENTS

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """How one counted column is modelled.

    ``loss`` is the leave-one-out loss of the column alone, in nats a row; ``missing`` says
    whether a missing value says something of its own; ``kind`` is that of the counted column.
    """

    column: str
    family: str
    bins: int
    smoothing: float
    missing: bool
    loss: float
    kind: str = field(repr=False)

    @property
    def shape(self) -> str:
        """The kind of model: ``"categories"``, ``"gaussian"``, ``"histogram"``, ..."""
        return families.get(self.family).shape

    @property
    def candidate(self) -> Candidate:
        """What the family is asked for."""
        return Candidate(self.smoothing, self.bins)

    def describe(self) -> str:
        """The model of the column in a few words."""
        return families.get(self.family).describe(self)


class Choices(dict[str, Choice]):
    """How each counted column is modelled, by its name."""

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {choice.describe()}" for name, choice in self.items())

    def _repr_html_(self) -> str:
        from deciban.templates import html_tables

        rows = [
            (c.column, c.describe(), f"{c.smoothing:.3g}", "yes" if c.missing else "no",
             f"{c.loss:.3f}")
            for c in self.values()
        ]  # fmt: skip
        head = ("counted as", "shape", "smoothing", "holes say something", "loss alone")
        return html_tables(("", [head, *rows]))


def select(counts: Counts, schema: Schema, options: Options) -> dict[str, Choice]:
    """A choice for every column that is counted."""
    selected = {}
    for columns in counted_columns(counts, schema, options):
        best, missing = _best_candidates(columns), _missing_values(columns, options.missing)
        for j, (name, (family, one)) in enumerate(zip(columns.names, best, strict=True)):
            how = (one.bins, one.smoothing, missing[j], one.loss)
            selected[name] = Choice(name, family, *how, kind=columns.kinds[j])
    return selected


def _best_candidates(columns: CountedColumns) -> list[tuple[str, Candidate]]:
    """The family and the candidate of least leave-one-out loss of each column."""
    return best_candidates(candidates(columns))


def candidates(columns: CountedColumns) -> list[list[tuple[str, Candidate]]]:
    """What may be chosen for each column: the name of a family, and what it offers.

    A column to which what the caller asks for does not apply, such as a bell curve to a cyclic
    one, is left to all families.
    """
    free = columns.option == "auto" or HISTOGRAM.name not in columns.tables
    tried = _candidates(columns, None if free else columns.option)
    if not all(tried):
        others = _candidates(replace(columns, option="auto"), None)
        tried = [mine or theirs for mine, theirs in zip(tried, others, strict=True)]
    return tried


def _candidates(columns: CountedColumns, option: str | None) -> list[list[tuple[str, Candidate]]]:
    """What the families that have an option, or all of them, offer for each column."""
    tried: list[list[tuple[str, Candidate]]] = [[] for _ in columns.names]
    kinds = {kind.partition(":")[0] for kind in columns.kinds}
    for family in families.FAMILIES.values():
        wanted = option is None or option in family.options
        wanted &= not isinstance(family, ForKind) or family.kind in kinds
        if wanted and family.statistic.name in columns.tables:
            for mine, candidates in zip(tried, family.candidates(columns), strict=True):
                mine += [(family.name, candidate) for candidate in candidates]
    return tried


def select_smoothing(counts: Counts, schema: Schema, options: Options) -> dict[str, Choice]:
    """Smoothing and missing values of every column of categories; its loss alone is not asked."""
    selected = {}
    for columns in counted_columns(counts, schema, options):
        family = next(f.name for f in families.FAMILIES.values() if f.statistic is CATEGORIES)
        smoothing = smooth_columns(columns.count, columns.offsets, columns.smoothing)
        missing = _missing_values(columns, options.missing)
        about = zip(columns.names, columns.kinds, smoothing.tolist(), missing, strict=True)
        for name, kind, lam, matters in about:
            selected[name] = Choice(name, family, 0, lam, matters, np.nan, kind)
    return selected


def counted_columns(counts: Counts, schema: Schema, options: Options) -> Iterator[CountedColumns]:
    """Columns that are counted alike: categories first, then numbers."""
    all_kinds, option = schema.counted_kinds, options.numeric
    stated = dict(zip(all_kinds, options.smoothing_of(list(all_kinds)), strict=True))
    for statistics in ((CATEGORIES,), (HISTOGRAM, MOMENTS)):
        tables = {s.name: counts.tables[s.name] for s in statistics if s.name in counts.tables}
        if len(tables) == len(statistics):
            table = tables[statistics[0].name]
            names: list[str] = table.cells.columns.tolist()
            kinds, smoothing = [all_kinds[name] for name in names], [stated[name] for name in names]
            count, offsets = count_of(table), table.cells.offsets
            values = count, offsets, [count[:, start:stop] for start, stop in pairwise(offsets)]
            yield CountedColumns(names, kinds, tables, *values, counts.weight, smoothing, option)


def missing_weights(counts: Sequence[FloatArray], rows: FloatArray) -> list[FloatArray]:
    """The weight of each class's rows in which each column has no value.

    ``counts`` are those of its values, (classes, values); ``rows`` those of the classes.
    """
    return [np.maximum(rows - count.sum(axis=1), 0.0) for count in counts]


def _missing_values(columns: CountedColumns, option: str) -> list[bool]:
    """Whether a missing value of each column says something: stated, or by leave-one-out."""
    if option == "auto":
        return missing_matters(_missing_weights(columns), columns.class_weight)
    return stated_missing(columns, option)


def stated_missing(columns: CountedColumns, option: str) -> list[bool]:
    """Whether a missing value of each column is a value of its own, as is stated."""
    missing = _missing_weights(columns)
    return [option == "value" and bool(some.any()) for some in missing]


def _missing_weights(columns: CountedColumns) -> list[FloatArray]:
    table = next(table for key, table in columns.tables.items() if key != MOMENTS.name)
    return missing_weights(columns.counts, table.rows)
