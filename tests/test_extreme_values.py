"""Columns without a value, infinity, and numbers at the ends of what a float holds."""

import json
import os
import warnings
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import deciban
from commands import done
from deciban import AODE, BayesClassifier, LogisticRegression, NaiveBayes
from deciban.errors import InputError, MissingValueError
from deciban.naive_bayes import GaussianNB

ROWS = 60
Y = ["xyy"[i % 3] for i in range(ROWS)]
A = [float(i % 7) for i in range(ROWS)]
OF_TABLES = (NaiveBayes, AODE, BayesClassifier)

EMPTY = {
    "NaN": np.full(ROWS, np.nan),
    "None": [None] * ROWS,
    "text": pd.array([None] * ROWS, dtype="string"),
    "boolean": pd.array([None] * ROWS, dtype="boolean"),
    "category": pd.Categorical([None] * ROWS),
    "time": pd.to_datetime([None] * ROWS),
}


def saved(model, tmp_path):
    """The model as it is read again from its file, whose document is strict JSON."""
    path = tmp_path / "m.deciban"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        json.loads(archive.read("model.json"), parse_constant=pytest.fail)
    return deciban.load(path)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("make", OF_TABLES)
def test_a_column_without_any_value_is_saved_and_read(make, kind, tmp_path):
    X = pd.DataFrame({"a": A, "b": EMPTY[kind]})
    model = make().fit(X, Y)
    again = saved(model, tmp_path)
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("make", OF_TABLES)
def test_a_file_with_an_empty_column_is_learned_from(make, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,y\n" + "".join(f"{a},,{y}\n" for a, y in zip(A, Y, strict=True)))
    saved(make().fit(path, target="y"), tmp_path)
    done("train", path, "-t", "y", "-o", tmp_path / "cli.deciban", "--json")
    json.loads(done("inspect", tmp_path / "cli.deciban", "--json"), parse_constant=pytest.fail)


@pytest.mark.parametrize("make", OF_TABLES)
@pytest.mark.parametrize("largest", [1.7e308, 1e200, 1e155, 5e-324])
def test_the_largest_and_smallest_floats_are_saved(make, largest, tmp_path):
    X = {"a": [largest * (i % 3 - 1) for i in range(ROWS)], "s": ["u", "v"] * (ROWS // 2)}
    model = make().fit(X, Y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.array_equal(saved(model, tmp_path).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("make", [*OF_TABLES, LogisticRegression, GaussianNB])
@pytest.mark.parametrize("bad", [[np.inf], [np.inf, -np.inf], [np.inf] * ROWS])
def test_infinity_is_an_error_and_no_warning(make, bad):
    X = np.column_stack([A, np.sin(A), np.cos(A)])
    fitted = make().fit(X, Y)
    X[: len(bad), 1] = bad
    for ask in (lambda: make().fit(X, Y), lambda: fitted.predict_proba(X)):
        with pytest.raises(MissingValueError, match="infinity"):
            ask()


def test_what_overflows_in_logistic_regression_is_refused_not_saved():
    model = LogisticRegression().fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    before = model.coef_.copy()
    with pytest.raises(InputError, match=r"do not fit a float.*StandardScaler"):
        model.fit([[1e300], [3e300], [1.0], [2.0]], [0, 1, 0, 1])
    assert np.array_equal(model.coef_, before)


@pytest.mark.parametrize("solver", ["auto", "newton"])
def test_a_hessian_that_is_no_number_is_refused(solver):
    """No ridge makes it one, however long it grows."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    with (
        np.errstate(all="ignore"),
        pytest.raises(InputError, match=r"do not fit a float.*StandardScaler"),
    ):
        LogisticRegression(solver=solver).fit(X * 1e200, (X[:, 0] > 0).astype(int) + (X[:, 2] > 1))


@pytest.mark.parametrize("make", [*OF_TABLES, LogisticRegression, GaussianNB])
def test_weights_whose_sum_is_no_float_are_refused(make):
    with pytest.raises(InputError, match="sum of sample_weight does not fit"):
        make().fit(np.column_stack([A, np.sin(A)]), Y, sample_weight=[1e308] * ROWS)


@pytest.mark.parametrize(
    "settings",
    [
        {"smoothing": {"a": np.int64(2)}},
        {"smoothing": {"a": np.float32(0.5)}},
        {"smoothing": Fraction(1, 2)},
        {"prior": [np.float32(0.5), np.float32(0.5)]},
    ],
)
def test_settings_may_be_numbers_of_any_kind(settings, tmp_path):
    X = {"a": A}
    model = NaiveBayes(**settings).fit(X, Y)
    again = saved(model, tmp_path)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_number_of_cores_is_known_where_there_is_no_affinity(monkeypatch):
    from deciban import threads
    from deciban.mail import training

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert threads.n_cores() == 3
    with training._mapping(training._n_processes([]), []) as mapping:
        assert mapping is map
    with training._mapping(3, []) as mapping:  # too few messages for three
        assert mapping is map


def test_priors_are_shares_whatever_they_add_up_to(tmp_path):
    path, model = tmp_path / "d.csv", tmp_path / "m.deciban"
    path.write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in zip(A, Y, strict=True)))
    done("train", path, "-t", "y", "-o", model, "-q")
    half = done("predict", model, path, "--priors", "x=0.5,y=0.5")
    assert done("predict", model, path, "--priors", "x=50,y=50") == half
    assert done("predict", model, path, "--priors", "x=1,y=3") != half
