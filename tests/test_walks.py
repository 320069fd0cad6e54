"""How many files of the package a call passes through, and how often it steps from one to another.

Data flows one way (docs/architecture.md): a call that enters more files than it did asks somebody
again for what it was given, or does work that it does not need. Whoever makes one shorter lowers
its limits here.
"""

import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import BayesClassifier, NaiveBayes, families, load
from deciban.naive_bayes import GaussianNB

PACKAGE = Path(deciban.__file__).parent
FRUIT = Path(__file__).parents[1] / "docs" / "fruit.csv"
ROW = {"id": 7, "grams": 103.3, "colour": "red", "ripe": True, "picked": date(2025, 8, 2)}
X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2


@pytest.fixture(scope="module")
def fruit():
    return NaiveBayes().fit(FRUIT, target="fruit")


@pytest.fixture(scope="module")
def path(fruit, tmp_path_factory):
    path = tmp_path_factory.mktemp("walks") / "m.deciban"
    fruit.save(path)
    return path


WALKS = {
    "NaiveBayes.fit": (lambda fruit, path: NaiveBayes().fit(FRUIT, target="fruit"), 46, 182),
    "predict_proba": (lambda fruit, path: fruit.predict_proba([ROW]), 12, 20),
    "explain": (lambda fruit, path: fruit.explain(ROW), 18, 34),
    "GaussianNB.fit": (lambda fruit, path: GaussianNB().fit(X, Y), 10, 23),
    "load": (lambda fruit, path: load(path), 16, 70),
    "BayesClassifier.fit": (
        lambda fruit, path: BayesClassifier().fit(FRUIT, target="fruit"), 66, None,
    ),
}  # fmt: skip


def walk(call):
    """The files in the order in which a call enters them first, and its steps between files.

    The first call is not counted: it imports and remembers.
    """
    call()
    order, stack, steps = {}, [], 0

    def seen(frame, event, _):
        nonlocal steps
        file = Path(frame.f_code.co_filename)
        if event not in ("call", "return") or PACKAGE not in file.parents:
            return
        if event == "return":
            del stack[-1:]
            return
        steps += not stack or stack[-1] != file
        stack.append(file)
        order[file.relative_to(PACKAGE).as_posix()] = None

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(order), steps


@pytest.mark.parametrize("name", WALKS)
def test_a_call_passes_through_few_files(fruit, path, name, monkeypatch):
    own = {key: one for key, one in families.FAMILIES.items() if "deciban" in type(one).__module__}
    monkeypatch.setattr(families, "FAMILIES", own)  # documents register others
    monkeypatch.setenv("DECIBAN_THREADS", "1")
    call, max_files, max_steps = WALKS[name]
    files, steps = walk(lambda: call(fruit, path))
    assert len(files) <= max_files, files
    assert max_steps is None or steps <= max_steps
