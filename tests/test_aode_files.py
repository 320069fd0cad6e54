"""AODE in a file: the same model back, and nothing that is not one."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import deciban
from deciban import AODE
from deciban.aode import stored as files
from deciban.errors import ModelFileError
from mixed import table


def model(**how):
    X, y = table(n=50, n_classes=3)
    return AODE(**how).fit(X, y)


def stored(some):
    return files.to_stored(some.model_, some.get_params(), some.target_, True)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smoothing": 2, "calibrate": False},
        {"bins": {"age": np.array([2.0, 5.0])}, "prior": [0.2, 0.3, 0.5]},
        {"missing": "value", "support": 3, "bins": 4, "prior": "uniform"},
    ],
)
def test_a_model_comes_back_as_it_was(tmp_path, how):
    before = model(**how)
    before.save(tmp_path / "m.deciban")
    after = deciban.load(tmp_path / "m.deciban")
    assert type(after) is AODE
    assert after.model_.pair_counts == before.model_.pair_counts
    X, y = table(n=30, seed=5)
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    np.testing.assert_array_equal(after.evidence(X), before.evidence(X))
    after.partial_fit(X, y)
    before.partial_fit(X, y)
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    assert after.feature_names_in_.tolist() == list(X)


def test_an_unfitted_model_has_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        AODE().save(tmp_path / "m.deciban")


def changed(array, at, value):
    out = array.copy()
    out[at] = value
    return out


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("pairs", lambda a: a[:-1], "the pairs must be"),
        ("pairs", lambda a: a.astype(np.float32), "'pairs' must be"),
        ("pairs", lambda a: changed(a, (0, 0), -1.0), "-1.0 among"),
        ("pairs", lambda a: changed(a, (0, 0), np.nan), "nan among"),
        ("pairs", lambda a: a + 1.0, "do not add up"),
        ("edges", lambda a: a[::-1].copy(), "rise"),
        ("edges", lambda a: a[:-1], "of shape"),
        ("edges", lambda a: changed(a, 0, -np.inf), "-inf among"),
        ("cuts", lambda a: a[:-1], "of shape"),
        ("cuts", lambda a: -a, "among its numbers"),
        ("trust", lambda a: a[:-1], "of shape"),
        ("trust", lambda a: -a, "among its numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name, change, message):
    whole = stored(model())
    bad = {**whole.arrays, name: change(whole.arrays[name])}
    with pytest.raises(ModelFileError, match=message):
        AODE.from_stored(replace(whole, arrays=bad))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parameters", {"smoothing": 0}, "parameters"),
        ("parameters", {"unknown": 0}, "parameters"),
        ("parameters", {"bins": "none"}, "parameters"),
        ("parameters", [], "parameters"),
        ("columns", [], "of shape"),
        ("columns", [{"name": "x"}], "kind"),
        ("prior", [0.5], "priors"),
        ("target", 3, "target"),
        ("named", 1, "named"),
        ("more", 1, "unknown field"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(name, value, message):
    whole = stored(model())
    with pytest.raises(ModelFileError, match=message):
        AODE.from_stored(replace(whole, description={**whole.description, name: value}))


def test_something_else_is_refused():
    whole = stored(model())
    with pytest.raises(ModelFileError, match="NaiveBayes"):
        AODE.from_stored(replace(whole, kind="NaiveBayes"))
    with pytest.raises(ModelFileError, match="belongs to nothing"):
        AODE.from_stored(replace(whole, arrays={**whole.arrays, "more": np.zeros(1)}))
    rest = {name: array for name, array in whole.arrays.items() if name != "pairs"}
    with pytest.raises(ModelFileError, match="'pairs' is missing"):
        AODE.from_stored(replace(whole, arrays=rest))
    X, y = table(n=50)
    other = deciban.NaiveBayes().fit(X, y)
    with pytest.raises(ModelFileError, match="one block of values"):
        AODE.from_stored(replace(whole, counts=other.counts_))


def test_days_before_the_calendar_of_python_are_kept(tmp_path):
    days = pa.array([0] * 12 + [-719_163], pa.int32()).cast(pa.date32())
    model = AODE().fit(pa.table({"day": days}), ["a", "b"] * 6 + ["a"])
    model.save(tmp_path / "m.deciban")
    rows = pa.table({"day": days[-2:]})
    answers = deciban.load(tmp_path / "m.deciban").predict_proba(rows)
    assert answers.tolist() == model.predict_proba(rows).tolist()
