"""A model file whose checksums are right and whose content is not: refused, or a sound model.

Every field of the document and every array of every kind of file is changed in every way that
:mod:`hostile` knows. What still loads must answer with probabilities, or say why not.
"""

import warnings

import numpy as np
import pytest

from deciban.errors import DecibanError, ModelFileError
from deciban.files import archive
from hostile import fitted, hostile_arrays, hostile_documents, loaded

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
