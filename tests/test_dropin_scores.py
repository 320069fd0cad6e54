"""Sets and novelty of the five drop-in classifiers, whose counted rows are left out exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import deciban
from deciban.errors import InputError, ParameterError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from deciban.naive_bayes.dropins.left_out import leave_one_out
from deciban.sources.kept_rows import MAX_KEPT_ROWS, KeptRows

KINDS = [
    GaussianNB(),
    GaussianNB(shared_variance=True),
    MultinomialNB(),
    MultinomialNB(alpha=0.0),
    MultinomialNB(fit_prior=False),
    ComplementNB(),
    ComplementNB(norm=True),
    BernoulliNB(),
    BernoulliNB(alpha=0.0),
    CategoricalNB(min_categories=12),  # the values that a column can take stay
    CategoricalNB(alpha=0.0, min_categories=12),
]


def _rows(seed, n=10):
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, 3, n - 6), [0, 0, 1, 1, 2, 2])
    X = rng.poisson(1.0 + y[:, None] * np.array([0.0, 0.5, 1.0, 0.2]), (n, 4)).astype(float)
    X[:, 0] += X.sum(axis=1) == 0
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@given(seed=st.integers(0, 1000))
@settings(max_examples=2, deadline=None)
def test_a_row_left_out_is_a_row_forgotten(kind, weighted, sparse, seed):
    X, y = _rows(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)) / 2 if weighted else None
    X = csr_array(X) if sparse else X
    model = type(kind)(**kind.get_params()).fit(X, y, weight)
    (part,) = model.model_.kept
    one = np.minimum(part.weight, 1.0)
    log_posterior, _, _ = leave_one_out(model.model_, part)
    for i in range(len(y)):
        less = type(kind)(**kind.get_params()).fit(X, y, weight).forget(X[[i]], y[[i]], one[[i]])
        if isinstance(kind, GaussianNB):  # what was chosen stays: here, the floor of variances
            less.var_smoothing *= model.epsilon_ / less.epsilon_
            less._adopt(less.counts_)
        expected = less.predict_log_proba(X[[i]])[0]
        np.testing.assert_allclose(log_posterior[i], expected, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_sets_hold_the_class_as_often_as_is_asked(kind):
    X, y = _rows(1, 400)
    new, truth = _rows(2, 2000)
    model = type(kind)(**kind.get_params()).fit(X, y)
    sets = model.predict_set(new, coverage=0.8)
    held = sets[np.arange(len(truth)), np.searchsorted(model.classes_, truth)].mean()
    assert held > 0.75
    assert sets.any(axis=1).all()
    by_class = model.predict_set(new, coverage=0.8, per_class=True)
    for c, label in enumerate(model.classes_):
        assert by_class[truth == label, c].mean() > 0.7


@pytest.mark.parametrize("kind", [GaussianNB(), MultinomialNB(), ComplementNB(), BernoulliNB()])
def test_rows_like_those_of_training_are_not_new_and_strange_ones_are(kind):
    rng = np.random.default_rng(0)
    X = np.zeros((300, 20))
    y = np.arange(300) % 2
    X[np.arange(300), rng.integers(0, 5, 300) + 5 * y] = 3.0
    X[np.arange(300), rng.integers(0, 5, 300) + 5 * y] += 1.0
    strange = np.zeros((1, 20))
    strange[0, 10:] = 3.0
    model = type(kind)(**kind.get_params()).fit(X, y)
    assert model.novelty(strange)[0] < 0.01
    assert model.novelty(X[:50]).mean() > 0.3
    assert model.decide(strange, novel=0.01).tolist() == [None]
    assert model.explain(strange[0], novelty=True).unlike.startswith("unlike 99")


def test_a_value_never_seen_is_new():
    X = np.array([["S", "red"], ["M", "red"], ["L", "blue"]] * 40, dtype=object)
    model = CategoricalNB().fit(X, ["a", "a", "b"] * 40)
    assert model.novelty([["XL", "green"]])[0] < 0.02 < model.novelty([["S", "red"]])[0]


@pytest.mark.parametrize("kind", [GaussianNB(), MultinomialNB(), BernoulliNB(), CategoricalNB()])
def test_a_file_has_the_scores(kind, tmp_path):
    X, y = _rows(3, 200)
    model = type(kind)().fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    np.testing.assert_array_equal(again.novelty(X), model.novelty(X))
    more = again.partial_fit(X, y)
    assert more.model_.left_out.conformity.rows == 400


def test_batches_and_sums_keep_their_rows():
    X, y = _rows(4, 300)
    whole = MultinomialNB().fit(X, y)
    parts = MultinomialNB().partial_fit(X[:100], y[:100], classes=["a", "b", "c"])
    parts.partial_fit(X[100:], y[100:])
    added = MultinomialNB().fit(X[:150], y[:150]) + MultinomialNB().fit(X[150:], y[150:])
    for model in (parts, added):
        np.testing.assert_array_equal(model.novelty(X), whole.novelty(X))
        np.testing.assert_array_equal(model.predict_set(X), whole.predict_set(X))


def test_no_more_rows_are_kept_than_some_in_whatever_batches():
    classes = np.array([0])
    kept = KeptRows()
    for value in range(3 * MAX_KEPT_ROWS):
        kept = kept + KeptRows.of(np.array([[float(value)]]), np.zeros(1, int), classes, None)
    assert MAX_KEPT_ROWS / 4 < kept.n_rows <= MAX_KEPT_ROWS
    total = sum(part.stands_for * len(part.codes) for part in kept)
    assert abs(total / (3 * MAX_KEPT_ROWS) - 1) < 0.02


def test_forgetting_takes_the_scores_and_other_rows_give_some():
    X, y = _rows(5, 100)
    model = GaussianNB().fit(X, y).forget(X[:1], y[:1])
    with pytest.raises(InputError, match="no scores of left-out rows"):
        model.predict_set(X)
    assert model.calibrate_sets(X, y).predict_set(X).any(axis=1).all()


def test_levels_are_checked():
    X, y = _rows(6, 30)
    model = GaussianNB().fit(X, y)
    with pytest.raises(ParameterError, match="coverage"):
        model.predict_set(X, coverage=1.5)
    with pytest.raises(ParameterError, match="novel"):
        model.decide(X, novel=-1)
