"""Labels in a file: the names of classes, columns and categories, with their types.

A few labels stand in the document where people can read them; many go into
arrays that all vocabularies of a file share, one after the other: ``text``
(UTF-8, with the ``ends`` of each), ``integers`` and ``floats``.

JSON knows text, whole numbers, floats, truth values and null. What it does not
know is an object with one key: ``{"tuple": [...]}``, ``{"bytes": "00ff"}``,
``{"float": "inf"}``, and ``{"text": "..."}`` in hexadecimal for text that is
not Unicode.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from reprlib import repr as short
from typing import TypeAlias, cast

import numpy as np
from msgspec import UnsetType
from numpy.typing import NDArray

from deciban import labels as label_sets
from deciban.errors import InputError, ModelFileError
from deciban.files import document
from deciban.files.description import Vocabulary
from deciban.labels import Array, Labels

Entry: TypeAlias = dict[str, object]

#: No more labels than this are written into the document.
MAX_LABELS_IN_DOCUMENT = 64
#: Tuples within tuples go no deeper, integers have no more bits.
MAX_TUPLE_DEPTH = 8
MAX_INTEGER_BITS = 4096
#: No more labels than this have the same hash: looking one up would take forever.
MAX_LABELS_PER_HASH = 100

_INTEGERS = {"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
_FLOATS = {"float16", "float32", "float64"}
_TIMES = re.compile(r"(datetime|timedelta)64\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]")
_HINT = "labels may be text, numbers, truth values, dates of numpy, bytes, None and tuples of these"


class Writer:
    """Collects vocabularies.

    >>> writer = Writer()
    >>> writer.put(np.array(["ham", "spam"]))
    {'dtype': 'str', 'labels': ['ham', 'spam']}
    >>> writer.put(np.arange(1000)), list(writer.arrays())
    ({'dtype': 'int64', 'size': 1000}, ['integers'])
    """

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._integers: list[NDArray[np.int64]] = []
        self._floats: list[NDArray[np.float64]] = []

    def put(self, labels: Labels) -> Entry:
        """What the document says of these labels; many of them go into the arrays."""
        dtype = _type_name(labels)
        if len(labels) <= MAX_LABELS_IN_DOCUMENT:
            return {"dtype": dtype, "labels": [to_json(x) for x in _python_objects(labels, dtype)]}
        if dtype in _FLOATS:
            self._floats.append(_refuse_nan(labels.astype(np.float64)))
        elif _is_integer(dtype):
            self._integers.append(_as_integers(labels))
        elif dtype == "str":
            self._texts += [text.encode("utf-8", "surrogatepass") for text in labels.tolist()]
        else:
            self._texts += [document.line(to_json(label)) for label in labels.tolist()]
        return {"dtype": dtype, "size": len(labels)}

    def arrays(self) -> dict[str, Array]:
        """What did not go into the document."""
        arrays: dict[str, Array] = {}
        if self._texts:
            arrays["text"] = np.frombuffer(b"".join(self._texts), dtype=np.uint8)
            arrays["ends"] = np.cumsum([len(text) for text in self._texts], dtype=np.int64)
        if self._integers:
            arrays["integers"] = np.concatenate(self._integers)
        if self._floats:
            arrays["floats"] = np.concatenate(self._floats)
        return arrays


def read(entries: Iterable[Vocabulary], arrays: Mapping[str, Array]) -> list[Labels]:
    """The labels of all vocabularies of a file, in the order in which they were put.

    >>> read([Vocabulary("str", ["ham", "ham"])], {})
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: the label 'ham' is there twice.
    """
    reader = _Reader(arrays)
    labels = [reader.take(entry) for entry in entries]
    reader.done()
    return labels


class _Reader:
    """Gives vocabularies back, in the order in which they were put."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        types = {"text": np.uint8, "ends": np.int64, "integers": np.int64, "floats": np.float64}
        self._arrays = {name: arrays.get(name, np.empty(0, t)) for name, t in types.items()}
        for name, array in self._arrays.items():
            if array.ndim != 1 or array.dtype != types[name]:
                raise ModelFileError(f"array {name!r} of the labels has the wrong type.")
        self._used = dict.fromkeys(types, 0)

    def take(self, entry: Vocabulary) -> Labels:
        """The labels that such an entry stands for."""
        dtype, size = entry.dtype, entry.size
        if isinstance(size, UnsetType) == isinstance(entry.labels, UnsetType):
            raise ModelFileError("labels must stand in the document, or in the arrays.")
        if not isinstance(entry.labels, UnsetType):
            return _unique(_array([from_json(value) for value in entry.labels], dtype))
        assert not isinstance(size, UnsetType)
        if dtype in _FLOATS:
            return _unique(_array(self._next("floats", size).tolist(), dtype))
        if _is_integer(dtype):
            return _unique(_from_integers(self._next("integers", size), dtype))
        texts = self._next_texts(size)
        if dtype == "str":
            return _unique(_array([_decode(text) for text in texts], dtype))
        return _unique(_array([from_json(document.parse(text)) for text in texts], dtype))

    def done(self) -> None:
        """Refuse arrays of which something is left."""
        for name, array in self._arrays.items():
            if self._used[name] != len(array):
                raise ModelFileError(f"array {name!r} of the labels is too long.")

    def _next(self, name: str, size: int) -> Array:
        """The next entries of an array."""
        start = self._used[name]
        if not 0 <= size <= len(self._arrays[name]) - start:
            raise ModelFileError(f"{size} labels are stated, there are fewer.")
        self._used[name] = start + size
        return self._arrays[name][start : start + size]

    def _next_texts(self, size: int) -> list[bytes]:
        """The next entries of the array of texts, cut at their ends."""
        start = self._used["text"]
        ends = self._next("ends", size)
        bounds = np.concatenate([[start], ends])
        if np.any(np.diff(bounds) < 0) or bounds[-1] > len(self._arrays["text"]):
            raise ModelFileError("the ends of the labels are not in order.")
        self._used["text"] = int(bounds[-1])
        data = self._arrays["text"][start : bounds[-1]].tobytes()
        places = (bounds - start).tolist()
        return [data[a:b] for a, b in pairwise(places)]


# ---------------------------------------------------------------------- one label


def to_json(label: object, depth: int = 0) -> object:
    """A label as a value that JSON can hold.

    >>> [to_json(x) for x in ("a", 1, 1.0, True, None, ("a", 1), b"a", float("inf"))]
    ['a', 1, 1.0, True, None, {'tuple': ['a', 1]}, {'bytes': '61'}, {'float': 'inf'}]
    """
    value: object = label.item() if isinstance(label, np.generic) else label
    if type(value) is tuple and depth < MAX_TUPLE_DEPTH:
        return {"tuple": [to_json(part, depth + 1) for part in value]}
    if type(value) is float:
        return _float_to_json(value)
    if type(value) is str:
        odd = any("\ud800" <= letter <= "\udfff" for letter in value)
        return {"text": value.encode("utf-8", "surrogatepass").hex()} if odd else value
    if type(value) is bytes:
        return {"bytes": value.hex()}
    if value is None or type(value) is bool or (type(value) is int and _fits(value)):
        return value
    kind = type(value).__name__
    raise InputError(f"the label {short(label)} of type {kind} cannot be saved.", hint=_HINT)


def _float_to_json(value: float) -> object:
    if math.isnan(value):
        raise InputError("NaN is no label.", hint="it is not even equal to itself")
    return value if math.isfinite(value) else {"float": str(value)}


def _fits(value: int) -> bool:
    return value.bit_length() <= MAX_INTEGER_BITS


def from_json(value: object, depth: int = 0) -> Hashable:
    """The label that a value in JSON stands for.

    >>> from_json({"tuple": ["a", 1]})
    ('a', 1)
    """
    match value:
        case {"tuple": list(parts), **others} if not others and depth < MAX_TUPLE_DEPTH:
            return tuple(from_json(part, depth + 1) for part in parts)
        case {"float": "inf" | "-inf" as text, **others} if not others:
            return float(text)
        case {"bytes": str(text), **others} if not others:
            return _from_hex(text)
        case {"text": str(text), **others} if not others:
            return _decode(_from_hex(text))
        case None | bool() | float() | str():
            return value
        case int() if _fits(value):
            return value
    raise ModelFileError(f"a label must not be {short(value)}.")


def _from_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ModelFileError(f"{short(text)} is not hexadecimal.") from None


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise ModelFileError(f"the label {short(text)} is not text.") from None


# ---------------------------------------------------------------------- many labels


def _type_name(labels: Labels) -> str:
    """The name of the type of some labels in a file."""
    kind, name = labels.dtype.kind, labels.dtype.name
    if kind in "US" and label_sets.is_compact(labels.tolist()):
        return "str" if kind == "U" else "bytes"
    if kind in "USO":
        return "object"
    if name not in _FLOATS and not _is_integer(name):
        raise InputError(f"labels of type {name} cannot be saved.", hint=_HINT)
    return name


def _is_integer(dtype: str) -> bool:
    return dtype in _INTEGERS or _TIMES.fullmatch(dtype) is not None


def _as_integers(labels: Labels) -> NDArray[np.int64]:
    """Whole numbers, truth values and dates as 64 bits."""
    if labels.dtype.kind in "Mm":
        return np.ascontiguousarray(labels).view(np.int64)
    return labels.astype(np.int64)


def _from_integers(values: NDArray[np.int64], dtype: str) -> Labels:
    """Whole numbers, truth values or dates from 64 bits, if their type holds them."""
    labels = values.view(dtype) if _TIMES.fullmatch(dtype) else values.astype(dtype)
    if not np.array_equal(_as_integers(labels), values):
        raise ModelFileError(f"a label is no {dtype}.")
    return labels


def _refuse_nan(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.any(np.isnan(values)):
        to_json(math.nan)
    return values


def _python_objects(labels: Labels, dtype: str) -> list[Hashable]:
    """The labels as Python's own objects."""
    return list((_as_integers(labels) if _TIMES.fullmatch(dtype) else labels).tolist())


def _array(items: list[Hashable], dtype: str) -> Labels:
    """Python's own objects as labels of that type, if they are."""
    if dtype == "object":
        return label_sets.object_array(items)
    number = float if dtype in _FLOATS else int
    kind: type = {"str": str, "bytes": bytes, "bool": bool}.get(dtype, number)
    if any(type(item) is not kind for item in items):
        raise ModelFileError(f"a label is no {short(dtype)}.")
    if _TIMES.fullmatch(dtype):
        return _held(items, "int64").view(dtype)
    if dtype in _INTEGERS or dtype in _FLOATS:
        return _held(items, dtype)
    if dtype not in ("str", "bytes"):
        raise ModelFileError(f"labels have an unknown type: {short(dtype)}.")
    if max(map(len, cast("list[str]", items)), default=0) > label_sets.MAX_STRING_LENGTH:
        raise ModelFileError(f"a label is too long for {dtype}.")
    return _held(items, dtype)


def _held(items: list[Hashable], dtype: str) -> Labels:
    """An array of that type, if it holds these labels: zeros at the end of a text are lost."""
    try:
        with np.errstate(over="ignore"):
            array = np.array(items, dtype=dtype)
    except OverflowError:
        array = np.empty(0)
    if array.tolist() != items:
        raise ModelFileError(f"a label is no {dtype}.")
    return array


def _unique(labels: Labels) -> Labels:
    """The labels, if none is there twice, and each is equal to itself."""
    if labels.dtype.kind in "Mm" and np.any(np.isnat(labels)):
        raise ModelFileError("no time (NaT) is no label.")
    most = max(Counter(map(hash, labels.tolist())).values(), default=0)
    if most > MAX_LABELS_PER_HASH:
        raise ModelFileError(f"{most} labels were made to be hard to tell apart.")
    seen: set[Hashable] = set()
    for item in labels.tolist():
        if item in seen or item != item:
            raise ModelFileError(f"the label {short(item)} is there twice.")
        seen.add(item)
    return labels
