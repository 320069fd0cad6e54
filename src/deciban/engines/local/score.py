"""Scores of rows that are read here: batch by batch, by all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.encoding.unseen import NOTHING_UNSEEN, Unseen, unseen_values
from deciban.engines.protocol import Score
from deciban.models import scores
from deciban.models.protocol import Scored
from deciban.progress import shows_progress
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledScan

__all__ = ["run_batches", "score", "score_batch"]

FloatArray = NDArray[np.float64]
T = TypeVar("T")

#: So few rows are scored by the thread that asks.
MAX_SERIAL_ROWS = 1_000


def score(scan: LabelledScan, model: Scored, what: Score) -> FloatArray:
    """Scores of all rows under a model, (rows, classes)."""
    parts = run_batches(scan, partial(score_batch, model=model, what=what))
    if len(parts) == 1:
        out, scan.unseen = parts[0]
        return out
    scan.unseen = sum((unseen for _, unseen in parts if unseen), NOTHING_UNSEEN)
    none = np.empty((0, len(model.log_prior)))
    return np.concatenate([none, *(out for out, _ in parts)])


def run_batches(scan: LabelledScan, work: Callable[[Batch], T]) -> list[T]:
    """What ``work`` makes of every batch, in order."""
    n_rows = scan.scan.n_rows
    if n_rows is not None and n_rows <= MAX_SERIAL_ROWS:
        return list(map(work, scan.batches()))
    return _run_threads(work, scan.batches())


@shows_progress("predicting")
def _run_threads(work: Callable[[Batch], T], batches: Iterable[Batch]) -> list[T]:
    return list(threads.run(work, batches))


def score_batch(batch: Batch, model: Scored, what: Score) -> tuple[FloatArray, Unseen]:
    """Scores of some rows under a model, (rows, classes), and what training did not have."""
    log_prior = model.log_prior
    out = np.empty((batch.n_rows, len(log_prior)))
    unseen = model.log_joint(batch, out)
    if what != "log_joint":
        scores.normalise(out, log_prior, logarithm=what == "log_posterior")
    if unseen or batch.uncast:
        return out, unseen_values(model.schema, batch, model.unseen_rows(batch))
    return out, NOTHING_UNSEEN
