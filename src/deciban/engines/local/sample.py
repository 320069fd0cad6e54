"""The rows of least key of a table that is read here."""

from __future__ import annotations

from collections import deque

from deciban.engines.local.count import read
from deciban.sources.labelled import LabelledScan
from deciban.sources.row_sample import RowSample
from deciban.sources.sample import Sample
from deciban.sources.unit_sample import TrainingUnits

__all__ = ["sample"]


def sample(scan: LabelledScan, k: int) -> Sample:
    """The rows of least key, no more than ``k``, of those that count; of groups, whole ones."""
    units = None if scan.units is None else TrainingUnits(scan.units.kind)
    kept: Sample = RowSample(k) if units is None else units.sample(k)
    deque(read(scan, kept), maxlen=0)
    return kept
