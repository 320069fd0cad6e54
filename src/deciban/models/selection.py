"""What the counts select: the family of each column, its smoothing, and whether holes matter.

Everything here is arithmetic on the table; no row is read again.

- *The family of a column* is the candidate with the least leave-one-out loss when the column is
  used alone: of numbers a bell curve, 5, 10 or 20 bins of equal frequency, or every value by
  itself where there are few; families say themselves what may be tried.
- *Smoothing* is chosen by empirical Bayes, column by column: the ``lam`` under which the counts
  of the column are likeliest, when each class's shares are drawn from a Dirichlet(lam).
- *Missing values* say something of their own where "missing or not", used alone, has a smaller
  leave-one-out loss than the prior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deciban import families
from deciban.families.discrete import categorical_loss, empirical_smoothing
from deciban.families.histogram import HISTOGRAM_FAMILY
from deciban.families.protocol import Candidate, ColumnCounts, Family
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
    whether a missing value says something of its own.
    """

    column: str
    family: str
    bins: int
    smoothing: float
    missing: bool
    loss: float

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
        return families.get(self.family).describe(self.candidate)


def select(counts: Counts, schema: Schema, options: Options) -> dict[str, Choice]:
    """A choice for every column that is counted."""
    return {
        column.name: _select_column(column, options) for column in column_counts(counts, schema)
    }


def select_smoothing(counts: Counts, schema: Schema, options: Options) -> dict[str, Choice]:
    """Smoothing and missing values of every column of categories; its loss alone is not asked."""
    selected = {}
    for column in column_counts(counts, schema):
        stated = options.smoothing_of(column.name)
        count = count_of(column.tables[CATEGORIES.name])
        lam = empirical_smoothing(count) if stated is None else stated
        missing = missing_matters(column, options.missing)
        family = next(iter(candidate_families(column))).name
        selected[column.name] = Choice(column.name, family, 0, lam, missing, np.nan)
    return selected


def column_counts(counts: Counts, schema: Schema) -> Iterator[ColumnCounts]:
    """Every counted column with its tables: categories first, then numbers."""
    kinds = counted_kinds(schema)
    for statistics in ((CATEGORIES,), (HISTOGRAM, MOMENTS)):
        tables = {s.name: counts.tables[s.name] for s in statistics if s.name in counts.tables}
        if len(tables) < len(statistics):
            continue
        places = [
            {name: j for j, name in enumerate(table.cells.columns.tolist())}
            for table in tables.values()
        ]
        for name in places[0]:
            own = {
                key: table.column(at[name])
                for (key, table), at in zip(tables.items(), places, strict=True)
            }
            yield ColumnCounts(name, kinds.get(name, "categorical"), own, counts.weight)


def counted_kinds(schema: Schema) -> dict[str, str]:
    """The kind of every counted column; what is derived from a time is its hour or weekday."""
    kinds = {}
    for column in schema.columns:
        for name in (*column.numbers, *column.categories, *column.texts):
            part = name.removeprefix(f"{column.name} (").removesuffix(")")
            kinds[name] = column.kind if name == column.name else part
    return kinds


def candidate_families(column: ColumnCounts, numeric: str = "auto") -> Iterator[Family]:
    """The families that may model a column; numbers may be left to one of them."""
    of_numbers = HISTOGRAM.name in column.tables
    for family in families.FAMILIES.values():
        wanted = not of_numbers or numeric in ("auto", family.name)
        if wanted and family.statistic.name in column.tables and family.applies(column):
            yield family


def _select_column(column: ColumnCounts, options: Options) -> Choice:
    """The candidate of least leave-one-out loss."""
    stated = options.smoothing_of(column.name)
    missing = missing_matters(column, options.missing)
    tried = [
        Choice(
            column.name,
            family.name,
            candidate.bins,
            candidate.smoothing,
            missing,
            family.loss_alone(column, candidate),
        )
        for family, candidate in _candidates(column, options.numeric, stated)
    ]
    return min(tried, key=lambda choice: choice.loss)


def _candidates(
    column: ColumnCounts, numeric: str, stated: float | None
) -> Iterator[tuple[Family, Candidate]]:
    if numeric == "mdl" and HISTOGRAM.name in column.tables:
        yield HISTOGRAM_FAMILY, HISTOGRAM_FAMILY.by_description_length(column, stated)
        return
    for family in candidate_families(column, numeric):
        for candidate in family.candidates(column, stated):
            yield family, candidate


def missing_weight(column: ColumnCounts) -> FloatArray:
    """The weight of each class's rows in which the column has no value."""
    table = next(t for key, t in column.tables.items() if key != MOMENTS.name)
    return np.asarray(np.maximum(table.rows - count_of(table).sum(axis=1), 0.0))


def missing_matters(column: ColumnCounts, option: str) -> bool:
    """Whether a missing value says something: stated, or by leave-one-out."""
    missing = missing_weight(column)
    if option == "skip" or not missing.any():
        return False
    if option == "value":
        return True
    weight = column.class_weight
    table = np.stack([np.maximum(weight - missing, 0.0), missing], axis=1)
    alone = categorical_loss(table, empirical_smoothing(table), weight)
    return alone < categorical_loss(weight[:, None], 1.0, weight)
