"""BayesClassifier: laws of its answers, files, bad input, small tables."""

import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import BayesClassifier, NaiveBayes, load
from deciban.ensemble.summary import EnsembleSummary
from deciban.errors import InputError, ModelFileError, ParameterError, ShapeError
from deciban.explanation import decibans


def table(n: int = 120, seed: int = 0, classes: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories and holes that say something about the class together."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    kind = rng.choice(["u", "v", "w"], n)
    score = a * b + (kind == "u") * 1.5 + rng.normal(scale=0.3, size=n)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    y = np.array([f"c{k}" for k in np.searchsorted(cuts, score)])
    frame = pd.DataFrame({"a": a, "b": b, "kind": kind, "day": pd.Timestamp("2024-01-01")})
    frame["day"] += pd.to_timedelta(rng.integers(0, 700, n), unit="h")
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    return frame, y


@pytest.fixture(scope="module")
def fitted() -> BayesClassifier:
    return BayesClassifier().fit(*table())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("against", [None, "c1"])
def test_the_evidence_adds_up_to_the_odds(classes, against):
    X, y = table(classes=classes)
    m = BayesClassifier().fit(X, y)
    other = table(seed=1, classes=classes)[0]
    other.loc[0, "kind"], other.loc[1, "b"] = "never seen", 1e9
    joint = m.predict_joint_log_proba(other)
    total = m.evidence(other, against).sum(axis=1) + m.prior_evidence(against)
    at = None if against is None else m.classes_.tolist().index(against)
    np.testing.assert_allclose(total, decibans(joint, at), atol=1e-9)
    assert m.evidence(other).shape == (len(other), 4, classes)


def test_the_answers_agree_with_each_other(fitted):
    X = table(seed=2)[0]
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(proba), fitted.predict_log_proba(X), atol=1e-9)
    assert fitted.predict(X).tolist() == fitted.classes_[proba.argmax(axis=1)].tolist()
    assert fitted.decide(X).tolist() == fitted.predict(X).tolist()


def test_it_sees_what_naive_bayes_cannot():
    X, y = table(400, classes=2)
    test, truth = table(400, seed=3, classes=2)
    ours, theirs = (
        model.fit(X, y).score(test, truth) for model in (BayesClassifier(), NaiveBayes())
    )
    assert ours > theirs + 0.05


def test_the_same_seed_gives_the_same_model_whatever_the_threads(monkeypatch):
    X, y = table()
    first = BayesClassifier(random_state=3).fit(X, y).predict_log_proba(X)
    again = BayesClassifier(random_state=3).fit(X, y).predict_log_proba(X)
    monkeypatch.setenv("DECIBAN_THREADS", "1")
    alone = BayesClassifier(random_state=3).fit(X, y).predict_log_proba(X)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, alone)
    other = BayesClassifier(random_state=4).fit(X, y).predict_log_proba(X)
    assert not np.array_equal(first, other)


def test_weight_zero_is_a_row_that_is_not_there():
    X, y = table()
    weight = np.ones(len(y))
    weight[::3] = 0
    some = BayesClassifier().fit(X[weight > 0], y[weight > 0]).predict_log_proba(X)
    np.testing.assert_array_equal(
        BayesClassifier().fit(X, y, sample_weight=weight).predict_log_proba(X), some
    )


def test_rows_of_more_weight_are_followed():
    X, y = {"x": ["s"] * 40}, ["a", "b"] * 20
    m = BayesClassifier().fit(X, y, sample_weight=[1.0, 9.0] * 20)
    assert m.predict_proba({"x": ["s"]})[0, 1] == pytest.approx(0.9, abs=0.03)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_tables_of_few_rows_have_answers(n, classes, seed):
    X, _ = table(n, seed)
    y = np.random.default_rng(seed).integers(0, classes, n)
    m = BayesClassifier().fit(X, y)
    proba = m.predict_proba(X)
    assert np.isfinite(proba).all()
    total = m.evidence(X).sum(axis=1) + m.prior_evidence()
    np.testing.assert_allclose(total, decibans(m.predict_joint_log_proba(X)), atol=1e-9)


@pytest.mark.parametrize(
    "X",
    [
        {"x": [1.0, None, None, None, 2.0, 2.0]},
        {"x": [None] * 5 + ["s"]},
        {"x": [1e300, -1e300, 0.0, 1e-300, 1e308, -1e308]},
        {"x": [7] * 6},
        {"x": [True, False] * 3, "z": list("aabbcc")},
    ],
)
def test_odd_columns(X):
    m = BayesClassifier(kinds={"x": "categorical"} if "s" in X["x"] else None)
    assert np.isfinite(m.fit(X, list("ababab")).predict_log_proba(X)).all()


def test_one_class_is_the_answer():
    m = BayesClassifier().fit({"x": [1, 2, 3]}, ["a"] * 3)
    assert m.predict({"x": [9]}).tolist() == ["a"]
    assert m.evidence({"x": [9]}).tolist() == [[[0.0]]]


def test_many_values_and_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": [f"v{k}" for k in rng.integers(0, 400, 900)], "x": rng.normal(size=900)})
    y = rng.integers(0, 30, 900)
    m = BayesClassifier(kinds={"c": "categorical"}, memory_limit=1000).fit(X, y)
    assert m.report_.views[-1].share == 0.0
    assert "limit" in m.report_.views[-1].note
    assert np.isfinite(m.predict_log_proba(X[:20])).all()


def test_fewer_rows_are_weighed_than_counted():
    X, y = table(300)
    report = BayesClassifier(max_rows=100).fit(X, y).report_
    assert (report.rows, report.learned_rows) == (300, 100)
    assert "100 of them weighed" in str(report)


def test_the_report_says_what_was_chosen(fitted):
    report = fitted.report_
    assert isinstance(report, EnsembleSummary)
    names = ["linear", "products", "trees", "pairs"]
    assert [view.name for view in report.views] == names
    assert sum(view.share for view in report.views) == pytest.approx(1.0)
    assert report.loss < report.prior_loss == pytest.approx(np.log(3), abs=1e-2)
    assert set(report.weights) >= {"a", "b", "kind"}
    assert str(report).count("\n") == 4


def test_a_file_brings_the_same_model_back(fitted, tmp_path):
    X = table(seed=5)[0]
    fitted.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    assert isinstance(again, BayesClassifier)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.evidence(X), fitted.evidence(X))
    assert again.report_ == fitted.report_
    assert again.get_params() == fitted.get_params()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_files_of_small_models(n, tmp_path):
    m = BayesClassifier().fit({"x": range(n)}, [k % 2 for k in range(n)])
    m.save(tmp_path / "m.deciban")
    again = load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba({"x": [1.5]}), m.predict_proba({"x": [1.5]}))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s.arrays.pop("linear"), "is missing"),
        (lambda s: s.arrays.update(weights=np.zeros(99)), "of shape"),
        (lambda s: s.arrays.update(constants=np.full(3, np.nan)), "nan among"),
        (lambda s: s.arrays.update(other=np.zeros(1)), "belongs to nothing"),
        (lambda s: s.arrays.update(trees=s.arrays["trees"] + 90), "among its numbers"),
        (lambda s: s.arrays.update(spread=np.zeros(3)), "spread of nothing"),
        (lambda s: s.arrays.update(edges=s.arrays["edges"][::-1].copy()), "must rise"),
        (lambda s: s.arrays.update(n_edges=s.arrays["n_edges"][:-1]), "of shape"),
        (lambda s: s.arrays.update(n_edges=s.arrays["n_edges"] + 300), "0 to 253 may be"),
        (lambda s: s.arrays.update(trees=s.arrays["trees"][:, :-1].copy()), "inner nodes, not 6"),
        (lambda s: s.description.update(share_of_pairs=-1.0), "share"),
        (lambda s: s.description.update(share_of_pairs=np.nan), "share"),
        (lambda s: s.description.update(share_of_pairs=np.inf), "share"),
        (lambda s: s.description.update(share_of_pairs="2"), "expected `float"),
        (lambda s: s.description.update(target=3), "target"),
        (lambda s: s.description.update(parameters={"lam": 1}), "parameters"),
        (lambda s: s.description["report"].update(rows="many"), "expected `int"),
    ],
)
def test_damaged_files_are_refused(fitted, change, says):
    from copy import deepcopy

    from deciban.ensemble import stored as files
    from deciban.files import Stored

    stored = files.to_stored(fitted.model_, fitted.get_params(), None, True)
    copy = Stored(
        stored.kind,
        stored.counts,
        deepcopy(dict(stored.description)),
        arrays=dict(stored.arrays),
    )
    change(copy)
    with pytest.raises(ModelFileError, match=says):
        BayesClassifier.from_stored(copy)


def test_aode_may_weigh_more_than_one(fitted):
    """Beside texts the base learners are weighted freely, each by a number >= 0."""
    from deciban.ensemble import stored as files

    heavy = replace(fitted.model_, terms=replace(fitted.model_.terms, aode_weight=1.7))
    again = BayesClassifier.from_stored(files.to_stored(heavy, fitted.get_params(), None, True))
    assert again.model_.terms.aode_weight == 1.7


def test_no_code_is_in_the_file(fitted, tmp_path):
    fitted.save(tmp_path / "m.deciban")
    with zipfile.ZipFile(tmp_path / "m.deciban") as archive:
        assert all(name.endswith((".npy", ".json")) for name in archive.namelist())


def test_one_row_of_several_classes_may_be_sampled():
    """No fold holds anything out then, and no forest is grown."""
    X, y = {"x": [1.0, 2.0, 3.0] * 20}, list("abc") * 20
    p = BayesClassifier(max_rows=1).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_rows": 0},
        {"max_rows": 1.5},
        {"memory_limit": -1},
        {"random_state": "x"},
        {"random_state": True},
        {"progress": "yes"},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        BayesClassifier(**parameters).fit({"x": [1, 2]}, [0, 1])


def test_bad_input_changes_nothing(fitted):
    before = fitted.predict_proba(table(seed=2)[0])
    with pytest.raises(ShapeError):
        fitted.fit({"x": []}, [])
    with pytest.raises(InputError):
        fitted.fit({"x": [1, 2]}, [1])
    with pytest.raises(InputError):
        fitted.predict({"x": [1]})
    np.testing.assert_array_equal(fitted.predict_proba(table(seed=2)[0]), before)


def test_a_target_in_the_table(tmp_path):
    X, y = table()
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    m = BayesClassifier().fit(tmp_path / "rows.csv", target="y")
    assert m.score(X.assign(y=y)[["a", "b", "kind", "day"]], y) > 0.7


def test_weights_are_worth_copies_in_any_order():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.integers(0, 4, 60) * 0.5, "b": rng.choice(list("xyz"), 60)})
    y = (X["a"] + (X["b"] == "x") + rng.normal(size=60) > 1.2).to_numpy()
    weight = rng.integers(0, 4, 60)
    m = BayesClassifier().fit(X, y, sample_weight=weight)
    order = rng.permutation(np.arange(60).repeat(weight))
    copies = BayesClassifier().fit(X.iloc[order], y[order])
    np.testing.assert_allclose(m.predict_proba(X), copies.predict_proba(X), rtol=1e-6)
