"""Evenly spaced rows of a table that is read here."""

from __future__ import annotations

from collections import deque

from deciban.engines.local.count import read
from deciban.sources.labelled import LabelledBatch, LabelledScan
from deciban.sources.sample import Sample
from deciban.sources.unit_sample import TrainingUnits

__all__ = ["sample"]


def sample(scan: LabelledScan, k: int) -> Sample[LabelledBatch]:
    """Evenly spaced rows, no more than ``k``, of those that count; of groups, whole ones."""
    units = None if scan.units is None else TrainingUnits(scan.units.kind)
    kept: Sample[LabelledBatch] = Sample(k) if units is None else units.sample(k)
    deque(read(scan, kept), maxlen=0)
    return kept
