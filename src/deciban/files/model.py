"""A model in a file: an estimator's own description beside its counts.

An estimator says what it is (``kind``), how it was made (``description``: its
parameters, in JSON), and hands over its counts, if it has any; names and numbers that are many
go along as ``labels`` and ``arrays``. What it gets back is the same, checked.

A kind is the name of its estimator. It has a line in the registry at the end: the package of the
estimator, and the module that writes and reads its files, with a function
``from_stored(stored) -> Model``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deciban.errors import ModelFileError
from deciban.files import archive, document, vocabulary
from deciban.files.description import (
    CountsEntry,
    DocumentEntry,
    TrainedEntry,
    UnitsEntry,
    Vocabulary,
)
from deciban.files.tables import counts_from, counts_to
from deciban.files.upgrade import upgrade
from deciban.files.vocabulary import Writer
from deciban.labels import Array, Labels
from deciban.plain import Plain, PlainDict
from deciban.sources.trained_rows import TrainedRows
from deciban.sources.unit_sample import TrainingUnits
from deciban.stats.counts import Counts

if TYPE_CHECKING:
    from deciban.models.protocol import Model

#: Where the arrays of each part of a model file start.
_PARTS = ("counts.", "labels.", "model.")


@dataclass(frozen=True, eq=False)
class Stored:
    """What an estimator leaves in a file and finds there."""

    kind: str
    counts: Counts | None
    description: Mapping[str, Plain] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)


def save(path: str | os.PathLike[str], stored: Stored, *, overwrite: bool = False) -> None:
    """Write a model file as a whole, or leave what was there before.

    What is there must be a file of deciban's own, unless ``overwrite``.

    >>> import tempfile
    >>> counts = Counts.of({"size": ["S", "M"]}, ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/m.deciban", Stored("CategoricalNB", counts, {"alpha": 1.0}))
    ...     again = read(f"{folder}/m.deciban")
    >>> again.kind, again.description, again.counts == counts
    ('CategoricalNB', {'alpha': 1.0}, True)
    """
    content, arrays = _packed(stored)
    archive.write(path, stored.kind, content, arrays, overwrite=overwrite)


def to_bytes(stored: Stored) -> bytes:
    """The bytes that a file of this model would have.

    >>> to_bytes(Stored("CategoricalNB", None, {"alpha": 1.0}))[:2]
    b'PK'
    """
    return archive.to_bytes(stored.kind, *_packed(stored))


def _packed(stored: Stored) -> tuple[dict[str, object], dict[str, Array]]:
    """The document and the arrays of a file."""
    writer = Writer()
    counts, tables = (None, {}) if stored.counts is None else counts_to(stored.counts)
    content: dict[str, object] = {
        "model": dict(stored.description),
        "labels": {name: writer.put(stored.labels[name]) for name in sorted(stored.labels)},
        "counts": counts,
    }
    parts = zip(_PARTS, (tables, writer.arrays(), stored.arrays), strict=True)
    arrays = {start + name: array for start, part in parts for name, array in part.items()}
    return content, arrays


def read(path: str | os.PathLike[str], *, limit: int = archive.MAX_UNPACKED_BYTES) -> Stored:
    """Read a model file; nothing in it is used before it is checked.

    ``limit`` bounds the bytes that it may unpack to.
    """
    content = archive.read(path, limit=limit)
    with archive.errors_about(path):
        return unpacked(content)


def unpacked(content: archive.Content) -> Stored:
    """The model in the content of a file."""
    if content.version < archive.VERSION:
        content = upgrade(content)
    parts: dict[str, dict[str, Array]] = {start: {} for start in _PARTS}
    for name, array in content.arrays.items():
        start, dot, rest = name.partition(".")
        if start + dot not in parts:
            raise ModelFileError(f"array {name!r} belongs to nothing.")
        parts[start + dot][rest] = array
    entry = document.read(content.document, DocumentEntry)
    tables, names, own = parts.values()
    counts = _counts(entry.counts, tables)
    return Stored(content.kind, counts, entry.model, _labels(entry.labels, names), own)


def _counts(entry: CountsEntry | None, tables: dict[str, Array]) -> Counts | None:
    """The counts; a model without any says so, and has no tables of them."""
    if entry is not None:
        return counts_from(entry, tables)
    if tables:
        raise ModelFileError(f"array {next(iter(tables))!r} belongs to no counts.")
    return None


def _labels(entries: Mapping[str, Vocabulary], arrays: Mapping[str, Array]) -> dict[str, Labels]:
    if not (entries or arrays):
        return {}
    names = sorted(entries)
    labels = vocabulary.read([entries[name] for name in names], arrays)
    return dict(zip(names, labels, strict=True))


#: The bits of a hash of a group.
_HASH_BITS = 64


def with_units(content: Stored, units: TrainingUnits | None) -> Stored:
    """What is to be stored of a model, and the units of its rows beside it, if they had any."""
    if units is None:
        return content
    entry = {
        "kind": units.kind,
        "column": units.column,
        "halvings": _HASH_BITS + 1 - units.limit.bit_length(),
        "seen": [f"{key:016x}" for key in units.seen.tolist()],
        "last": units.last,
    }
    return replace(content, description={**content.description, "units": entry})


def units_from(entry: UnitsEntry | None) -> TrainingUnits | None:
    """The units of a file, checked by its declaration."""
    if entry is None:
        return None
    seen = np.array([int(key, 16) for key in entry.seen], dtype=np.uint64)
    limit = 1 << (_HASH_BITS - entry.halvings)
    return TrainingUnits(entry.kind, entry.column, limit, seen, entry.last)


def with_trained(content: Stored, trained: TrainedRows | None) -> Stored:
    """What is to be stored of a model, and hashes of the rows that it learned, if they are kept."""
    if trained is None:
        return content
    entry = {
        "rows": trained.n_rows,
        "pairs": trained.n_pairs,
        "equal_pairs": trained.n_equal_pairs,
        "kept": [f"{key:08x}" for key in trained.kept.tolist()],
    }
    return replace(content, description={**content.description, "trained": entry})


def trained_from(entry: TrainedEntry | None) -> TrainedRows | None:
    """The hashes of a file, checked by its declaration."""
    if entry is None:
        return None
    kept = np.array([int(key, 16) for key in entry.kept], dtype=np.uint32)
    return TrainedRows(entry.rows, kept, entry.pairs, entry.equal_pairs)


#: The parameters that may be mappings by class.
_BY_CLASS = ("class_weight", "prior")


def plain_parameters(parameters: PlainDict) -> PlainDict:
    """Parameters as a file holds them: the labels of class weights and priors may be of any type.

    >>> plain_parameters({"class_weight": {1: 5.0}})
    {'class_weight': [[1, 5.0]]}
    """
    stated = {name: parameters[name] for name in _BY_CLASS if name in parameters}
    pairs = {
        name: [[label, value] for label, value in of.items()]
        for name, of in stated.items()
        if isinstance(of, Mapping)
    }
    return {**parameters, **pairs}


def restored_parameters(parameters: PlainDict) -> PlainDict:
    """Parameters as they were before :func:`plain_parameters`."""
    restored = dict(parameters)
    for name in _BY_CLASS:
        pairs = parameters.get(name)
        if not isinstance(pairs, list) or (name == "prior" and not _has_pairs(pairs)):
            continue  # priors may also be numbers in the order of the classes
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError(f"{name} must be pairs of a class and a number.")
        restored[name] = dict(pairs)
    return restored


def _has_pairs(values: list[Any]) -> bool:
    return any(isinstance(value, list) for value in values)


# ---------------------------------------------------------------------- every kind of model


class _Kind(NamedTuple):
    """Where the estimator of a kind is, and where its files are read."""

    package: str
    stored: str


_DROP_IN = _Kind("deciban.naive_bayes", "deciban.naive_bayes.dropins.stored")
_KINDS = {
    "NaiveBayes": _Kind("deciban.naive_bayes", "deciban.naive_bayes.stored"),
    "AODE": _Kind("deciban.aode", "deciban.aode.stored"),
    "BayesClassifier": _Kind("deciban.ensemble", "deciban.ensemble.stored"),
    "LogisticRegression": _Kind("deciban.logistic", "deciban.logistic.stored"),
    "BernoulliNB": _DROP_IN,
    "CategoricalNB": _DROP_IN,
    "ComplementNB": _DROP_IN,
    "GaussianNB": _DROP_IN,
    "MultinomialNB": _DROP_IN,
}


@dataclass(frozen=True, eq=False)
class Opened:
    """What a model file holds: the model, the column that it predicts, and the file's format.

    ``target`` is None where the labels were not in a column of the table.
    """

    model: Model
    target: str | None
    format_version: int


def open(path: str | os.PathLike[str]) -> Opened:
    """The model of a ``.deciban`` file, without scikit-learn; nothing in the file can run.

    >>> import tempfile
    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes().fit({"x": ["S", "S", "L"], "y": [1, 1, 2]}, target="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     m.save(f"{folder}/m.deciban")
    ...     opened = open(f"{folder}/m.deciban")
    >>> opened.model.kind, opened.target, opened.model.classes
    ('NaiveBayes', 'y', array([1, 2]))
    """
    return _opened(path, archive.read(path))


def open_bytes(data: bytes) -> Opened:
    """The model in the bytes of a file, checked as a file is."""
    return _opened("the model", archive.from_bytes(data, "the model"))


def _opened(path: str | os.PathLike[str], content: archive.Content) -> Opened:
    with archive.errors_about(path):
        stored = unpacked(content)
        model: Model = import_module(_kind(stored).stored).from_stored(stored)
        return Opened(model, stored.description.get("target"), content.version)


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator of a ``.deciban`` file; nothing in the file can run.

    >>> import tempfile
    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     m.save(f"{folder}/m.deciban")
    ...     load(f"{folder}/m.deciban").predict({"x": ["L"]})
    array([2])
    """
    return _estimator(path, archive.read(path))


def from_bytes(data: bytes, what: str = "these bytes") -> Any:
    """The estimator in the bytes of a model file; errors name ``what`` they are.

    >>> from_bytes(b"spam", "the note")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    deciban.errors.ModelFileError: the note cannot be read: it has 4 bytes. Hint: ...
    """
    return _estimator(what, archive.from_bytes(data, what))


def _estimator(path: str | os.PathLike[str], content: archive.Content) -> Any:
    with archive.errors_about(path):
        stored = unpacked(content)
        return getattr(import_module(_kind(stored).package), stored.kind).from_stored(stored)


def _kind(stored: Stored) -> _Kind:
    if stored.kind not in _KINDS:
        raise ModelFileError(
            f"the file holds a {stored.kind}; known are {', '.join(sorted(_KINDS))}.",
            hint="a newer version of deciban may know it",
        )
    return _KINDS[stored.kind]
