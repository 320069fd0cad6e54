"""Labels: the names of classes, columns and categories.

A set of labels is a one-dimensional array without repeats. It may hold
numbers, strings, or any mixture of hashable objects; two labels are the same
when they are equal in Python.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from reprlib import repr as short
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deciban.errors import (
    InputError,
    MissingValueError,
    ParameterError,
    ShapeError,
    UnhashableError,
)
from deciban.kernels.numbering import number

#: An array of whatever type.
Array = NDArray[Any]
Labels = Array
Positions = NDArray[np.intp]

#: Integer labels whose range is at most this many times their number are looked up in a table.
_MAX_RANGE_PER_LABEL = 8
#: Longer strings are kept as objects: one would widen the whole array.
MAX_STRING_LENGTH = 64


def object_array(values: Iterable[Hashable]) -> Labels:
    """A one-dimensional array of objects; tuples stay whole.

    >>> object_array([("a", 1), "b"])
    array([('a', 1), 'b'], dtype=object)
    """
    items = list(values)
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def sort(values: Iterable[Hashable]) -> Labels:
    """Labels in their natural order, or by type and text where they cannot be compared.

    An array of one type stays of that type.

    >>> sort(["b", 3, "a", 1])
    array([1, 3, 'a', 'b'], dtype=object)
    >>> sort(np.array(["2025-01-02", "2025-01-01"], dtype="M8[D]"))
    array(['2025-01-01', '2025-01-02'], dtype='datetime64[D]')
    """
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return np.sort(values)
    items: list[Any] = list(values)
    try:
        items.sort()
    except TypeError:
        items.sort(key=lambda item: (type(item).__name__, str(item)))
    return label_array(items)


def sort_codes(items: Sequence[Hashable], codes: NDArray[np.int64]) -> tuple[Labels, Positions]:
    """Labels in their order, and codes among them, which are given among the labels as they are.

    >>> sort_codes(["b", "a"], np.array([0, 0, 1, -1]))
    (array(['a', 'b'], dtype='<U1'), array([ 1,  1,  0, -1]))
    """
    ordered = sort(items)
    return ordered, np.append(positions(label_array(items), ordered), -1)[codes]


def label_array(items: Sequence[Hashable]) -> Labels:
    """The labels as an array of numbers or strings, where all are of one kind that holds them.

    Integers that no 64 bits hold, of which numpy makes floats, and strings that an array
    would not hold well stay objects.

    >>> label_array([2, 3]), label_array([2, "a"])
    (array([2, 3]), array([2, 'a'], dtype=object))
    """
    kinds = {type(item) for item in items}
    if kinds == {str}:
        texts = cast("Sequence[str]", items)
        return np.array(texts) if is_compact(texts) else object_array(texts)
    if kinds in ({int}, {float}, {bool}):
        array = np.array(items)
        return object_array(items) if kinds == {int} and array.dtype.kind == "f" else array
    return object_array(items)


def is_compact(texts: Sequence[str] | Sequence[bytes]) -> bool:
    r"""Whether an array of numpy holds these strings, and is not much larger than they.

    It drops the NULs at the end of a string, and pads every string to the longest.

    >>> is_compact(["a", "bc"]), is_compact([b"a", b"bc" * 100]), is_compact(["a\0"])
    (True, False, False)
    """
    nul: str | bytes = "\0" if texts and isinstance(texts[0], str) else b"\0"
    short = max(map(len, texts), default=0) <= MAX_STRING_LENGTH
    return short and not any(text[-1:] == nul for text in texts)


def factorise(values: Array) -> tuple[Labels, Positions]:
    """Ordered labels of the values, and the position of each value among them.

    A missing value (None, NaN, NA, NaT) is no label: its position is -1.

    >>> factorise(np.array([3, 1, 3]))
    (array([1, 3]), array([1, 0, 1]))
    >>> factorise(np.array(["b", None, 2], dtype=object))
    (array([2, 'b'], dtype=object), array([ 1, -1,  0]))
    """
    if values.dtype.kind in "iu" and values.size:
        low, high = values.min(), values.max()
        span = int(high) - int(low)
        if span < _MAX_RANGE_PER_LABEL * values.size + 1024:
            # Beyond 2**63 all wrap around, and their differences do not.
            return _factorise_range(values, low.astype(np.intp), span)
    if values.dtype.kind == "O":
        return _factorise_objects(values)
    distinct, codes = np.unique(values, return_inverse=True)
    known = distinct == distinct  # NaN and NaT sort last, and differ from themselves
    codes = codes.astype(np.intp, copy=False)
    return distinct[known], codes if known.all() else np.where(known[codes], codes, -1)


def _factorise_range(values: Array, least: np.intp, span: int) -> tuple[Labels, Positions]:
    """Integers that lie close together: one table instead of a sort."""
    shifted = values.astype(np.intp, copy=False)
    if least:
        shifted = shifted - least
    occurs = np.zeros(span + 1, dtype=bool)
    occurs[shifted] = True
    labels = np.flatnonzero(occurs)
    if len(labels) < len(occurs):
        shifted = (np.cumsum(occurs) - 1)[shifted]
    return (labels + least).astype(values.dtype), shifted


def _factorise_objects(values: Array) -> tuple[Labels, Positions]:
    """Objects of any kind: one dictionary, by what Python calls equal."""
    try:
        first, codes = number(values.tolist())
    except TypeError as error:
        raise UnhashableError(
            f"a label argument must be a string or a number, or at least hashable: {error}.",
            hint="use strings, numbers or tuples",
        ) from None
    known = sort(label for label in first if not is_missing(label))
    place = np.full(len(first), -1, dtype=np.intp)
    for position, label in enumerate(known.tolist()):
        place[first[label]] = position
    return known, place[codes]


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ == "NAType":
        return True
    different = value != value
    return isinstance(different, bool | np.bool_) and bool(different)


def same(a: Labels, b: Labels) -> bool:
    """Whether both hold the same labels in the same order."""
    if a is b:
        return True
    return len(a) == len(b) and a.dtype.kind == b.dtype.kind and bool(np.all(a == b))


def positions(labels: Labels, within: Labels) -> Positions:
    """Where each label stands in ``within``; -1 where it does not.

    >>> positions(np.array(["b", "z"]), np.array(["a", "b"]))
    array([ 1, -1])
    """
    if same(labels, within[: len(labels)]):
        return np.arange(len(labels))
    at = _search(labels, within) if labels.dtype.kind == within.dtype.kind else None
    if at is not None:
        return at
    place = {label: position for position, label in enumerate(within.tolist())}
    return np.fromiter(
        (place.get(label, -1) for label in labels.tolist()), dtype=np.intp, count=len(labels)
    )


def _search(labels: Labels, within: Labels) -> Positions | None:
    """Positions by binary search; None where the labels have no order or repeat."""
    kind = labels.dtype.kind
    if kind not in "iuMmU" or len(within) == 0:
        return None
    keys, known = (labels, within) if kind != "U" else (_hashes(labels), _hashes(within))
    order, query_order = np.argsort(known), np.argsort(keys)
    ascending = known[order]
    if np.any(ascending[1:] == ascending[:-1]):
        return None
    at = np.empty(len(keys), dtype=np.intp)
    at[query_order] = np.searchsorted(ascending, keys[query_order])
    at = order[np.minimum(at, len(known) - 1)]
    return np.where(within[at] == labels, at, -1)


def _hashes(labels: Labels) -> NDArray[np.uint64]:
    """A hash of each string; few strings share one."""
    width = labels.dtype.itemsize // 4
    letters = np.ascontiguousarray(labels).view(np.uint32).reshape(len(labels), width)
    hashes = np.zeros(len(labels), dtype=np.uint64)
    power = 1
    for letter in letters.T:  # what pads a string is zero and adds nothing
        hashes += letter * np.uint64(power)
        power = power * 0x9E3779B97F4A7C15 % 2**64
    return hashes


def union(a: Labels, b: Labels) -> Labels:
    """The labels of ``a``, then those of ``b`` that are new.

    >>> union(np.array(["a", "b"]), np.array(["c", "b"]))
    array(['a', 'b', 'c'], dtype='<U1')
    """
    if same(a, b) or len(b) == 0:
        return a
    if len(a) == 0:
        return b
    new = b[positions(b, a) < 0]
    if len(new) == 0:
        return a
    if a.dtype.kind == b.dtype.kind:
        return np.concatenate([a, new])
    return label_array([*a.tolist(), *new.tolist()])


def position(label: Hashable | None, classes: Labels) -> int | None:
    """Where a class stands among the classes; None if no class is named.

    >>> position("spam", np.array(["ham", "spam"]))
    1
    """
    if label is None:
        return None
    known: list[Any] = classes.tolist()
    if label not in known:
        raise InputError(
            f"unknown class {label!r}.", hint=f"one of {', '.join(map(str, classes[:10]))}"
        )
    return known.index(label)


def flat_list(values: Iterable[Hashable], name: str) -> list[Hashable]:
    """Labels in order as a list; what has none, or is not flat, is refused."""
    try:
        flat = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if isinstance(values, (str, bytes, set, frozenset)) or not isinstance(flat, list):
            raise TypeError
        set(flat)  # lists inside, or an array of two dimensions, cannot be looked up
    except TypeError:
        message = f"{name} must be a flat list of labels in order, got {short(values)}."
        raise ShapeError(message, hint='write ["ham", "spam"]') from None
    return flat


def class_array(classes: Iterable[Hashable]) -> Labels:
    """Classes, each once, as an array; a list of mixed types is never cast to strings.

    >>> class_array(["ham", 1])
    array(['ham', 1], dtype=object)
    """
    values = flat_list(classes, "classes")
    if not values or None in values or len(set(values)) < len(values):
        message = f"classes must be one or more labels, no two alike, no None, got {short(values)}."
        raise ParameterError(message, hint="None is the answer of an abstention")
    if isinstance(classes, np.ndarray):
        return classes
    alike = np.isscalar(values[0]) and len(set(map(type, values))) == 1
    return np.asarray(values) if alike else np.fromiter(values, dtype=object)


def index_of(labels: Labels) -> dict[Hashable, int]:
    """The place of each label."""
    return {label: i for i, label in enumerate(labels.tolist())}


def codes_in(values: Iterable[Hashable], index: Mapping[Hashable, int], name: str) -> Positions:
    """The number of each label: one dictionary look-up per row, in C."""
    try:
        return np.fromiter(map(index.__getitem__, flat_list(values, name)), dtype=np.intp)
    except KeyError as missing:
        label = missing.args[0]
    from difflib import get_close_matches

    if label is None or (isinstance(label, float) and np.isnan(label)):
        message = f"{name} has {label} where a class is needed."
        raise MissingValueError(message, hint="an answer may be None, not NaN, if abstain is given")
    names = {str(known): known for known in index if known is not None}
    near = get_close_matches(str(label), names, n=1)
    hint = f"the nearest is {names[near[0]]!r}" if near else f"one is {next(iter(index))!r}"
    raise ParameterError(f"{name} has {label!r}, which is not one of the classes.", hint=hint)
