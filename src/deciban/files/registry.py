"""The kinds of models that files hold: as the model that scores, or as the estimator that learns.

A kind is the name of its estimator. It has a line here: the package of the estimator, and the
module that writes and reads its files, with a function ``from_stored(stored) -> Model``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from deciban.errors import ModelFileError
from deciban.files import archive
from deciban.files.model import Stored, unpacked

if TYPE_CHECKING:
    from deciban.models.protocol import Model

__all__ = ["Opened", "from_bytes", "load", "open", "open_bytes"]


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
