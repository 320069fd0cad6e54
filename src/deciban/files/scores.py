"""The scores of left-out rows in a file: of each group of rows, in rising order.

Two arrays: a line (group, score, weight) for each score, and the rows scored of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_NUMBER
from deciban.errors import ModelFileError
from deciban.files.arrays import ArrayReader
from deciban.labels import Labels
from deciban.models.calibration import LeftOutScores
from deciban.models.conformal import MIN_LOG_POSTERIOR, ConformityScores, RankedScores
from deciban.models.novelty import TypicalityScores

CONFORMITY, TYPICALITY = "conformity", "typicality"


def left_out_to(scores: LeftOutScores | None, classes: Labels) -> dict[str, NDArray[Any]]:
    """The arrays of the scores of left-out rows; none where there are no scores."""
    if scores is None:
        return {}
    own = scores.for_classes(classes)
    arrays = _to_arrays(CONFORMITY, own.conformity.by_class)
    if own.typicality is not None:
        arrays |= _to_arrays(TYPICALITY, [own.typicality.ranked])
        sums = own.typicality.log_likelihood, own.typicality.size
        arrays[f"{TYPICALITY}_sums"] = np.stack(sums)
    return arrays


def left_out_from(arrays: ArrayReader, classes: Labels) -> LeftOutScores | None:
    """Take the scores of left-out rows out of a file, checked."""
    if CONFORMITY not in arrays:
        return None
    groups = _from_arrays(arrays, CONFORMITY, len(classes), MIN_LOG_POSTERIOR, 0.0)
    conformity = ConformityScores(classes, groups)
    if TYPICALITY not in arrays:
        return LeftOutScores(conformity)
    (ranked,) = _from_arrays(arrays, TYPICALITY, 1, -MAX_NUMBER, MAX_NUMBER)
    sums = arrays.floats(f"{TYPICALITY}_sums", (2, len(classes)))
    if np.any(sums[1] < 0):
        raise ModelFileError("a class has fewer values than none.")
    return LeftOutScores(conformity, TypicalityScores(classes, sums[0], sums[1], ranked))


def _to_arrays(name: str, groups: Sequence[RankedScores]) -> dict[str, NDArray[Any]]:
    lines = [
        np.column_stack([np.full(len(group.score), float(i)), group.score, group.weight])
        for i, group in enumerate(groups)
    ]
    return {
        name: np.concatenate([np.empty((0, 3)), *lines]),
        f"{name}_rows": np.array([group.rows for group in groups]),
    }


def _from_arrays(
    arrays: ArrayReader, name: str, n_groups: int, least: float, most: float
) -> tuple[RankedScores, ...]:
    n, _ = arrays.shape(name, 2)
    table = arrays.floats(name, (n, 3))
    rows = arrays.floats(f"{name}_rows", (n_groups,), least=0.0)
    group, score, weight = table.T
    inside = (score >= least) & (score <= most) & (weight > 0) & (weight <= MAX_NUMBER)
    known = (group >= 0) & (group < n_groups) & (group == np.floor(group))
    rising = (np.diff(group) > 0) | ((np.diff(group) == 0) & (np.diff(score) > 0))
    sizes = np.bincount(group[known].astype(np.intp), minlength=n_groups)
    if not (inside.all() and known.all() and rising.all() and np.array_equal(sizes > 0, rows > 0)):
        raise ModelFileError(
            f"{name!r} must be scores from {least:g} to {most:g} in rising order, with weights.",
            hint="fit the model again",
        )
    ends = np.cumsum(sizes)[:-1]
    parts = zip(np.split(score, ends), np.split(weight, ends), rows.tolist(), strict=True)
    return tuple(RankedScores(s.copy(), w.copy(), n) for s, w, n in parts)
