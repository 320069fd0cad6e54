"""The arrays of a model as it takes them out of a file, each of its type, shape and range."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from deciban.checks import MAX_NUMBER
from deciban.errors import ModelFileError
from deciban.files.npy import Array
from deciban.stats.sums import take_array

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
        if name not in self._arrays:
            raise ModelFileError(f"the array {name!r} is not there.")
        array = take_array(self._arrays, name, dtype, shape)
        outside = array[~((array >= least) & (array <= most))]
        if outside.size:
            raise ModelFileError(
                f"{name!r} has {outside.flat[0]} among its numbers; {least:g} to {most:g} may be."
            )
        return np.ascontiguousarray(array)
