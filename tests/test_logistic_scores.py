"""Sets and novelty of logistic regression: rows are left out of the fit by a step of Newton's."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import deciban
from deciban import LogisticRegression
from deciban.errors import InputError
from deciban.logistic.columns import summarize
from deciban.logistic.typicality import ColumnLikelihoods


def _rows(n, seed, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    z = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.digitize(z, [0.0, 0.8][: classes - 1])


@pytest.mark.parametrize(
    ("classes", "options"),
    [
        (2, {}),
        (2, {"fit_intercept": False}),
        (3, {}),
        (3, {"multi_class": "ovr"}),
        (2, {"class_weight": {0: 2.0, 1: 1.0}}),
    ],
)
def test_a_row_left_out_is_nearly_a_row_that_was_not_there(classes, options):
    X, y = _rows(60, 0, classes)
    model = LogisticRegression(**options).fit(X, y)
    left = model.model_.fitted.log_posteriors()
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        weight = None
        if options.get("class_weight"):  # of a row of weight two, one is left out
            rest, weight = slice(None), np.ones(60)
            weight[i] = 0.5 if y[i] == 0 else 0.0
        again = LogisticRegression(**options).fit(X[rest], y[rest], weight)
        exact = again.predict_log_proba(X[[i]])[0]
        before = model.predict_log_proba(X[[i]])[0]
        assert np.abs(left[i] - exact).max() < 0.05 + 0.2 * np.abs(before - exact).max()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [150, 3000])
def test_sets_hold_the_class(classes, n):
    X, y = _rows(n, 1, classes)
    new, truth = _rows(4000, 2, classes)
    model = LogisticRegression().fit(X, y)
    for coverage in (0.8, 0.95):
        held = model.predict_set(new, coverage)[np.arange(4000), truth].mean()
        assert held > coverage - 0.05
    by_class = model.predict_set(new, 0.9, per_class=True)
    assert min(by_class[truth == c, c].mean() for c in range(classes)) > 0.8


def test_without_leaving_rows_out_sets_would_be_too_small():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 20)), np.arange(60) % 2
    new, truth = rng.normal(size=(2000, 20)), np.arange(2000) % 2
    model = LogisticRegression().fit(X, y)
    assert model.predict_set(new, 0.9)[np.arange(2000), truth].mean() > 0.8
    model.calibrate_sets(X, y)  # rows that it was fitted to
    assert model.predict_set(new, 0.9)[np.arange(2000), truth].mean() < 0.75


def test_the_hessian_of_a_large_fit_is_that_of_kept_rows():
    X, y = _rows(20_000, 4)
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(20_000, 80))])
    model = LogisticRegression().fit(wide, y)
    assert not model._posteriors[0].full
    left = model.model_.fitted.log_posteriors()
    plain = model.predict_log_proba(wide[::20])
    assert 0 < np.abs(left - plain).max() < 0.1


@pytest.mark.parametrize("sparse", [False, True])
def test_strange_rows_are_new(sparse):
    X, y = _rows(400, 5)
    marks = (np.random.default_rng(0).random((400, 2)) < [0.5, 0.02]).astype(float)
    X = np.hstack([X, marks, np.ones((400, 1))])
    kind = csr_array if sparse else np.asarray
    model = LogisticRegression().fit(kind(X), y)
    strange = np.array([[0, 9, 0, 0, 0, 1.0], [0, 0, 0, 0, 0, 7.0]])
    assert model.novelty(kind(strange))[0] < 0.01
    assert model.novelty(kind(X)).mean() == pytest.approx(0.5, abs=0.05)
    assert model.decide(kind(strange), novel=0.01)[0] is None
    assert model.explain(strange[0], novelty=True).unlike == "unlike 99.8 % of what was learned"


def test_a_row_is_taken_out_of_the_summary():
    X, y = _rows(9, 6)
    every = ColumnLikelihoods(summarize(X, y, None, 2))
    left = every.leave_one_out(X, y, np.ones(9)).log_likelihood
    for i in range(9):
        rest = np.arange(9) != i
        less = summarize(X[rest], y[rest], None, 2)
        mean = less.mean[y[i]]
        far = np.abs(X[rest][y[rest] == y[i]] - every.summary.centre).mean(axis=0)
        n = (y[rest] == y[i]).sum()
        scale = (n + 1) / (n * far + np.abs(X - every.summary.centre).mean(axis=0))
        z = (X[i] - mean) * scale
        expected = (np.log(scale) - 2 * np.log1p(z**2 / 3)).sum()
        assert left[i, y[i]] == pytest.approx(expected)


def test_files_and_batches_have_scores(tmp_path):
    X, y = _rows(300, 7)
    model = LogisticRegression().fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    np.testing.assert_array_equal(again.novelty(X), model.novelty(X))
    parts = LogisticRegression().partial_fit(X[:100], y[:100], classes=[0, 1])
    parts.partial_fit(X[100:], y[100:])
    assert parts.model_.left_out.conformity.rows == 300
    assert np.mean(parts.predict_set(X) == model.predict_set(X)) > 0.97


def test_more_coefficients_than_a_hessian_may_have_need_other_rows():
    rng = np.random.default_rng(8)
    X, y = csr_array(rng.random((60, 1600)) < 0.02).astype(float), np.arange(60) % 2
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="calibrate_sets"):
        model.predict_set(X)
    assert model.novelty(X).shape == (60,)
    assert model.calibrate_sets(X, y).predict_set(X).any(axis=1).all()


def test_separable_rows_without_a_penalty_have_scores():
    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]] * 5), [0, 0, 1, 1] * 5
    with pytest.warns(Warning, match="separable"):
        model = LogisticRegression(lam=0).fit(X, y)
    assert model.predict_set(X).any(axis=1).all()


def test_texts_of_words_that_were_never_said_are_new():
    rng = np.random.default_rng(9)
    y = np.arange(600) % 2
    words = rng.integers(0, 40, (600, 6)) + 40 * y[:, None]
    X = np.zeros((600, 100))
    np.put_along_axis(X, words, 0.3, axis=1)
    strange = np.zeros((1, 100))
    strange[0, 80:86] = 0.3
    for kind in (np.asarray, csr_array):
        model = LogisticRegression().fit(kind(X[:300]), y[:300])
        assert model.novelty(kind(strange))[0] < 0.01
        assert model.novelty(kind(X[300:])).mean() == pytest.approx(0.5, abs=0.06)
