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
from collections.abc import Mapping
from itertools import pairwise
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deciban import labels as names
from deciban.errors import InputError, ModelFileError
from deciban.files import document
from deciban.labels import Labels

#: No more labels than this are written into the document.
FEW = 64
#: Tuples within tuples go no deeper, integers have no more bits.
DEEPEST = 8
WIDEST = 4096
#: Longer texts are objects: as an array of numpy, all would be as wide as the longest.
LONGEST = 64
#: No more labels than this have the same hash: looking one up would take forever.
CROWD = 100

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

    def put(self, labels: Labels) -> dict[str, Any]:
        """What the document says of these labels; many of them go into the arrays."""
        dtype = _name(labels)
        if len(labels) <= FEW:
            return {"dtype": dtype, "labels": [plain(x) for x in _listed(labels, dtype)]}
        if dtype in _FLOATS:
            self._floats.append(_refuse_nan(labels.astype(np.float64)))
        elif _is_integer(dtype):
            self._integers.append(_as_integers(labels))
        elif dtype == "str":
            self._texts += [text.encode("utf-8", "surrogatepass") for text in labels.tolist()]
        else:
            self._texts += [_line(label) for label in labels.tolist()]
        return {"dtype": dtype, "size": len(labels)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What did not go into the document."""
        found: dict[str, NDArray[Any]] = {}
        if self._texts:
            found["text"] = np.frombuffer(b"".join(self._texts), dtype=np.uint8)
            found["ends"] = np.cumsum([len(text) for text in self._texts], dtype=np.int64)
        if self._integers:
            found["integers"] = np.concatenate(self._integers)
        if self._floats:
            found["floats"] = np.concatenate(self._floats)
        return found


class Reader:
    """Gives vocabularies back, in the order in which they were put.

    >>> Reader({}).take({"dtype": "str", "labels": ["ham", "ham"]})
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: the label 'ham' is there twice.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        none = {"text": np.uint8, "ends": np.int64, "integers": np.int64, "floats": np.float64}
        found = {name: arrays.get(name, np.empty(0, dtype)) for name, dtype in none.items()}
        for name, array in found.items():
            if array.ndim != 1 or array.dtype != none[name]:
                raise ModelFileError(f"array {name!r} of the labels has the wrong type.")
        self._found, self._used = found, dict.fromkeys(found, 0)

    def take(self, entry: dict[str, Any]) -> Labels:
        """The labels that such an entry stands for."""
        dtype = document.field(entry, "dtype", str)
        if "labels" in entry:
            document.check_keys(entry, "dtype", "labels")
            items = [label(value) for value in document.field(entry, "labels", list)]
            return _unique(_array(items, dtype))
        document.check_keys(entry, "dtype", "size")
        size = document.field(entry, "size", int)
        if dtype in _FLOATS:
            return _unique(_array(self._next("floats", size).tolist(), dtype))
        if _is_integer(dtype):
            return _unique(_from_integers(self._next("integers", size), dtype))
        texts = self._lines(size)
        if dtype == "str":
            return _unique(_array([_decoded(text) for text in texts], dtype))
        return _unique(_array([label(document.parse(text)) for text in texts], dtype))

    def done(self) -> None:
        """Refuse arrays of which something is left."""
        for name, array in self._found.items():
            if self._used[name] != len(array):
                raise ModelFileError(f"array {name!r} of the labels is too long.")

    def _next(self, name: str, size: int) -> NDArray[Any]:
        start = self._used[name]
        if not 0 <= size <= len(self._found[name]) - start:
            raise ModelFileError(f"{size} labels are stated, there are fewer.")
        self._used[name] = start + size
        return self._found[name][start : start + size]

    def _lines(self, size: int) -> list[bytes]:
        start = self._used["text"]
        ends = self._next("ends", size)
        bounds = np.concatenate([[start], ends])
        if np.any(np.diff(bounds) < 0) or bounds[-1] > len(self._found["text"]):
            raise ModelFileError("the ends of the labels are not in order.")
        self._used["text"] = int(bounds[-1])
        data = self._found["text"][start : bounds[-1]].tobytes()
        places = (bounds - start).tolist()
        return [data[a:b] for a, b in pairwise(places)]


# ---------------------------------------------------------------------- one label


def plain(label: object, depth: int = 0) -> Any:
    """A label as JSON holds it.

    >>> [plain(x) for x in ("a", 1, 1.0, True, None, ("a", 1), b"a", float("inf"))]
    ['a', 1, 1.0, True, None, {'tuple': ['a', 1]}, {'bytes': '61'}, {'float': 'inf'}]
    """
    value: Any = label.item() if isinstance(label, np.generic) else label
    kind = type(value)
    if kind is tuple and depth < DEEPEST:
        return {"tuple": [plain(part, depth + 1) for part in value]}
    if kind is float:
        return _plain_float(value)
    if kind is str:
        odd = any("\ud800" <= letter <= "\udfff" for letter in value)
        return {"text": value.encode("utf-8", "surrogatepass").hex()} if odd else value
    if kind is bytes:
        return {"bytes": value.hex()}
    if value is None or kind is bool or (kind is int and _fits(value)):
        return value
    raise InputError(
        f"the label {short(label)} of type {kind.__name__} cannot be saved.", hint=_HINT
    )


def _plain_float(value: float) -> Any:
    if math.isnan(value):
        raise InputError("NaN is no label.", hint="it is not even equal to itself")
    return value if math.isfinite(value) else {"float": str(value)}


def _fits(value: int) -> bool:
    return value.bit_length() <= WIDEST


def label(value: Any, depth: int = 0) -> Any:
    """The label that a value in JSON stands for.

    >>> label({"tuple": ["a", 1]})
    ('a', 1)
    """
    if not isinstance(value, dict):
        if isinstance(value, list) or (isinstance(value, int) and not _fits(value)):
            raise ModelFileError(f"a label must not be {short(value)}.")
        return value
    [(kind, content)] = value.items() if len(value) == 1 else [("", None)]
    if kind == "tuple" and isinstance(content, list) and depth < DEEPEST:
        return tuple(label(part, depth + 1) for part in content)
    if kind == "float" and content in ("inf", "-inf"):
        return float(content)
    if kind in ("bytes", "text") and isinstance(content, str):
        return _from_hex(kind, content)
    raise ModelFileError(f"a label must not be {short(value)}.")


def _from_hex(kind: str, content: str) -> bytes | str:
    try:
        data = bytes.fromhex(content)
    except ValueError:
        raise ModelFileError(f"{short(content)} is not hexadecimal.") from None
    return data if kind == "bytes" else _decoded(data)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise ModelFileError(f"the label {short(text)} is not text.") from None


def _line(label: object) -> bytes:
    return document.line(plain(label))


# ---------------------------------------------------------------------- many labels


def _name(labels: Labels) -> str:
    """The type of some labels."""
    kind, name = labels.dtype.kind, labels.dtype.name
    if kind in "US" and _is_narrow(labels.tolist()):
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
    made = values.view(dtype) if _TIMES.fullmatch(dtype) else values.astype(dtype)
    if not np.array_equal(_as_integers(made), values):
        raise ModelFileError(f"a label is no {dtype}.")
    return made


def _refuse_nan(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if np.any(np.isnan(values)):
        plain(math.nan)
    return values


def _listed(labels: Labels, dtype: str) -> list[Any]:
    """The labels as Python's own objects."""
    return list((_as_integers(labels) if _TIMES.fullmatch(dtype) else labels).tolist())


def _array(items: list[Any], dtype: str) -> Labels:
    """Python's own objects as labels of that type, if they are."""
    if dtype == "object":
        return names.object_array(items)
    kind: Any = {"str": str, "bytes": bytes, "bool": bool}.get(dtype)
    kind = kind or (float if dtype in _FLOATS else int)
    if any(type(item) is not kind for item in items):
        raise ModelFileError(f"a label is no {short(dtype)}.")
    if _TIMES.fullmatch(dtype):
        return _numbers(items, "int64").view(dtype)
    if dtype in _INTEGERS or dtype in _FLOATS:
        return _numbers(items, dtype)
    if dtype not in ("str", "bytes"):
        raise ModelFileError(f"labels have an unknown type: {short(dtype)}.")
    if not _is_narrow(items):
        raise ModelFileError(f"a label is too long for {dtype}, or ends in zeros.")
    return np.array(items, dtype=kind)


def _is_narrow(items: list[Any]) -> bool:
    """Whether an array of numpy holds these texts or bytes, and is not much larger than they."""
    zero: Any = "\0" if items and isinstance(items[0], str) else b"\0"
    return not any(len(item) > LONGEST or item.endswith(zero) for item in items)


def _numbers(items: list[Any], dtype: str) -> Labels:
    try:
        with np.errstate(over="ignore"):
            made = np.array(items, dtype=dtype)
    except OverflowError:
        made = np.empty(0)
    if made.tolist() != items:
        raise ModelFileError(f"a label is no {dtype}.")
    return made


def _unique(labels: Labels) -> Labels:
    """The labels, if none is there twice, and each is equal to itself."""
    if labels.dtype.kind in "Mm" and np.any(np.isnat(labels)):
        raise ModelFileError("no time (NaT) is no label.")
    crowd = Counter(map(hash, labels.tolist())).most_common(1)
    if crowd and crowd[0][1] > CROWD:
        raise ModelFileError(f"{crowd[0][1]} labels were made to be hard to tell apart.")
    seen: set[Any] = set()
    for item in labels.tolist():
        if item in seen or item != item:
            raise ModelFileError(f"the label {short(item)} is there twice.")
        seen.add(item)
    return labels
