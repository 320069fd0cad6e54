"""Any model from its file: the file says what kind of model it holds."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from deciban import files
from deciban.errors import ModelFileError

#: Where the estimator of each kind of model lives.
HOMES = {
    "BayesClassifier": "deciban.ensemble",
    "AODE": "deciban.aode",
    "LogisticRegression": "deciban.logistic",
    "NaiveBayes": "deciban.naive_bayes",
}


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a ``.deciban`` file; nothing in the file can run.

    >>> import tempfile
    >>> from deciban import NaiveBayes
    >>> m = NaiveBayes().fit({"x": ["S", "S", "L"]}, [1, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     m.save(f"{folder}/m.deciban")
    ...     load(f"{folder}/m.deciban").predict({"x": ["L"]})
    array([2])
    """
    stored = files.load(path)
    if stored.kind not in HOMES:
        raise ModelFileError(
            f"the file holds a {stored.kind}; known are {', '.join(sorted(HOMES))}.",
            hint="a newer version of deciban may know it",
        )
    return getattr(import_module(HOMES[stored.kind]), stored.kind).from_stored(stored)
