"""One array as an ``.npy`` file, without running anything to read it.

numpy reads the header of such a file with Python's own parser. Here the header
is known before: type and shape are stated elsewhere and checked, so that the
header that must come is compared byte by byte and never parsed. ``numpy.load``
opens these files too.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as short
from typing import IO, TypeVar

import numpy as np

from deciban.errors import InputError, ModelFileError
from deciban.files.description import ArrayEntry
from deciban.labels import Array

#: The only types of numbers in a file, little-endian.
TYPES = {"float64": "<f8", "int64": "<i8", "int32": "<i4", "uint8": "|u1", "bool": "|b1"}
MAX_AXES = 4
#: Even beside an axis of length 0, the product of the other lengths is at most this.
MAX_ENTRIES = 1 << 40
#: Bytes that are read and written at once.
CHUNK_BYTES = 1 << 20


Key = TypeVar("Key")


@dataclass(frozen=True)
class Plan:
    """Type, shape and checksum of an array, known before it is read.

    >>> Plan.of(np.zeros((2, 3))).size
    176
    """

    dtype: str
    shape: tuple[int, ...]
    sha256: str

    @classmethod
    def of(cls, array: Array) -> Plan:
        """The plan of an array that is about to be written."""
        name = array.dtype.name
        if name not in TYPES or array.ndim > MAX_AXES:
            raise InputError(
                f"an array of {name} with {array.ndim} axes cannot be saved.",
                hint=f"one of {', '.join(TYPES)} with at most {MAX_AXES} axes",
            )
        digest = hashlib.sha256()
        for chunk in _chunks(file_layout(array)):
            digest.update(chunk)
        return cls(name, array.shape, digest.hexdigest())

    @classmethod
    def stated(cls, entry: ArrayEntry) -> Plan:
        """The plan that a file states: of a known type, and of a possible shape.

        >>> Plan.stated(ArrayEntry("object", [1], ""))
        Traceback (most recent call last):
        ...
        deciban.errors.ModelFileError: an array has an unknown type: 'object'.
        """
        if entry.dtype not in TYPES:
            raise ModelFileError(f"an array has an unknown type: {short(entry.dtype)}.")
        entries = math.prod(max(n, 1) for n in entry.shape)
        if len(entry.shape) > MAX_AXES or entries > MAX_ENTRIES:
            raise ModelFileError(f"an array has an impossible shape: {short(entry.shape)}.")
        return cls(entry.dtype, tuple(entry.shape), entry.sha256)

    @property
    def entry(self) -> dict[str, object]:
        """The plan as it is stated in a file."""
        return {"dtype": self.dtype, "shape": list(self.shape), "sha256": self.sha256}

    @cached_property
    def header(self) -> bytes:
        r"""The first bytes of the file, by numpy's format 1.0.

        >>> from io import BytesIO
        >>> np.load(BytesIO(Plan("int32", (2,), "").header + b"\1\0\0\0\2\0\0\0"))
        array([1, 2], dtype=int32)
        """
        descr = TYPES[self.dtype]
        text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {self.shape}, }}"
        length = 64 * math.ceil((len(text) + 11) / 64) - 10
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", length)
        return start + text.ljust(length - 1).encode() + b"\n"

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self.header) + math.prod(self.shape) * np.dtype(TYPES[self.dtype]).itemsize


def stated_plans(entries: Mapping[str, ArrayEntry]) -> dict[str, Plan]:
    """The plans of all arrays that a file states, by name."""
    return {name: Plan.stated(entry) for name, entry in entries.items()}


def sizes(plans: Iterable[Plan]) -> list[int]:
    """The bytes of the file of each plan."""
    return [plan.size for plan in plans]


def file_layout(array: Array) -> Array:
    """The array as it lies in a file: row by row, little-endian."""
    return np.asarray(array, dtype=TYPES[array.dtype.name], order="C")


def write(stream: IO[bytes], array: Array, plan: Plan) -> None:
    """Write the header and the values of an array."""
    stream.write(plan.header)
    for chunk in _chunks(file_layout(array)):
        stream.write(chunk)


def read(stream: IO[bytes], plan: Plan) -> Array:
    """The array of that plan; the caller has found its size acceptable, memory is taken here.

    >>> from io import BytesIO
    >>> read(BytesIO(b""), Plan("bool", (2,), ""))
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: an array does not have the stated type and shape.
    """
    if stream.read(len(plan.header)) != plan.header:
        raise ModelFileError("an array does not have the stated type and shape.")
    array = np.empty(plan.shape, dtype=TYPES[plan.dtype])
    digest = hashlib.sha256()
    for chunk in _chunks(array):
        _fill(stream, chunk)
        digest.update(chunk)
    if stream.read(1):
        raise ModelFileError("an array is longer than stated.")
    if digest.hexdigest() != plan.sha256:
        raise ModelFileError("an array is not the one that was saved: its SHA-256 differs.")
    if plan.dtype == "bool" and np.any(array.view(np.uint8) > 1):
        raise ModelFileError("a truth value is neither 0 nor 1.")
    return array.astype(plan.dtype, copy=False)


def read_all(
    open_file: Callable[[Key], IO[bytes]], plans: Iterable[tuple[Key, Plan]]
) -> list[Array]:
    """The arrays of some files, one after the other: the key of each is what opens it."""
    arrays = []
    for key, plan in plans:
        with open_file(key) as stream:
            arrays.append(read(stream, plan))
    return arrays


def _chunks(array: Array) -> Iterator[memoryview]:
    """The bytes of a contiguous array, a chunk at a time."""
    flat = array.reshape(-1).view(np.uint8).data
    return (flat[start : start + CHUNK_BYTES] for start in range(0, len(flat), CHUNK_BYTES))


def _fill(stream: IO[bytes], chunk: memoryview) -> None:
    """Read as many bytes as a chunk has into it."""
    at = 0
    while at < len(chunk):
        data = stream.read(len(chunk) - at)
        if not data:
            raise ModelFileError("an array is shorter than stated.")
        chunk[at : at + len(data)] = data
        at += len(data)
