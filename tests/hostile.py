"""Model files with valid checksums in which somebody changed one thing."""

import copy
import json
from dataclasses import replace

import numpy as np

from deciban.files import document

#: Values that stand where others were expected.
VALUES = (
    None, True, 0, -1, 7, 10**400, 0.0, 0.5, -2.5, 1e308, 5e-324, 1e16,
    "", "x", "\ud800", [], [1], ["x"], [[]], {}, {"float": "inf"}, {"text": "eda080"},
)  # fmt: skip
#: Numbers that stand in one place of an array, or in all.
NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, 5e-324, 2.0**62, -(2.0**62), 300.0)
TYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


def hostile_documents(content):
    """What was done, and the content with one value of its document changed, gone or doubled."""
    for path in _places(content.document):
        for value in VALUES:
            yield f"{path} = {value!r:.40}", _changed(content, path, _put(value))
        yield f"{path} left out", _changed(content, path, _leave_out)
        yield f"{path} doubled", _changed(content, path, _double)


def hostile_arrays(content):
    """What was done, and the content with one array changed, gone or doubled."""
    for name, array in content.arrays.items():
        for what, twin in _changed_arrays(array):
            yield f"{name}: {what}", replace(content, arrays={**content.arrays, name: twin})
        rest = {key: value for key, value in content.arrays.items() if key != name}
        yield f"{name} left out", replace(content, arrays=rest)
        yield f"{name} doubled", replace(content, arrays={**content.arrays, f"{name}x": array})


def through_json(content):
    """The content as the reader of files would take it from JSON."""
    text = json.dumps(content.document).encode()
    return replace(content, document=document.loads(text))


def _places(value, path=()):
    """The path of every value inside a document."""
    if path:
        yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from _places(value[key], (*path, key))


def _changed(content, path, change):
    """The content in which ``change(holder, key)`` was done at that place of the document."""
    twin = copy.deepcopy(content.document)
    holder = twin
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return replace(content, document=twin)


def _put(value):
    def put(holder, key):
        holder[key] = value

    return put


def _leave_out(holder, key):
    del holder[key]


def _double(holder, key):
    if isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[f"{key}_too"] = holder[key]


def _changed_arrays(array):
    """An array of other types, shapes, lengths and numbers."""
    with np.errstate(all="ignore"):
        yield from ((dtype, array.astype(dtype)) for dtype in TYPES if array.dtype != dtype)
    yield "flat", array.ravel()
    yield "one axis more", array[None]
    yield "turned", np.ascontiguousarray(array.T)
    yield "empty", array[:0]
    yield "twice as long", np.concatenate([array, array])
    if not array.size:
        return
    yield "shorter", array[:-1]
    yield "backwards", array[::-1].copy()
    for number in NUMBERS:
        for where, at in (("first", 0), ("last", -1), ("all", slice(None))):
            twin = array.copy()
            with np.errstate(all="ignore"):
                twin.reshape(-1)[at] = np.array(number).astype(array.dtype)
            yield f"{where} {number}", twin
