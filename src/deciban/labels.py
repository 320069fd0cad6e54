"""Labels: the names of classes, columns and categories.

A set of labels is a one-dimensional array without repeats. It may hold
numbers, strings, or any mixture of hashable objects; two labels are the same
when they are equal in Python.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from deciban.errors import InputError, UnhashableError

Labels = NDArray[Any]
Positions = NDArray[np.intp]

#: Integer labels that span no more than this many times their number are looked up in a table.
_SPREAD = 8
#: Longer strings are kept as objects: one would widen the whole array.
_LONGEST = 64


def objects(values: Iterable[Hashable]) -> Labels:
    """One-dimensional object array; tuples stay whole.

    >>> objects([("a", 1), "b"])
    array([('a', 1), 'b'], dtype=object)
    """
    items = list(values)
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def ordered(values: Iterable[Hashable]) -> Labels:
    """Labels in their natural order, or by type and text where they cannot be compared.

    >>> ordered(["b", 3, "a", 1])
    array([1, 3, 'a', 'b'], dtype=object)
    """
    items: list[Any] = list(values)
    try:
        items.sort()
    except TypeError:
        items.sort(key=lambda item: (type(item).__name__, str(item)))
    return narrowed(items)


def narrowed(items: Sequence[Hashable]) -> Labels:
    """The labels as an array of numbers or strings, where all are of one kind that holds them.

    numpy drops the NULs at the end of a string and pads every string to the
    longest, and makes floats of integers that no 64 bits hold: then they stay objects.

    >>> narrowed([2, 3]), narrowed([2, "a"])
    (array([2, 3]), array([2, 'a'], dtype=object))
    """
    kinds = {type(item) for item in items}
    if kinds == {str}:
        texts = cast("Sequence[str]", items)
        plain = max(map(len, texts)) <= _LONGEST and not any(t.endswith("\0") for t in texts)
        return np.array(texts) if plain else objects(texts)
    if kinds in ({int}, {float}, {bool}):
        array = np.array(items)
        return objects(items) if kinds == {int} and array.dtype.kind == "f" else array
    return objects(items)


def factorise(values: NDArray[Any]) -> tuple[Labels, Positions]:
    """Ordered labels of the values, and the position of each value among them.

    A missing value (None, NaN, NA, NaT) is no label: its position is -1.

    >>> factorise(np.array([3, 1, 3]))
    (array([1, 3]), array([1, 0, 1]))
    >>> factorise(np.array(["b", None, 2], dtype=object))
    (array([2, 'b'], dtype=object), array([ 1, -1,  0]))
    """
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < _SPREAD * values.size + 1024:
            return _factorise_range(values, low, high)
    if values.dtype.kind == "O":
        return _factorise_objects(values)
    found, codes = np.unique(values, return_inverse=True)
    known = found == found  # NaN and NaT sort last, and differ from themselves
    codes = codes.astype(np.intp, copy=False)
    return found[known], codes if known.all() else np.where(known[codes], codes, -1)


def _factorise_range(values: NDArray[Any], low: int, high: int) -> tuple[Labels, Positions]:
    """Integers that lie close together: one table instead of a sort."""
    shifted = values.astype(np.intp, copy=False)
    if low:
        shifted = shifted - low
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[shifted] = True
    labels = np.flatnonzero(seen)
    if len(labels) < len(seen):
        shifted = (np.cumsum(seen) - 1)[shifted]
    return (labels + low).astype(values.dtype), shifted


def _factorise_objects(values: NDArray[Any]) -> tuple[Labels, Positions]:
    items = values.tolist()
    try:
        first = {label: place for place, label in enumerate(dict.fromkeys(items))}
    except TypeError as error:
        raise UnhashableError(
            f"a label argument must be a string or a number, or at least hashable: {error}.",
            hint="use strings, numbers or tuples",
        ) from None
    codes = np.fromiter(map(first.__getitem__, items), dtype=np.intp, count=len(items))
    known = ordered(label for label in first if not is_missing(label))
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
    found = _looked_up(labels, within) if labels.dtype.kind == within.dtype.kind else None
    if found is not None:
        return found
    place = {label: position for position, label in enumerate(within.tolist())}
    return np.fromiter(
        (place.get(label, -1) for label in labels.tolist()), dtype=np.intp, count=len(labels)
    )


def _looked_up(labels: Labels, within: Labels) -> Positions | None:
    """Positions by sorting and halving; None where that does not work."""
    kind = labels.dtype.kind
    if kind not in "iuMmU" or len(within) == 0:
        return None
    keys, known = (labels, within) if kind != "U" else (_keys(labels), _keys(within))
    order, asked = np.argsort(known), np.argsort(keys)
    ranked = known[order]
    if np.any(ranked[1:] == ranked[:-1]):
        return None
    at = np.empty(len(keys), dtype=np.intp)
    at[asked] = np.searchsorted(ranked, keys[asked])
    at = order[np.minimum(at, len(known) - 1)]
    return np.where(within[at] == labels, at, -1)


def _keys(labels: Labels) -> NDArray[np.uint64]:
    """A number for each string, the same for the same string; few strings share one."""
    width = labels.dtype.itemsize // 4
    letters = np.ascontiguousarray(labels).view(np.uint32).reshape(len(labels), width)
    keys = np.zeros(len(labels), dtype=np.uint64)
    power = 1
    for letter in letters.T:  # what pads a string is zero and adds nothing
        keys += letter * np.uint64(power)
        power = power * 0x9E3779B97F4A7C15 % 2**64
    return keys


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
    return narrowed([*a.tolist(), *new.tolist()])


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
