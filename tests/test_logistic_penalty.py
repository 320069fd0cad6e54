"""C="auto": the penalty that rows choose, each left out; and what may be said of four rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array, csr_matrix

import deciban
from deciban import LogisticRegression
from deciban.errors import InputError, ParameterError
from deciban.logistic import penalty


def table(n, d, k, seed=0):
    """Rows of which the first columns tell the class, not for sure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    logits = np.pad(X, ((0, 0), (0, k)))[:, :k] + rng.gumbel(size=(n, k))
    return X, logits.argmax(axis=1)


def exact_losses(X, y, k, penalties):
    """Every row judged by the fit of all others and of one row more of each class at the mean."""
    losses = []
    for lam in penalties:
        total = 0.0
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            rows = np.vstack([X[others], np.tile(X.mean(axis=0), (k, 1))])
            model = LogisticRegression(lam=lam).fit(rows, np.append(y[others], np.arange(k)))
            total -= model.predict_log_proba(X[i : i + 1])[0, y[i]]
        losses.append(total)
    return np.array(losses)


@pytest.mark.parametrize("k", [2, 3])
def test_rows_are_left_out_as_if_they_had_not_been_there(k):
    X, y = table(30, 4, k)
    penalties = np.array([60.0, 12.0, 3.0])
    got = penalty.leave_one_out_losses(X - X.mean(axis=0), y, np.ones(30), k, penalties)
    np.testing.assert_allclose(got, exact_losses(X, y, k, penalties), rtol=0.02)


def test_what_is_chosen_has_the_least_loss_and_surprise():
    X, y = table(60, 5, 2, seed=3)
    C = LogisticRegression(C="auto").fit(X, y).C_
    variances = np.exp(np.linspace(np.log(0.01), np.log(100.0), 19))
    total = X.var(axis=0).sum()
    loss = exact_losses(X, y, 2, total / variances)
    usual = -3.0 + 0.6 * np.log(60)
    objective = loss + ((np.log(variances) - usual) / 1.5) ** 2 / 2
    chosen = objective[np.isclose(variances / total, C)]
    assert len(chosen) == 1
    assert chosen[0] <= objective.min() + 0.1


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_optimum_of_that_penalty_with_one_row_more_of_each_class(k):
    X, y = table(50, 3, k)
    model = LogisticRegression(C="auto").fit(X, y)
    rows = np.vstack([X, np.tile(X.mean(axis=0), (k, 1))])
    stated = LogisticRegression(C=model.C_).fit(rows, np.append(y, np.arange(k)))
    np.testing.assert_allclose(model.coef_, stated.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, stated.intercept_, atol=1e-6)


def test_columns_that_say_nothing_leave_the_class_frequencies():
    model = LogisticRegression(C="auto").fit(np.ones((4, 2)), list("aaab"))
    np.testing.assert_allclose(model.predict_proba([[1.0, 1.0]]), [[4 / 6, 2 / 6]], atol=1e-6)


def test_four_rows_that_agree_are_no_proof():
    X, y = [[-1.0], [1.0], [-1.0], [1.0]], list("abab")
    sure = LogisticRegression(lam=1e-3).fit(X, y).predict_proba([[1.0]])[0, 1]
    honest = LogisticRegression(C="auto").fit(X, y).predict_proba([[1.0]])[0, 1]
    assert sure > 0.99
    assert 0.5 < honest < 0.85
    many = LogisticRegression(C="auto").fit(X * 100, y * 100).predict_proba([[1.0]])[0, 1]
    assert many > 0.98


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.sampled_from([2, 3]), st.sampled_from([0.01, 7.0, 300.0]))
def test_units_order_and_rotation_do_not_show(seed, k, unit):
    X, y = table(24, 3, k, seed)
    if len(np.unique(y)) < k:
        return
    proba = LogisticRegression(C="auto").fit(X, y).predict_proba(X)
    order = np.random.default_rng(seed).permutation(24)
    turned, _ = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(3, 3)))
    for rows in (unit * X, X + 5.0, X @ turned, np.hstack([X, np.zeros((24, 30))])):
        model = LogisticRegression(C="auto").fit(rows[order], y[order])
        np.testing.assert_allclose(model.predict_proba(rows), proba, atol=1e-5)


def test_a_weight_is_worth_copies():
    X, y = table(20, 3, 2)
    weight = np.arange(20) % 3 + 1
    weighed = LogisticRegression(C="auto").fit(X, y, sample_weight=weight)
    copied = LogisticRegression(C="auto").fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighed.C_, copied.C_)
    np.testing.assert_allclose(weighed.coef_, copied.coef_, atol=1e-6)


def test_sparse_and_dense_rows_choose_alike():
    X, y = table(40, 6, 3)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    for rows in (X, np.hstack([X, np.zeros((40, 50))])):
        dense = LogisticRegression(C="auto").fit(rows, y)
        for make in (csr_array, csr_matrix, coo_matrix):
            sparse = LogisticRegression(C="auto").fit(make(rows), y)
            np.testing.assert_allclose(dense.C_, sparse.C_)
            np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-6)


def test_a_stated_penalty_is_as_ever_and_names_no_choice():
    X, y = table(30, 3, 2)
    model = LogisticRegression(C="auto").fit(X, y)
    model.set_params(C=0.5).fit(X, y)
    assert not hasattr(model, "C_")
    np.testing.assert_array_equal(model.coef_, LogisticRegression(C=0.5).fit(X, y).coef_)
    assert LogisticRegression().C == 1.0


def test_it_survives_a_file_and_more_rows(tmp_path):
    X, y = table(40, 3, 2)
    model = LogisticRegression(C="auto").fit(X, y)
    model.save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_allclose(again.C_, model.C_)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    first = LogisticRegression(C="auto").partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(first.coef_, model.coef_, atol=1e-7)
    first.partial_fit(X, y)
    np.testing.assert_allclose(first.C_, model.C_)


def test_words_that_are_no_choice_and_tables_that_are_too_large_are_refused():
    with pytest.raises(ParameterError, match='"auto" leaves it to the rows'):
        LogisticRegression(C="best").fit([[0.0], [1.0]], [0, 1])
    wide = csr_array((1501, 1501))
    with pytest.raises(InputError, match=r"1,501 rows and 1,501 columns.*state C"):
        LogisticRegression(C="auto").fit(wide, np.arange(1501) % 2)
