"""Evidence adds up to the answer; a decision is the answer of least loss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from deciban.errors import InputError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from models import FIVE, table

few = settings(max_examples=15, deadline=None, derandomize=True)
each = pytest.mark.parametrize("kind", FIVE)
DECIBANS = 10 / np.log(10)


def odds(joint, against=None):
    """Ten times the decimal logarithm of the odds, from its definition."""
    if against is not None:
        return DECIBANS * (joint - joint[:, [against]])
    others = [np.delete(joint, c, axis=1).mean(axis=1) for c in range(joint.shape[1])]
    return DECIBANS * (joint - np.column_stack(others))


@each
@given(classes=st.integers(2, 5), seed=st.integers(0, 1000))
@few
def test_evidence_adds_up_to_the_odds(kind, classes, seed):
    X, y = table(rows=20, classes=classes, seed=seed)
    model = kind().fit(X, y)
    said = model.evidence(X)
    assert said.shape == (20, 4, classes)
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(said.sum(axis=1) + model.prior_evidence(), odds(joint), atol=1e-8)
    for c in range(classes):
        total = model.evidence(X, against=c).sum(axis=1) + model.prior_evidence(against=c)
        np.testing.assert_allclose(total, odds(joint, c), atol=1e-8)
        assert not total[:, c].any()


@each
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_sparse_evidence_is_dense_evidence_less_that_of_zeros(kind, classes):
    X, y = table(rows=20, classes=classes)
    X[X < 3] = 0
    model = kind().fit(X, y)
    zeros = model.evidence(np.zeros((1, 4)))
    for matrix in (sparse.csr_array(X), sparse.csr_matrix(X), sparse.coo_array(X)):
        parts = model.evidence(matrix)
        assert len(parts) == classes
        for c, part in enumerate(parts):
            assert part.format == "csr"
            assert part.nnz == np.count_nonzero(X)
            np.testing.assert_allclose(part.toarray(), model.evidence(X)[..., c] - zeros[..., c])
    total = np.column_stack([part.sum(axis=1) for part in parts]) + model.prior_evidence(zeros=True)
    if classes > 1:
        np.testing.assert_allclose(total, odds(model.predict_joint_log_proba(X)), atol=1e-8)


@each
def test_sparse_evidence_shares_nothing_with_its_input(kind):
    X, y = table()
    rows = sparse.csr_array(X)
    parts = kind().fit(X, y).evidence(rows)
    parts[0].data[::2] = 0
    parts[0].eliminate_zeros()
    np.testing.assert_array_equal(rows.toarray(), X)
    assert parts[1].nnz == rows.nnz


def test_wide_sparse_evidence():
    """A million columns: neither the work nor the memory may follow rows times columns."""
    rows = sparse.random_array((200, 10**6), density=1e-5, format="csr", rng=0)
    for model in (MultinomialNB(), BernoulliNB()):
        parts = model.fit(rows, np.arange(200) % 2).evidence(rows)
        assert sum(part.nnz for part in parts) == 2 * rows.nnz


def test_missing_values_say_nothing():
    X = np.array([[1.0, np.nan], [2.0, 1.0], [4.0, 2.0], [5.0, 0.0]])
    for model in (GaussianNB(), CategoricalNB()):
        said = model.fit(X, [0, 0, 1, 1]).evidence(X)
        assert not said[0, 1].any()
        assert said[0, 0].all()
        for c, part in enumerate(model.evidence(sparse.csr_array(X))):
            zeros = model.evidence(np.zeros((1, 2)))[..., c]
            np.testing.assert_allclose(part.toarray(), said[..., c] - zeros, atol=1e-9)


def test_impossible_values():
    model = MultinomialNB(alpha=0).fit([[1, 0, 0], [0, 1, 0]], ["a", "b"])
    assert model.evidence([[1, 0, 0]])[0, 0].tolist() == [np.inf, -np.inf]
    assert model.evidence([[0, 0, 1]])[0, 2].tolist() == [0, 0]
    assert model.predict_proba([[1, 1, 0]]).tolist() == [[0.5, 0.5]]


def test_predict_is_the_largest_probability_even_where_nothing_is_possible():
    model = MultinomialNB(alpha=0, class_prior=[0.3, 0.7]).fit([[1, 0], [0, 1]], ["a", "b"])
    assert model.predict_proba([[1, 1]]).round(9).tolist() == [[0.3, 0.7]]
    assert model.predict([[1, 1]]).tolist() == ["b"]


@each
def test_decide_by_hand(kind):
    X, y = table(rows=40, classes=2)
    model = kind().fit(X, y)
    proba = model.predict_proba(X)
    loss = np.array([[0, 5], [1, 0]])
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    cheapest = (proba @ loss.T).argmin(axis=1)
    np.testing.assert_array_equal(model.decide(X, loss=loss), cheapest)
    np.testing.assert_array_equal(model.decide(X, loss={(0, 1): 5}), cheapest)
    answers = model.decide(X, loss=loss, abstain=0.2)
    assert answers.dtype == object
    silent = (proba @ loss.T).min(axis=1) > 0.2
    assert [answer is None for answer in answers] == silent.tolist()
    assert answers[~silent].tolist() == cheapest[~silent].tolist()


@pytest.mark.parametrize("classes", [["b", "a"], [1.0, 2.0], [True, False], [("x", 1), "y"]])
def test_answers_are_the_classes(classes):
    y = np.empty(2, dtype=object)
    y[:] = classes
    model = MultinomialNB().fit([[5, 0], [0, 5]], y if isinstance(classes[0], tuple) else classes)
    for answer in (model.predict, model.decide, lambda X: model.decide(X, abstain=0.4)):
        assert answer([[5, 0], [0, 5]]).tolist() == classes
    assert model.decide([[1, 1]], abstain=0.4).tolist() == [None]


@pytest.mark.parametrize("call", ["evidence", "decide", "predict", "predict_proba", "forget"])
@each
def test_nothing_before_fit(kind, call):
    extra = [[0]] if call == "forget" else []
    with pytest.raises(NotFittedError):
        getattr(kind(), call)([[1.0]], *extra)
    with pytest.raises(NotFittedError):
        kind().prior_evidence()
    with pytest.raises(NotFittedError):
        kind() + kind()


@each
def test_unknown_class_to_compare_with(kind):
    model = kind().fit(*table())
    with pytest.raises(InputError, match=r"unknown class 'spam'\. Hint: one of 0, 1, 2"):
        model.evidence([[0, 0, 0, 0]], against="spam")
