"""Models add up: learning, merging and forgetting in any order leave the same model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from deciban.errors import InputError, NegativeCountError, ShapeError
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from models import FIVE, METHODS, assert_close, shown, state, table

few = settings(max_examples=25, deadline=None, derandomize=True)
each = pytest.mark.parametrize("kind", FIVE)


def same(a, b, X):
    """Every fitted attribute and every answer of two models."""
    assert shown(a) == shown(b)
    assert a.counts_ == b.counts_
    for method in METHODS:
        assert_close(getattr(a, method)(X), getattr(b, method)(X), rtol=1e-12)


@st.composite
def two_tables(draw):
    """Two tables of the same columns; labels may be in one only."""
    d = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    return tuple(
        (rng.integers(0, 4, (n, d)).astype(float), rng.integers(low, 4, n))
        for n, low in zip(sizes, (0, draw(st.integers(0, 3))), strict=True)
    )


def joined(a, b):
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])


@each
@given(tables=two_tables())
@few
def test_adding_is_fitting_both(kind, tables):
    a, b = tables
    X, y = joined(a, b)
    one, other, whole = kind().fit(*a), kind().fit(*b), kind().fit(X, y)
    before = state(one), state(other)
    same(one + other, whole, X)
    same(other + one, whole, X)
    assert (state(one), state(other)) == before


@each
@given(tables=two_tables())
@few
def test_subtracting_undoes_adding(kind, tables):
    a, b = (kind().fit(*part) for part in tables)
    same((a + b) - b, a, tables[0][0])
    same((a + b) - a, b, tables[1][0])


@each
@given(tables=two_tables())
@few
def test_forgetting_is_never_having_seen(kind, tables):
    a, b = tables
    every = np.unique(joined(a, b)[1])
    taught = kind().fit(*joined(a, b)).forget(*a)
    fresh = kind().partial_fit(*b, classes=every)
    same(taught, fresh, b[0])
    slowly = kind().partial_fit(*a, classes=every).partial_fit(*b).forget(*a)
    same(slowly, fresh, b[0])


@each
@given(tables=two_tables(), data=st.data())
@few
def test_weights_are_forgotten_with_their_rows(kind, tables, data):
    a, b = tables
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    weights = [rng.integers(1, 6, len(labels)) / 4 for _, labels in tables]
    every = np.unique(joined(a, b)[1])
    taught = kind().partial_fit(*a, classes=every, sample_weight=weights[0])
    taught.partial_fit(*b, sample_weight=weights[1]).forget(*a, sample_weight=weights[0])
    same(taught, kind().partial_fit(*b, classes=every, sample_weight=weights[1]), b[0])


@each
def test_everything_forgotten_is_an_empty_model_that_can_learn_again(kind):
    X, y = table()
    empty = kind().fit(X, y).forget(X, y)
    np.testing.assert_allclose(empty.predict_proba(X), 1 / 3)
    assert empty.class_count_.tolist() == [0, 0, 0]
    assert empty.predict(X).tolist() == [0] * len(X)
    same(empty.partial_fit(X, y), kind().fit(X, y), X)


@each
def test_declared_classes_stay_when_others_go(kind):
    X, y = table(classes=2)
    a = kind().partial_fit(X, y, classes=[0, 1, 9])
    b = kind().fit(X[:5], np.full(5, 4))
    assert (a + b).classes_.tolist() == [0, 1, 4, 9]
    same((a + b) - b, a, X)


def test_gaussians_far_from_zero():
    rng = np.random.default_rng(0)
    X, y = 1e9 + rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    parts = GaussianNB().fit(X[:90], y[:90]) + GaussianNB().fit(X[90:], y[90:])
    same(parts, GaussianNB().fit(X, y), X)
    same(GaussianNB().fit(X, y).forget(X[:90], y[:90]), GaussianNB().fit(X[90:], y[90:]), X)
    near = GaussianNB().fit(X - 1e9, y)
    np.testing.assert_allclose(parts.var_, near.var_, rtol=1e-6)


def test_large_values_leave_no_trace():
    rng = np.random.default_rng(1)
    huge, y = 1e100 * rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    small, z = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    taught = GaussianNB().fit(small, z).partial_fit(huge, y).forget(huge, y)
    same(taught, GaussianNB().fit(small, z), small)


def test_missing_values_are_forgotten_too():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0], [5.0, 1.0]])
    y = [0, 0, 1, 1]
    model = GaussianNB().fit(X, y).forget(X[:1], [0])
    same(model, GaussianNB().fit(X[1:], y[1:]), np.nan_to_num(X))


@each
@pytest.mark.parametrize("strange", ["too many", "other values"])
def test_rows_never_seen_cannot_be_forgotten(kind, strange):
    X, y = table()
    model = kind().fit(X * 0 if strange == "other values" else X, y)
    before = state(model)
    rows = (X[:1] * 0 + 9, y[:1]) if strange == "other values" else (X[[0] * 50], y[[0] * 50])
    with pytest.raises(NegativeCountError, match="Hint: only rows that were added"):
        model.forget(*rows)
    assert state(model) == before


@each
def test_subtracting_what_was_never_added(kind):
    X, y = table()
    small, large = kind().fit(X[:6], y[:6]), kind().fit(X, y)
    with pytest.raises(NegativeCountError, match="Hint:"):
        small - large
    with pytest.raises(InputError, match=r"nothing is left of 12 rows\. Hint:"):
        large - large


def test_models_that_do_not_add_up():
    X, y = table()
    model = MultinomialNB().fit(X, y)
    with pytest.raises(InputError, match=r"MultinomialNB and GaussianNB count.*Hint:"):
        model + GaussianNB().fit(X, y)
    with pytest.raises(ShapeError, match=r"4 columns, the other 2\. Hint:"):
        model - MultinomialNB().fit(X[:, :2], y)
    with pytest.raises(InputError, match=r"binarize=0\.0, the other by 1\. Hint:"):
        BernoulliNB().fit(X, y) + BernoulliNB(binarize=1).fit(X, y)
    for other in (1, "model", None):
        with pytest.raises(TypeError):
            model + other


def test_column_names_must_agree():
    X, y = table(columns=2)
    one = MultinomialNB().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    other = MultinomialNB().fit(pd.DataFrame(X, columns=["b", "a"]), y)
    with pytest.raises(ShapeError, match=r"\['a' 'b'\], the other \['b' 'a'\]\. Hint:"):
        one + other
    assert (MultinomialNB().fit(X, y) + one).feature_names_in_.tolist() == ["a", "b"]


def test_the_first_model_says_how_to_estimate():
    X, y = table()
    both = MultinomialNB(alpha=3).fit(X, y) + MultinomialNB(alpha=1).fit(X, y)
    assert both.alpha == 3


def test_categories_in_one_model_only():
    a = CategoricalNB().fit([["x", "p"], ["y", "p"]], [0, 1])
    b = CategoricalNB().fit([["a", "q"]], [0])
    whole = CategoricalNB().fit([["x", "p"], ["y", "p"], ["a", "q"]], [0, 1, 0])
    same(a + b, whole, [["x", "q"], ["a", "p"]])
    same(whole - b, a, [["x", "q"], ["a", "p"]])


@each
def test_estimators_are_estimators(kind):
    X, y = table(rows=60)
    model = kind().fit(X, y)
    same(pickle.loads(pickle.dumps(model)), model, X)
    assert not hasattr(clone(model), "counts_")
    assert clone(model).get_params() == model.get_params()
    name = next(iter(model.get_params()))
    assert clone(model).set_params(**{name: 0.5}).get_params()[name] == 0.5
    pipeline = make_pipeline(FunctionTransformer(), kind())
    assert pipeline.fit(X, y).predict(X).shape == (60,)
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3
