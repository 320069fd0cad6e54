"""LogisticRegression: M7, M8, scikit-learn as the oracle, evidence, streams, files, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.multiclass import OneVsRestClassifier

import deciban
from deciban import LogisticRegression, files
from deciban.errors import DecibanError, InputError, MissingValueError, ModelFileError
from deciban.naive_bayes import GaussianNB

few = settings(max_examples=15, deadline=None, derandomize=True)
DECIBANS = 10 / np.log(10)


def table(rows=80, columns=3, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    X = rng.normal(size=(rows, columns)) + 0.7 * y[:, None] * rng.normal(size=columns)
    return X, y


# ---------------------------------------------------------------------- M7


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_m7_the_closed_form_is_the_gaussian_model_of_shared_variances(classes, offset):
    X, y = table(classes=classes)
    X += offset
    gaussian = GaussianNB(shared_variance=True).fit(X, y)
    model = LogisticRegression.from_gaussian(gaussian)
    np.testing.assert_allclose(model.predict_proba(X), gaussian.predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), gaussian.predict(X))


def test_m7_by_hand():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 1, 1]
    model = LogisticRegression.from_gaussian(
        GaussianNB(shared_variance=True, var_smoothing=0).fit(X, y)
    )
    var = (2 * 0.25 + 2 * 1.0) / 5
    assert model.coef_[0, 0] == pytest.approx((4 - 0.5) / var)
    assert model.intercept_[0] == pytest.approx(np.log(3 / 2) - (16 - 0.25) / (2 * var))


def test_m7_shared_variances_are_those_within_classes():
    X, y = table()
    model = GaussianNB(shared_variance=True, var_smoothing=0).fit(X, y)
    within = sum(
        (X[y == c] - X[y == c].mean(axis=0)).T ** 2 @ np.ones(sum(y == c)) for c in (0, 1, 2)
    )
    np.testing.assert_allclose(model.var_, np.tile(within / len(X), (3, 1)))


def test_m7_other_models_are_refused():
    X, y = table()
    with pytest.raises(InputError, match="quadratic"):
        LogisticRegression.from_gaussian(GaussianNB().fit(X, y))
    with pytest.raises(InputError, match="without theta_, var_, class_prior_ or classes_"):
        LogisticRegression.from_gaussian(LogisticRegression())


# ---------------------------------------------------------------------- M8


@given(
    classes=st.integers(2, 4),
    columns=st.integers(1, 5),
    C=st.sampled_from([0.1, 1.0, 30.0]),
    weighted=st.booleans(),
    held=st.sampled_from([np.asarray, sparse.csr_array]),
    intercept=st.booleans(),
    seed=st.integers(0, 1000),
)
@few
def test_m8_coefficients_are_those_of_scikit_learn(
    classes, columns, C, weighted, held, intercept, seed
):
    X, y = table(columns=columns, classes=classes, seed=seed)
    weight = np.random.default_rng(seed).uniform(0, 2, len(y)) if weighted else None
    kind = {"C": C, "fit_intercept": intercept, "class_weight": "balanced" if weighted else None}
    peer = linear_model.LogisticRegression(**kind, tol=1e-10, max_iter=10_000)
    peer.fit(X, y, weight)
    ours = LogisticRegression(**kind).fit(held(X), y, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(held(X)), peer.predict_proba(X), atol=1e-4)


def test_m8_one_against_the_rest():
    X, y = table(classes=4)
    peer = OneVsRestClassifier(linear_model.LogisticRegression(tol=1e-10)).fit(X, y)
    ours = LogisticRegression(multi_class="ovr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_m8_the_textbooks_descent_agrees(classes):
    X, y = table(classes=classes)
    coefficients = [
        LogisticRegression(solver=name).fit(X, y).coef_
        for name in ("gradient", "newton", "newton-cg", "lbfgs")
    ]
    for found in coefficients[1:]:
        np.testing.assert_allclose(found, coefficients[0], atol=1e-6)


def test_m8_a_penalty_makes_the_optimum_exist():
    X, y = [[-1.0], [1.0]], [0, 1]
    with pytest.warns(ConvergenceWarning, match="perfectly separable and lam is 0"):
        LogisticRegression(lam=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(lam=1e-6).fit(X, y)
        LogisticRegression(lam=0).fit([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0])


@pytest.mark.parametrize("solver", ["newton", "newton-cg", "lbfgs", "gradient"])
def test_m8_no_convergence_is_said(solver):
    X, y = table()
    with pytest.warns(ConvergenceWarning, match="no convergence after 1 iterations"):
        LogisticRegression(solver=solver, max_iter=1).fit(100 * X, y)


@pytest.mark.parametrize("held", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ["softmax", "ovr"])
def test_naive_bayes_is_a_start_to_the_same_end(held, kind):
    X, y = table(rows=300)
    X = held(np.maximum(X, 0))
    zero, bayes = (
        LogisticRegression(start=start, multi_class=kind).fit(X, y) for start in ("zero", "bayes")
    )
    np.testing.assert_allclose(bayes.coef_, zero.coef_, atol=1e-6)


def test_a_warm_start_begins_at_the_end():
    X, y = table()
    model = LogisticRegression(warm_start=True).fit(X, y)
    assert model.n_iter_.max() > 0
    assert model.fit(X, y).n_iter_.max() == 0
    assert model.fit(X[:, :2], y).coef_.shape == (3, 2)


def test_weight_k_is_k_copies():
    X, y = table()
    weight = np.arange(len(y)) % 3
    a = LogisticRegression().fit(X, y, weight)
    b = LogisticRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-7)


def test_collinear_columns_without_penalty():
    X, y = table(classes=3)
    once = LogisticRegression(lam=0).fit(X, y)
    twice = LogisticRegression(lam=0).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(
        twice.predict_proba(np.hstack([X, X])), once.predict_proba(X), atol=1e-5
    )


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_adds_up_to_the_odds(classes):
    X, y = table(classes=classes)
    model = LogisticRegression().fit(X, y)
    log = model.predict_log_proba(X)
    for c in range(classes):
        total = model.evidence(X, against=c).sum(axis=1) + model.prior_evidence(against=c)
        np.testing.assert_allclose(total, DECIBANS * (log - log[:, [c]]), atol=1e-8)
    others = [np.delete(log, c, axis=1).mean(axis=1) for c in range(classes)]
    total = model.evidence(X).sum(axis=1) + model.prior_evidence()
    np.testing.assert_allclose(total, DECIBANS * (log - np.column_stack(others)), atol=1e-8)


@pytest.mark.parametrize("kind", ["softmax", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_of_a_sparse_matrix_is_as_sparse_and_adds_up(kind, classes):
    X, y = table(classes=classes)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for rows in (X, sparse.csr_array(X)):
        model = LogisticRegression(multi_class=kind).fit(rows, y)
        log = model.predict_log_proba(X)
        parts = model.evidence(sparse.csr_array(X), against=0)
        assert {part.nnz for part in parts} == {np.count_nonzero(X)}
        total = np.column_stack([part.sum(axis=1) for part in parts])
        total += model.prior_evidence(against=0, centred=False)
        np.testing.assert_allclose(total, DECIBANS * (log - log[:, :1]), atol=1e-8)


def test_evidence_of_one_against_the_rest():
    X, y = table()
    model = LogisticRegression(multi_class="ovr").fit(X, y)
    log = model.predict_log_proba(X)
    for c in range(3):
        total = model.evidence(X, against=c).sum(axis=1) + model.prior_evidence(against=c)
        np.testing.assert_allclose(total, DECIBANS * (log - log[:, [c]]), atol=1e-8)
    mean = model.model_.centre[None]
    np.testing.assert_allclose(model.evidence(mean), 0.0, atol=1e-12)  # also where steps vanish


def test_decide():
    X, y = table(classes=2)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    loss = np.array([[0, 5], [1, 0]])
    best = (model.predict_proba(X) @ loss.T).argmin(axis=1)
    np.testing.assert_array_equal(model.decide(X, loss=loss), best)
    assert None in model.decide(X, abstain=0.1)


# ---------------------------------------------------------------------- streams


@pytest.mark.parametrize("kind", ["softmax", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_batch_is_a_fit(kind, classes):
    X, y = table(classes=classes)
    whole = LogisticRegression(multi_class=kind).fit(X, y)
    batch = LogisticRegression(multi_class=kind).partial_fit(X, y, classes=range(classes))
    np.testing.assert_allclose(batch.coef_, whole.coef_, atol=1e-8)


def test_many_batches_come_near_the_fit():
    X, y = table(rows=2000)
    whole, model = LogisticRegression().fit(X, y), LogisticRegression()
    for at in range(0, 2000, 50):
        model.partial_fit(X[at : at + 50], y[at : at + 50], classes=[0, 1, 2])
    assert np.abs(model.predict_proba(X) - whole.predict_proba(X)).max() < 0.02


def test_a_fit_goes_on_as_a_stream():
    X, y = table(rows=400)
    fitted = LogisticRegression().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    stream = LogisticRegression().partial_fit(X[:200], y[:200], classes=[0, 1, 2])
    stream.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(fitted.coef_, stream.coef_, atol=1e-7)
    closed = LogisticRegression.from_gaussian(GaussianNB(shared_variance=True).fit(X, y))
    assert closed.partial_fit(X, y).score(X, y) > 0.5


def test_a_stream_of_more_coefficients_than_a_matrix_holds():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 2000), density=0.02, format="csr", rng=rng)
    X.data[:] = 1
    y = (X[:, :40].sum(axis=1) > 0.8).astype(int)
    model = LogisticRegression()
    for at in range(0, 400, 100):
        model.partial_fit(X[at : at + 100], y[at : at + 100], classes=[0, 1])
    assert model.score(X, y) > 0.8


def test_a_failed_batch_changes_nothing():
    X, y = table()
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1, 2])
    before = dict(vars(model))
    for bad in (lambda: model.partial_fit(X, y + 1), lambda: model.partial_fit(X[:, :1], y)):
        with pytest.raises(InputError):
            bad()
        assert vars(model) == before
    with pytest.raises(InputError, match="classes must be passed"):
        LogisticRegression().partial_fit(X, y)
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["softmax", "ovr"])
def test_a_model_comes_back_as_it_was(tmp_path, classes, kind):
    X, y = table(classes=classes)
    frame, names = pd.DataFrame(X, columns=["a", "b", "c"]), np.array(["x", "y", "z"])[y]
    weights = dict.fromkeys("xyz"[:classes], 2.0)
    model = LogisticRegression(multi_class=kind, class_weight=weights)
    model.partial_fit(frame, names, classes=list("xyz"[:classes])).save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    model.partial_fit(frame, names)
    again.partial_fit(frame, names)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def damaged(stored, **changes):
    parts = {"description": dict(stored.description), "labels": dict(stored.labels)}
    parts["arrays"] = dict(stored.arrays)
    for name, (key, value) in changes.items():
        parts[name][key] = value
        if value is None:
            del parts[name][key]
    return files.Stored(stored.kind, None, **parts)


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": ("coef", np.full((3, 3), np.nan))},
        {"arrays": ("coef", np.ones((2, 3)))},
        {"arrays": ("coef", np.ones(3))},
        {"arrays": ("coef", None)},
        {"arrays": ("intercept", np.ones(4))},
        {"arrays": ("intercept", np.ones(3, dtype=np.int64))},
        {"arrays": ("iterations", np.ones(1))},
        {"arrays": ("centre0", np.ones((1, 3)))},
        {"arrays": ("precision0", -np.eye(12))},
        {"arrays": ("precision0", None)},
        {"arrays": ("surprise", np.ones(1))},
        {"labels": ("classes", np.array(["only"]))},
        {"labels": ("classes", None)},
        {"labels": ("columns", np.array(["a"]))},
        {"labels": ("rows", np.array(["a"]))},
        {"description": ("posteriors", 7)},
        {"description": ("posteriors", 0)},
        {"description": ("parameters", {"colour": "red"})},
        {"description": ("parameters", {"C": "much"})},
        {"description": ("parameters", {"solver": "guess"})},
        {"description": ("parameters", {"class_weight": [[1, 2, 3]]})},
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, change):
    X, y = table()
    path = tmp_path / "m.deciban"
    LogisticRegression().partial_fit(X, y, classes=[0, 1, 2]).save(path)
    files.save(path, damaged(files.read(path), **change))
    with pytest.raises(DecibanError):
        deciban.load(path)


def test_a_model_with_counts_needs_them(tmp_path):
    path = tmp_path / "m.deciban"
    deciban.NaiveBayes().fit({"x": ["S", "L"]}, [0, 1]).save(path)
    stored = files.read(path)
    files.save(path, files.Stored(stored.kind, None, stored.description))
    with pytest.raises(ModelFileError, match="counts are missing"):
        deciban.load(path)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "settings",
    [
        {"C": 0},
        {"C": "much"},
        {"lam": -1},
        {"lam": np.nan},
        {"multi_class": "both"},
        {"solver": "guess"},
        {"start": "there"},
        {"tol": 0},
        {"max_iter": 0},
        {"class_weight": "fair"},
        {"class_weight": 3},
    ],
)
def test_settings_out_of_range(settings):
    with pytest.raises(InputError, match="Hint"):
        LogisticRegression(**settings).fit(*table())


def test_rows_that_cannot_be_used():
    X, y = table()
    endless = X.copy()
    endless[3, 1] = np.inf
    for bad, labels in ((X * np.nan, y), (endless, y), (X, np.where(y, y, np.nan))):
        with pytest.raises(MissingValueError):
            LogisticRegression().fit(bad, labels)
    for bad, labels in ((X, np.zeros(len(y))), (X[:5], y), (X[:0], y[:0]), (X[0], y)):
        with pytest.raises(InputError):
            LogisticRegression().fit(bad, labels)
    with pytest.raises(InputError, match="total weight is zero"):
        LogisticRegression().fit(X, y, np.zeros(len(y)))
    stray = sparse.csr_array(X)
    stray.indices[0] = 99
    with pytest.raises(InputError):
        LogisticRegression().fit(stray, y)


@pytest.mark.parametrize("call", ["predict", "predict_proba", "decide", "evidence"])
def test_nothing_before_fit(call):
    with pytest.raises(NotFittedError):
        getattr(LogisticRegression(), call)([[1.0]])
