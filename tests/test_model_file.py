"""NaiveBayes in a file: what comes back answers like what was saved."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from deciban import NaiveBayes, files, load
from deciban.errors import DecibanError, ModelFileError


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["ham", "spam", "eggs"], n)
    frame = pd.DataFrame(
        {
            "size": rng.choice(["S", "M", None], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n) + (y == "ham")),
            "visits": rng.poisson(3, n),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 9999, n), unit="h"),
        }
    )
    return frame, y


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"calibrate": False, "smoothing": 0.5},
        {"numeric": "gaussian", "missing": "value", "prior": [0.2, 0.3, 0.5]},
        {"smoothing": {"size": 2.0}, "numeric": "mdl", "kinds": {"visits": "categorical"}},
        {"method": "map", "smoothing": 2, "prior": "uniform"},
    ],
)
def test_a_model_comes_back_as_it_was(tmp_path, settings):
    X, y = table()
    model = NaiveBayes(**settings).fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert again.counts_ == model.counts_
    assert again.schema_ == model.schema_
    assert again.choices_ == model.choices_
    assert again.temperature_ == model.temperature_
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.evidence(X), model.evidence(X))


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
def test_a_column_without_any_value_is_saved(tmp_path, kind):
    X, y = {"a": ["x", "y", "x"], "b": [None] * 3}, [0, 1, 0]
    model = NaiveBayes(kinds={"b": kind}).fit(X, y)
    assert model.choices_["b"].loss == np.inf
    model.save(tmp_path / "m.deciban")
    stored = files.read(tmp_path / "m.deciban").description["choices"]
    assert {choice["column"]: choice["loss"] for choice in stored}["b"] is None
    again = load(tmp_path / "m.deciban")
    assert again.choices_ == model.choices_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("loss", ["inf", True, [0.5]])
def test_a_loss_that_is_no_number_is_refused(tmp_path, loss):
    X, y = table(60)
    NaiveBayes().fit(X, y).save(tmp_path / "m.deciban")
    good, bad = tmp_path / "m.deciban", tmp_path / "bad.deciban"
    tampered(good, bad, lambda d: d["choices"][0].update(loss=loss))
    with pytest.raises(ModelFileError, match=r"expected `float \| null`.*loss"):
        load(bad)


def test_a_loaded_model_goes_on_learning(tmp_path):
    X, y = table()
    NaiveBayes(calibrate=False).fit(X[:200], y[:200]).save(tmp_path / "m.deciban")
    grown = load(tmp_path / "m.deciban").partial_fit(X[200:], y[200:])
    whole = NaiveBayes(calibrate=False).fit(X, y)
    assert grown.counts_ == whole.counts_
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_more_values_than_a_grid_holds(tmp_path):
    rng = np.random.default_rng(1)
    X, y = pd.DataFrame({"x": rng.normal(size=20_000)}), rng.integers(0, 2, 20_000)
    model = NaiveBayes().fit(X, y)
    model.save(tmp_path / "m.deciban")
    assert load(tmp_path / "m.deciban").counts_ == model.counts_


def tampered(source, target, change):
    """The same archive with another description, checksums and all."""
    stored = files.read(source)
    description = json.loads(json.dumps(dict(stored.description)))
    change(description)
    files.save(target, files.Stored(stored.kind, stored.counts, description, arrays=stored.arrays))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["columns"].pop(),
        lambda d: d["columns"][0].update(kind="number"),
        lambda d: d["columns"][1].update(name="agee"),
        lambda d: d["choices"].pop(),
        lambda d: d["choices"][0].update(smoothing=-1.0),
        lambda d: d["choices"][0].update(family="circle"),
        lambda d: d["choices"][0].update(bins="ten"),
        lambda d: d["options"].update(method="guess"),
        lambda d: d.update(prior=[0.5, 0.5]),
        lambda d: d.update(surprise=1),
        lambda d: d["parameters"].update(colour="red"),
        lambda d: d["parameters"].update(numeric="square"),
        lambda d: d.pop("options"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(tmp_path, change):
    X, y = table(60)
    NaiveBayes().fit(X, y).save(tmp_path / "m.deciban")
    tampered(tmp_path / "m.deciban", tmp_path / "bad.deciban", change)
    with pytest.raises(DecibanError):
        load(tmp_path / "bad.deciban")


def test_another_kind_of_model_is_refused(tmp_path):
    X, y = table(60)
    stored = files.Stored("Oracle", NaiveBayes().fit(X, y).counts_)
    files.save(tmp_path / "o.deciban", stored)
    with pytest.raises(ModelFileError, match="Oracle"):
        load(tmp_path / "o.deciban")


def test_the_file_is_small_and_can_be_read_by_people(tmp_path):
    X, y = table()
    NaiveBayes().fit(X, y).save(tmp_path / "m.deciban")
    assert (tmp_path / "m.deciban").stat().st_size < 100_000
    with zipfile.ZipFile(tmp_path / "m.deciban") as archive:
        assert "since" in archive.read("model.json").decode()
