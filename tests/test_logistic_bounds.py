"""A regression whose penalty the rows choose does not go on beyond what they were."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import deciban
from deciban import LogisticRegression
from deciban.errors import ModelFileError
from deciban.files.model import Stored
from deciban.logistic.bounds import clip, seen_range, union
from deciban.logistic.stored import from_stored


def table(n=40, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, 3)) + y[:, None] * [1.0, 0.0, -1.0], y


@pytest.fixture(params=["softmax", "ovr"])
def fitted(request):
    X, y = table(n_classes=3)
    return LogisticRegression(C="auto", multi_class=request.param).fit(X, y), X


def test_the_range_by_hand():
    X, weight = np.array([[1.0, -1.0], [2.0, 4.0], [-9.0, 0.5]]), np.array([1.0, 0.5, 0.0])
    assert seen_range(X, weight).tolist() == [[0.0, -1.0], [2.0, 4.0]]
    assert seen_range(X, None).tolist() == [[-9.0, -1.0], [2.0, 4.0]]
    assert seen_range(-X[:2], None).tolist() == [[-2.0, -4.0], [0.0, 1.0]]
    np.testing.assert_array_equal(seen_range(csr_array(X), weight), seen_range(X, weight))
    both = union(seen_range(X[:1], None), seen_range(X[2:], None))
    np.testing.assert_array_equal(both, seen_range(X[[0, 2]], None))


def test_numbers_beyond_are_at_the_end():
    bounds = np.array([[-1.0, 0.0], [2.0, 3.0]])
    X = np.array([[-8.0, 1.0], [0.5, 30.0], [0.0, -1.0]])
    assert clip(X, bounds).tolist() == [[-1.0, 1.0], [0.5, 3.0], [0.0, 0.0]]
    np.testing.assert_array_equal(clip(csr_array(X), bounds).toarray(), clip(X, bounds))


def test_four_rows_are_not_sure_of_what_lies_far_away():
    """Amounts that four rows had next to none of: hundreds of deviations are no evidence."""
    X, y = [[0.0], [1.0], [0.0], [2.0]], ["no", "yes", "no", "yes"]
    model = LogisticRegression(C="auto").fit(X, y)
    far, last = model.predict_proba([[1e5], [2.0]])
    np.testing.assert_array_equal(far, last)
    assert far.max() < 0.9
    assert LogisticRegression(C=1.0).fit(X, y).predict_proba([[1e5]])[0, 1] > 0.999


def test_within_the_range_it_is_the_plain_regression(fitted):
    model, X = fitted
    plain = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), plain, rtol=1e-12)


def test_evidence_adds_up_beyond_the_range(fitted):
    model, X = fitted
    far = 50.0 * X
    joint = model.predict_joint_log_proba(far)
    named = model.evidence(far, against=0).sum(axis=1) + model.prior_evidence(against=0)
    np.testing.assert_allclose(named, (joint - joint[:, :1]) * 10 / np.log(10), atol=1e-9)
    sparse = np.asarray(model.evidence(csr_array(far), against=0)[1].sum(axis=1))
    zero = model.prior_evidence(against=0, centred=False)[1]
    np.testing.assert_allclose(sparse + zero, named[:, 1], atol=1e-9)


def test_sparse_rows_answer_as_dense_ones(fitted):
    model, X = fitted
    far = np.where(np.abs(X) < 0.5, 0.0, 9.0 * X)
    np.testing.assert_allclose(
        model.predict_proba(csr_array(far)), model.predict_proba(far), rtol=1e-12
    )


def test_more_rows_widen_the_range():
    X, y = table()
    model = LogisticRegression(C="auto").partial_fit(X, y, classes=[0, 1])
    before = model.model_.bounds
    model.partial_fit([[9.0, 0.0, 0.0]], [1])
    now = model.model_.bounds
    assert now[1, 0] == 9.0
    np.testing.assert_array_equal(now[0], before[0])
    np.testing.assert_array_equal(now[1, 1:], before[1, 1:])


def test_a_stated_penalty_has_no_bounds():
    X, y = table()
    model = LogisticRegression(C="auto").fit(X, y)
    assert model.model_.bounds is not None
    assert model.set_params(C=1.0).fit(X, y).model_.bounds is None
    assert LogisticRegression().partial_fit(X, y, classes=[0, 1]).model_.bounds is None


def test_a_file_keeps_them(fitted, tmp_path):
    model, X = fitted
    model.save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(99 * X), model.predict_proba(99 * X))
    stored = model.to_stored()
    arrays = dict(stored.arrays) | {"bounds": stored.arrays["bounds"] + 100.0}
    damaged = Stored(stored.kind, None, stored.description, stored.labels, arrays)
    with pytest.raises(ModelFileError, match="bounds of a column leave zero out"):
        from_stored(damaged)
