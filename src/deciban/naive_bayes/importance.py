"""Importance of columns: their expected evidence, from the counts alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deciban import explanation
from deciban.families.piece import Piece
from deciban.naive_bayes import spoken
from deciban.naive_bayes.model import Model

FloatArray = NDArray[np.float64]


def expected_evidence(model: Model, pieces: Iterable[Piece]) -> dict[str, FloatArray]:
    """``P(c) sum_v P(v | c) W_c(v)`` in decibans a row, (classes,), of every column."""
    prior = np.exp(model.log_prior)
    by_column = explanation.expected_evidence(pieces, prior, model.schema.names)
    return {**by_column, **spoken.weighed(model, prior)}
