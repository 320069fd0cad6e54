"""Scores of rows that are read here: batch by batch, by all cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deciban import threads
from deciban.engines.protocol import Score
from deciban.models import scores
from deciban.models.protocol import Model
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledScan

__all__ = ["score", "score_batch", "score_batches"]

FloatArray = NDArray[np.float64]

#: So few rows are scored by the thread that asks.
MAX_SERIAL_ROWS = 1_000


def score(scan: LabelledScan, model: Model, what: Score) -> FloatArray:
    """Scores of all rows under a model, (rows, classes)."""
    n_classes = len(model.log_prior)
    return score_batches(scan, partial(score_batch, model=model, what=what), (n_classes,))


def score_batches(
    scan: LabelledScan, work: Callable[[Batch], FloatArray], shape: tuple[int, ...]
) -> FloatArray:
    """What ``work`` makes of all batches, (rows, *shape)."""
    n_rows = scan.scan.n_rows
    run = map if n_rows is not None and n_rows <= MAX_SERIAL_ROWS else threads.run
    parts = list(run(work, scan.batches()))
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, *shape)), *parts])


def score_batch(batch: Batch, model: Model, what: Score) -> FloatArray:
    """Scores of some rows under a model, (rows, classes)."""
    log_prior = model.log_prior
    out = np.empty((batch.n_rows, len(log_prior)))
    model.log_joint(batch, out)
    if what != "log_joint":
        scores.normalise(out, log_prior, logarithm=what == "log_posterior")
    return out
