"""JSON that holds no surprises: bounded, finite, and every key once.

What Python's reader lets pass and this one refuses: ``NaN`` and ``Infinity``,
numbers such as ``1e999`` that become infinite, the same key twice (of which
the last would win), and nesting without end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from reprlib import repr as short
from typing import Any, NoReturn, TypeVar

from deciban.errors import InputError, ModelFileError

#: The most bytes of a document: large things belong into arrays.
MAX_JSON_BYTES = 16 << 20

T = TypeVar("T")


def dumps(document: Mapping[str, object]) -> bytes:
    """The document as JSON that people can read.

    >>> print(dumps({"alpha": 1.0}).decode())
    {
     "alpha": 1.0
    }
    """
    try:
        text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1)
        data = text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the model's description cannot be saved: {error}.",
            hint="it may hold None, truth values, finite numbers, text, lists and dicts of these",
        ) from None
    if len(data) > MAX_JSON_BYTES:
        raise InputError(
            f"the model's description is too long: {len(data)} bytes, "
            f"the most is {MAX_JSON_BYTES}.",
            hint="put what is large into arrays",
        )
    return data


def line(value: object) -> bytes:
    """One value on one line.

    >>> line({"tuple": ["a", 1]})
    b'{"tuple":["a",1]}'
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")


def loads(data: bytes) -> dict[str, object]:
    """The document that JSON describes.

    >>> loads(b'{"alpha": 1, "alpha": 2}')
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'alpha' is there twice.
    """
    value = parse(data)
    if not isinstance(value, dict):
        raise ModelFileError(f"a description must be an object, got {short(value)}.")
    return value


def parse(data: bytes) -> object:
    """The value that JSON describes, whatever it is."""
    if len(data) > MAX_JSON_BYTES:
        raise ModelFileError(
            f"its description has {len(data)} bytes, the most is {MAX_JSON_BYTES}."
        )
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its description is not JSON: {error}.") from None


def field(document: Mapping[str, object], name: str, kind: type[T]) -> T:
    """The value of that name, if it has that type.

    >>> field({"size": 3}, "size", int)
    3
    >>> field({"size": True}, "size", int)
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'size' must be of type int, got True.
    """
    value = document.get(name)
    if type(value) is not kind:
        raise ModelFileError(f"{name!r} must be of type {kind.__name__}, got {short(value)}.")
    return value


def check_keys(document: Mapping[str, object], *names: str) -> None:
    """Refuse a document that has other keys.

    >>> check_keys({"size": 3, "colour": "red"}, "size")
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: 'colour' is not known here.
    """
    for name in document:
        if name not in names:
            raise ModelFileError(f"{short(name)} is not known here.")


def record(
    document: Mapping[str, object], types: Mapping[str, type], optional: Iterable[str] = ()
) -> dict[str, Any]:
    """The fields of a document that has these, each of its type, and no others but optional ones.

    >>> record({"size": 3, "colour": "red"}, {"size": int}, optional=["colour"])
    {'size': 3}
    """
    check_keys(document, *types, *optional)
    return {name: field(document, name, kind) for name, kind in types.items()}


def records(
    entries: Iterable[object], what: str, types: Mapping[str, type], optional: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """The fields of each of some small documents.

    >>> records([3], "column", {"name": str})
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: a column must be a record.
    """
    out = []
    for entry in entries:
        if not isinstance(entry, dict):
            raise ModelFileError(f"a {what} must be a record.")
        out.append(record(entry, types, optional))
    return out


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON as a dict, if no key is there twice."""
    document: dict[str, object] = {}
    for name, value in pairs:
        if name in document:
            raise ModelFileError(f"{short(name)} is there twice.")
        document[name] = value
    return document


def _refuse(constant: str) -> NoReturn:
    raise ModelFileError(f"{constant} is not a number.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"{short(text)} is beyond every number.")
    return value
