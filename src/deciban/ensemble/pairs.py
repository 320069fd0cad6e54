"""AODE as one of the views: pairs of values, each row left out of the counts exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deciban.aode.counting import columns_of, tallied
from deciban.aode.model import Model
from deciban.ensemble.margins import FloatArray
from deciban.errors import InputError
from deciban.schema import Schema
from deciban.sources.batch import Batch
from deciban.sources.labelled import LabelledBatch

#: Strength and discount are chosen on no more rows than this.
TRIED = 2_500
#: Rows times pairs of columns times classes: no more are scored to find the share of the view.
MOST_WORK = 2e9
#: Rows are scored so many at a time.
CHUNK = 4_096


def learn(schema: Schema, part: LabelledBatch, seen: LabelledBatch, limit: int) -> Model | str:
    """The model of pairs, or why there is none; strength and discount are chosen on ``seen``."""
    n_columns = len(columns_of(schema))
    if n_columns < 2:
        return "there is but one column"
    if seen.batch.n_rows * n_columns**2 * len(part.classes) > MOST_WORK:
        return "there are too many pairs of columns for so many rows"
    try:
        tally = tallied(schema, iter([part]), "auto", limit)
    except InputError as error:
        return str(error)
    if tally is None:
        return "there are no rows"
    model = Model(schema, tally)
    some = np.arange(0, seen.batch.n_rows, -(-seen.batch.n_rows // TRIED))
    return replace(model, trust=model.tried(seen.take(some)))


def judged(model: Model, batch: Batch, y: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    """The margins of counted rows, each as if it had never been counted."""
    return model.believed(*model.left_out(batch, y, weight))
