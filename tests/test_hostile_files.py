"""A model file whose checksums are right and whose content is not: refused, or a sound model.

Every field of the document and every array of every kind of file is changed in every way that
:mod:`hostile` knows. What still loads must answer with probabilities, or say why not.
"""

import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.errors import DecibanError, ModelFileError
from deciban.files import archive, registry
from deciban.files.model import unpacked
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from hostile import hostile_arrays, hostile_documents, through_json

N_ROWS = 24
CLASS = np.arange(N_ROWS) % 2
WORDS = [f"spam offer {i % 3}" if c else f"hello friend {i % 3}" for i, c in enumerate(CLASS)]


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


NAMES = (
    "naive Bayes", "texts", "AODE", "ensemble", "ensemble of texts", "LogisticRegression",
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB",
)  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder, out = tmp_path_factory.mktemp("hostile"), {}
    for name, model, rows in fitted():
        model.save(folder / "m.deciban")
        out[name] = archive.read(folder / "m.deciban"), rows.drop(columns="y", errors="ignore")
    return out


def loaded(content):
    """What :func:`deciban.load` makes of a file with that content."""
    with archive.errors_about("m.deciban"):
        content = through_json(content)
    stored = unpacked("m.deciban", content)
    with archive.errors_about("m.deciban"):
        package = registry._KINDS[stored.kind].package
        return getattr(import_module(package), stored.kind).from_stored(stored)


@pytest.mark.parametrize("changes", [hostile_documents, hostile_arrays])
@pytest.mark.parametrize("name", NAMES)
def test_a_changed_file_is_refused_or_answers_with_probabilities(models, name, changes):
    content, rows = models[name]
    tried = refused = 0
    for what, changed in changes(content):
        tried += 1
        try:
            model = loaded(changed)
        except ModelFileError:
            refused += 1
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # names of columns were changed
                shares = model.predict_proba(rows[:4])
        except DecibanError:
            continue  # such as other columns
        assert np.all(np.isfinite(shares)), what
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9, err_msg=what)
    assert tried > refused > tried / 2


def test_nothing_changed_is_nothing_refused(models):
    for content, rows in models.values():
        assert np.all(np.isfinite(loaded(content).predict_proba(rows[:4])))
