"""Keys of rows: numbers of 64 bits that are equal for rows that hold the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from deciban.labels import Labels
from deciban.sources.columns import Column, Numbers, Strings

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]

#: Odd numbers that mix all bits (the finaliser of splitmix64).
_MIX_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_keys(
    numbers: FloatArray,
    codes: NDArray[np.int64],
    values: Sequence[Labels],
    texts: Sequence[Strings],
) -> Keys:
    """A number of 64 bits for every row; two rows that differ share one once in 10**19 pairs."""
    out = np.zeros(len(numbers), dtype=np.uint64)
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, one zero
    for column in plain.T:
        out = mix(out + np.ascontiguousarray(column).view(np.uint64))
    for j, known in enumerate(values):
        # By their names: codes depend on the order in which values were seen.
        names = _digests(str(value).encode() for value in [*known.tolist(), ""])
        out = mix(out + names[codes[:, j]])
    for text in texts:
        out = mix(out + _text_keys(text))
    return out


def column_keys(column: Column) -> Keys:
    """The key of every value of a column; those of missing values are equal."""
    if isinstance(column, Strings):
        return np.where(column.missing, np.uint64(1), _text_keys(column))
    if isinstance(column, Numbers):
        plain = np.where(np.isnan(column.values), np.nan, column.values + 0.0)
        return mix(np.ascontiguousarray(plain).view(np.uint64))
    values = np.ascontiguousarray(column.values.astype(np.int64)).view(np.uint64)
    return np.where(column.missing, np.uint64(1), mix(values))


def _text_keys(text: Strings) -> Keys:
    data = text.data.tobytes()
    ends = zip(text.offsets[:-1].tolist(), text.offsets[1:].tolist(), strict=True)
    return _digests(data[start:end] for start, end in ends)


def _digests(values: Iterable[bytes]) -> Keys:
    digests = (blake2b(value, digest_size=8).digest() for value in values)
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)


def mix(keys: Keys) -> Keys:
    """Keys whose bits all depend on all bits of others."""
    out = keys + np.uint64(0x9E3779B97F4A7C15)
    for factor, shift in zip(_MIX_FACTORS, (30, 27), strict=True):
        out = (out ^ (out >> np.uint64(shift))) * factor
    return np.asarray(out ^ (out >> np.uint64(31)))
