"""Model files with valid checksums in which somebody changed one thing."""

import copy
import json
from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.files import archive, document, model
from deciban.files.model import unpacked
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

N_ROWS = 24
CLASS = np.arange(N_ROWS) % 2
WORDS = [f"spam offer {i % 3}" if c else f"hello friend {i % 3}" for i, c in enumerate(CLASS)]

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
    for path in places(content.document):
        for value in VALUES:
            yield f"{path} = {value!r:.40}", put(content, path, value)
        yield f"{path} left out", _changed(content, path, _leave_out)
        yield f"{path} doubled", _changed(content, path, _double)


def hostile_arrays(content):
    """What was done, and the content with one array changed, gone or doubled."""
    for name, array in content.arrays.items():
        for what, change in array_changes(array):
            twin = change(array)
            yield f"{name}: {what}", replace(content, arrays={**content.arrays, name: twin})
        rest = {key: value for key, value in content.arrays.items() if key != name}
        yield f"{name} left out", replace(content, arrays=rest)
        yield f"{name} doubled", replace(content, arrays={**content.arrays, f"{name}x": array})


def through_json(content):
    """The content as the reader of files would take it from JSON."""
    text = json.dumps(content.document).encode()
    return replace(content, document=document.loads(text))


def places(value, path=()):
    """The path of every value inside a document."""
    if path:
        yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*path, key))


def _changed(content, path, change):
    """The content in which ``change(holder, key)`` was done at that place of the document."""
    twin = holder = copy.copy(content.document)
    for key in path[:-1]:
        holder[key] = holder = copy.copy(holder[key])
    change(holder, path[-1])
    return replace(content, document=twin)


def put(content, path, value):
    """The content in which another value stands at that place of the document."""

    def put_there(holder, key):
        holder[key] = value

    return _changed(content, path, put_there)


def _leave_out(holder, key):
    del holder[key]


def _double(holder, key):
    if isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[f"{key}_too"] = holder[key]


def array_changes(array):
    """What may become of an array: other types, shapes, lengths and numbers."""
    yield from ((dtype, partial(_cast, dtype)) for dtype in TYPES if array.dtype != dtype)
    yield "flat", np.ravel
    yield "one axis more", lambda a: a[None]
    yield "turned", lambda a: np.ascontiguousarray(a.T)
    yield "empty", lambda a: a[:0]
    yield "twice as long", lambda a: np.concatenate([a, a])
    if array.size:
        yield "shorter", lambda a: a[:-1]
        yield "backwards", lambda a: a[::-1].copy()
        for number in NUMBERS:
            for where, at in (("first", 0), ("last", -1), ("all", slice(None))):
                yield f"{where} {number}", partial(_put_number, at, number)


def _cast(dtype, array):
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _put_number(at, number, array):
    twin = array.copy()
    with np.errstate(all="ignore"):
        twin.reshape(-1)[at] = np.array(number).astype(array.dtype)
    return twin


# ---------------------------------------------------------------------- models


def mixed_table():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "amount": rng.poisson(1 + 3 * CLASS) * 1.5,
            "letter": rng.choice(list("xyz"), N_ROWS),
            "when": pd.date_range("2024-01-01", periods=N_ROWS, freq="7h"),
            "y": np.where(CLASS, "yes", "no"),
        }
    )
    rows.loc[3, "amount"] = np.nan
    return rows


def matrix():
    rng = np.random.default_rng(1)
    return pd.DataFrame({"a": rng.poisson(1 + 3 * CLASS), "b": rng.poisson(4 - 2 * CLASS)})


def fitted():
    """A model of every kind, and rows for it."""
    rows = mixed_table()
    texts = pd.DataFrame({"text": WORDS, "y": rows["y"]})
    stated = {"prior": [0.3, 0.7], "smoothing": {"amount": 1.0}}
    yield "naive Bayes", NaiveBayes(**stated).fit(rows, target="y"), rows
    yield "texts", NaiveBayes().fit(texts, target="y"), texts
    yield "AODE", AODE().fit(rows, target="y"), rows
    few = rows[["amount", "letter", "y"]]
    yield "ensemble", BayesClassifier().fit(few, target="y"), few
    yield "ensemble of texts", BayesClassifier().fit(texts, target="y"), texts
    for kind in (
        LogisticRegression, BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB,
    ):  # fmt: skip
        yield kind.__name__, kind().fit(matrix(), rows["y"]), matrix()


def loaded(content):
    """What :func:`deciban.load` makes of a file with that content."""
    with archive.errors_about("m.deciban"):
        stored = unpacked(through_json(content))
        package = model._KINDS[stored.kind].package
        return getattr(import_module(package), stored.kind).from_stored(stored)
