"""What a file remembers of the groups or times of the rows that a model learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deciban.files.description import UnitsEntry
from deciban.files.model import Stored
from deciban.sources.unit_sample import TrainingUnits

#: The bits of a hash of a group.
_HASH_BITS = 64


def with_units(content: Stored, units: TrainingUnits | None) -> Stored:
    """What is to be stored of a model, and the units of its rows beside it, if they had any."""
    if units is None:
        return content
    entry = {
        "kind": units.kind,
        "column": units.column,
        "halvings": _HASH_BITS + 1 - units.limit.bit_length(),
        "seen": [f"{key:016x}" for key in units.seen.tolist()],
        "last": units.last,
    }
    return replace(content, description={**content.description, "units": entry})


def units_from(entry: UnitsEntry | None) -> TrainingUnits | None:
    """The units of a file, checked by its declaration."""
    if entry is None:
        return None
    seen = np.array([int(key, 16) for key in entry.seen], dtype=np.uint64)
    limit = 1 << (_HASH_BITS - entry.halvings)
    return TrainingUnits(entry.kind, entry.column, limit, seen, entry.last)
