"""JSON that holds no surprises: bounded, finite, and every key once.

What Python's reader lets pass and this one refuses: ``NaN`` and ``Infinity``,
numbers such as ``1e999`` that become infinite, the same key twice (of which
the last would win), and nesting without end.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from reprlib import repr as short
from typing import NoReturn, TypeVar

import msgspec

from deciban.errors import InputError, ModelFileError

#: The most bytes of a document: large things belong into arrays.
MAX_JSON_BYTES = 16 << 20
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

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
        value: object = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=_finite,
        )
        if _ESCAPED_SURROGATE.search(data):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except ModelFileError:
        raise
    except UnicodeEncodeError:
        raise ModelFileError("its description has half a character.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its description is not JSON: {error}.") from None
    return value


def read(entry: object, kind: type[T]) -> T:
    """A document or a part of it, if every field has the type and range that are declared.

    >>> from deciban.files.description import ArrayEntry
    >>> read({"dtype": "int64", "shape": 3, "sha256": ""}, ArrayEntry)
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: its document: expected `array`, got `int` - at `$.shape`.
    """
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        what = str(error)
        raise ModelFileError(f"its document: {what[:1].lower()}{what[1:]}.") from None


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
