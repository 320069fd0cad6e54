"""The arrays of a model as it takes them out of a file, each of its type, shape and range.

Scores of left-out rows are two arrays: a line (group, score, weight) for each score, in rising
order in each group of rows, and the rows scored of each group. Their log posteriors, (rows,
classes), are there for some of them, each with the code of its class and its weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_NUMBER
from deciban.errors import ModelFileError
from deciban.labels import Array, Labels
from deciban.models.conformal import MIN_LOG_POSTERIOR, ConformityScores, RankedScores
from deciban.models.leave_one_out_scores import KeptScores, LeaveOneOutScores
from deciban.models.novelty import TypicalityScores

FloatArray = NDArray[np.float64]


class ArrayReader:
    """Arrays by name, until every one was taken.

    >>> arrays = ArrayReader({"coef": np.array([1.0, np.nan])})
    >>> arrays.floats("coef", (2,))
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'coef' has nan among its numbers; -1e+150 to 1e+150 may be.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def starting(self, prefix: str) -> dict[str, Array]:
        """Take all arrays of a prefix, under their names without it."""
        names = [name for name in self._arrays if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._arrays.pop(name) for name in names}

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of an array of so many axes; zeros if there is no such array."""
        array = self._arrays.get(name)
        return array.shape if array is not None and array.ndim == axes else (0,) * axes

    def floats(
        self,
        name: str,
        shape: tuple[int, ...],
        least: float = -MAX_NUMBER,
        most: float = MAX_NUMBER,
    ) -> FloatArray:
        """Take floats of that shape, from ``least`` to ``most``."""
        return self._take(name, np.float64, shape, least, most)

    def floats_if_any(
        self, name: str, shape: tuple[int, ...], least: float, most: float
    ) -> FloatArray | None:
        """Take floats as ``floats`` does; None if there is no such array."""
        return self.floats(name, shape, least, most) if name in self._arrays else None

    def amounts(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """Take floats >= 0 of that shape, whose sums are finite."""
        return self._take(name, np.float64, shape, 0.0, MAX_NUMBER)

    def integers(self, name: str, shape: tuple[int, ...], dtype: type = np.int64) -> Array:
        """Take whole numbers of that shape."""
        return self._typed(name, dtype, shape)

    def whole(
        self, name: str, shape: tuple[int, ...], least: int, most: int, dtype: type = np.int64
    ) -> Array:
        """Take whole numbers of that shape, from ``least`` to ``most``."""
        return self._take(name, dtype, shape, least, most)

    def done(self) -> None:
        """Refuse what is left."""
        for name in self._arrays:
            raise ModelFileError(f"array {name!r} belongs to nothing.")

    def _take(
        self, name: str, dtype: type, shape: tuple[int, ...], least: float, most: float
    ) -> Array:
        array = self._typed(name, dtype, shape)
        outside = array[~((array >= least) & (array <= most))]
        if outside.size:
            raise ModelFileError(
                f"{name!r} has {outside.flat[0]} among its numbers; {least:g} to {most:g} may be."
            )
        return np.ascontiguousarray(array)

    def _typed(self, name: str, dtype: type, shape: tuple[int, ...]) -> Array:
        """Take an array, if it is of that type and shape."""
        array = self._arrays.pop(name, None)
        if array is None:
            raise ModelFileError(f"array {name!r} is missing.")
        if array.dtype != dtype or array.shape != shape:
            raise ModelFileError(
                f"array {name!r} must be {dtype.__name__} of shape {shape}, "
                f"got {array.dtype} of shape {array.shape}."
            )
        return array


CONFORMITY, TYPICALITY, POSTERIOR = "conformity", "typicality", "left_out"
#: The probabilities of a row sum to one but for this.
MAX_SUM_ERROR = 1e-6


def left_out_to(scores: KeptScores | None, classes: Labels) -> dict[str, Array]:
    """The arrays of the scores of left-out rows; none where there are no scores."""
    if scores is None:
        return {}
    own = scores.for_classes(classes)
    arrays = _to_arrays(CONFORMITY, own.conformity.by_class)
    if own.typicality is not None:
        arrays |= _to_arrays(TYPICALITY, [own.typicality.ranked])
        sums = own.typicality.log_likelihood, own.typicality.size
        arrays[f"{TYPICALITY}_sums"] = np.stack(sums)
    posteriors = None if own.posteriors is None else own.posteriors.thin()
    if posteriors is not None:
        arrays[POSTERIOR] = posteriors.log_posterior
        arrays[f"{POSTERIOR}_class"] = posteriors.codes.astype(np.int64)
        arrays[f"{POSTERIOR}_weight"] = posteriors.weight
    return arrays


def left_out_from(arrays: ArrayReader, classes: Labels) -> KeptScores | None:
    """Take the scores of left-out rows out of a file, checked."""
    if CONFORMITY not in arrays:
        return None
    groups = _from_arrays(arrays, CONFORMITY, len(classes), MIN_LOG_POSTERIOR, 0.0)
    conformity = ConformityScores(classes, groups)
    posteriors = _posteriors_from(arrays, len(classes))
    if TYPICALITY not in arrays:
        return KeptScores(conformity, posteriors=posteriors)
    (ranked,) = _from_arrays(arrays, TYPICALITY, 1, -MAX_NUMBER, MAX_NUMBER)
    sums = arrays.floats(f"{TYPICALITY}_sums", (2, len(classes)))
    if np.any(sums[1] < 0):
        raise ModelFileError("a class has fewer values than none.")
    typicality = TypicalityScores(classes, sums[0], sums[1], ranked)
    return KeptScores(conformity, typicality, posteriors)


def _posteriors_from(arrays: ArrayReader, n_classes: int) -> LeaveOneOutScores | None:
    if POSTERIOR not in arrays:
        return None
    n, _ = arrays.shape(POSTERIOR, 2)
    log_posterior = arrays.floats(POSTERIOR, (n, n_classes), -np.inf, MAX_SUM_ERROR)
    codes = arrays.whole(f"{POSTERIOR}_class", (n,), 0, n_classes - 1)
    weight = arrays.floats(f"{POSTERIOR}_weight", (n,), least=np.finfo(float).tiny)
    if not n or np.any(np.abs(np.exp(log_posterior).sum(axis=1) - 1.0) > MAX_SUM_ERROR):
        raise ModelFileError(f"{POSTERIOR!r} must be rows of logarithms of probabilities.")
    return LeaveOneOutScores(log_posterior, codes.astype(np.intp), weight)


def _to_arrays(name: str, groups: Sequence[RankedScores]) -> dict[str, Array]:
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
