"""Which counted rows are taken away with each of some rows: their group, or what came later."""

from __future__ import annotations

from deciban.families.remaining import BeforeTime, Remaining, WithoutGroup
from deciban.labels import Labels
from deciban.sources.labelled import LabelledBatch


def remaining_rows(part: LabelledBatch, classes: Labels) -> Remaining | None:
    """What is left for rows that belong to groups or times; None where they do not.

    Of groups all rows must be there; of times all rows, in any order.
    """
    if part.units is None:
        return None
    of = WithoutGroup if part.units.kind == "group" else BeforeTime
    return of(part.units.codes(), part.codes_among(classes), part.weights, len(classes))
