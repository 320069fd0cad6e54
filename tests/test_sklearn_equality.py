"""The five classifiers give scikit-learn's numbers, over shapes, types, weights and settings."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import deciban.naive_bayes as ours
from models import METHODS, assert_close

few = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
NAMES = ["GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]
SHOWN = [
    *("class_count_", "class_prior_", "class_log_prior_", "classes_", "n_features_in_"),
    *("feature_count_", "feature_log_prob_", "feature_all_", "category_count_", "n_categories_"),
    *("theta_", "var_", "epsilon_"),
]
DENSE = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "uint64": lambda X: X.astype(np.uint64),
    "bool": lambda X: X.astype(bool),
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "big-endian": lambda X: X.astype(">f8"),
    "object": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
}
SPARSE = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "int csr": lambda X: sparse.csr_matrix(X.astype(np.int32)),
    "bool csc": lambda X: sparse.csc_matrix(X.astype(bool)),
}


@st.composite
def problems(draw):
    """Rows of small whole numbers, labels of one to four classes, and perhaps weights."""
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, 5, (n, d)) * rng.integers(0, 2, (n, d)).astype(float)
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    weight = draw(st.sampled_from([None, rng.random(n) + 0.1, np.append(rng.random(n - 1), 1.0)]))
    if weight is not None and draw(st.booleans()):
        weight[: n // 3] = 0.0
    y = np.array(["ham", "spam", "eggs", "bacon"])[y] if draw(st.booleans()) else y
    return X, y, weight


@st.composite
def parameters(draw, name, X, y):
    """A setting of the constructor."""
    k, d = len(np.unique(y)), X.shape[1]
    prior = draw(st.sampled_from([None, np.arange(1, k + 1) / np.arange(1, k + 1).sum()]))
    if name == "GaussianNB":
        return {"priors": prior, "var_smoothing": draw(st.sampled_from([1e-9, 1e-2, 1]))}
    # Theirs loses the digits of a very small alpha: in log(1 - p), and in all + alpha - own.
    small = 1e-3 if name in ("BernoulliNB", "ComplementNB") else 1e-12
    alpha = draw(st.sampled_from([1.0, 0.25, small, 3, np.linspace(0.1, 2, d)]))
    if name in ("BernoulliNB", "CategoricalNB") and np.ndim(alpha):
        alpha = 0.5  # one per column is ours alone: theirs adds columns to classes, or refuses
    chosen = {"alpha": alpha, "class_prior": prior, "fit_prior": draw(st.booleans())}
    extra = {
        "MultinomialNB": {"force_alpha": [True, False]},
        "ComplementNB": {"norm": [False, k > 1]},
        "BernoulliNB": {"binarize": [0.0, 1.5]},
        "CategoricalNB": {"min_categories": [None, 7, np.arange(5, 5 + d)]},
    }[name]
    return chosen | {key: draw(st.sampled_from(values)) for key, values in extra.items()}


def both(name, data, X, y):
    chosen = data.draw(parameters(name, X, y))
    return getattr(ours, name)(**chosen), getattr(theirs, name)(**chosen)


def quietly(call, *args, **kwargs):
    """scikit-learn divides zero by zero where a class has no weight."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return call(*args, **kwargs)


def agree(mine, peer, X, X_peer):
    for shown in SHOWN:
        assert hasattr(mine, shown) == hasattr(peer, shown), shown
        if hasattr(peer, shown):
            assert_close(getattr(mine, shown), getattr(peer, shown))
    for method in METHODS:
        expected = quietly(getattr(peer, method), X_peer)
        if method != "predict":
            assert_close(getattr(mine, method)(X), expected)
        elif len(mine.classes_) > 1:
            top = np.sort(quietly(peer.predict_log_proba, X_peer), axis=1)
            clear = top[:, -1] - top[:, -2] > 1e-9
            np.testing.assert_array_equal(mine.predict(X)[clear], expected[clear])


def classes_have_weight(y, weight):
    return weight is None or all(weight[y == label].sum() > 0 for label in np.unique(y))


@pytest.mark.parametrize("name", NAMES)
@given(problem=problems(), data=st.data())
@few
def test_same_numbers(name, problem, data):
    X, y, weight = problem
    if not classes_have_weight(y, weight):
        weight = weight + 0.5
    if name == "GaussianNB":
        X = X + np.random.default_rng(len(X)).normal(size=X.shape)
    mine, peer = both(name, data, X, y)
    quietly(mine.fit, X, y, weight)
    quietly(peer.fit, X, y, weight)
    agree(mine, peer, X, X)


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_from_any_matrix(name, kind):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (30, 5)).astype(float), rng.integers(0, 3, 30)
    given = DENSE[kind](X)
    expected = X.astype(bool).astype(float) if kind == "bool" else X
    mine, peer = getattr(ours, name)().fit(given, y), getattr(theirs, name)().fit(expected, y)
    agree(mine, peer, given, expected)


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_from_any_sparse_matrix(name, kind):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, (30, 6)) * rng.integers(0, 2, (30, 6)), rng.integers(0, 3, 30)
    thin = SPARSE[kind](X)
    mine = getattr(ours, name)().fit(thin, y, sample_weight=np.arange(30) / 7)
    peer = getattr(theirs, name)().fit(thin.toarray(), y, sample_weight=np.arange(30) / 7)
    agree(mine, peer, thin, thin.toarray())


def untidy(X):
    """The same matrix with explicit zeros, unsorted 64-bit indices and sums in several parts."""
    n, d = X.shape
    part = np.concatenate([X[:, ::-1] - 1.5, np.full((n, d), 1.5)], axis=1)
    columns = np.tile(np.concatenate([np.arange(d)[::-1], np.arange(d)]), n).astype(np.int64)
    starts = np.arange(n + 1, dtype=np.int64) * 2 * d
    return sparse.csr_array((part.ravel(), columns, starts), shape=X.shape)


@pytest.mark.parametrize("name", NAMES)
def test_untidy_csr(name):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (20, 4)).astype(float), rng.integers(0, 2, 20)
    given = untidy(X)
    before = given.data.copy(), given.indices.copy(), given.indptr.copy()
    mine = getattr(ours, name)().fit(given, y)
    agree(mine, getattr(theirs, name)().fit(X, y), given, X)
    for then, now in zip(before, (given.data, given.indices, given.indptr), strict=True):
        np.testing.assert_array_equal(now, then)
    for c, part in enumerate(mine.evidence(given)):
        dense = mine.evidence(X)[..., c] - mine.evidence(np.zeros((1, 4)))[..., c]
        np.testing.assert_allclose(part.toarray(), dense, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@given(problem=problems(), cut=st.integers(0, 25))
@few
def test_pieces_are_the_whole(name, problem, cut):
    X, y, weight = problem
    whole = getattr(ours, name)().fit(X, y, weight)
    parts = [part for part in (slice(0, cut), slice(cut, None)) if len(y[part])]
    pieces = getattr(ours, name)()
    for part in parts:
        some = None if weight is None else weight[part]
        if some is not None and not some.any():
            return
        pieces.partial_fit(X[part], y[part], classes=np.unique(y), sample_weight=some)
    agree(pieces, whole, X, X)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_two_is_two_rows(name):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 4, (20, 5)).astype(float), rng.integers(0, 3, 20)
    doubled = getattr(ours, name)().fit(np.tile(X, (2, 1)), np.tile(y, 2))
    for weight in (2, 2.0, np.float32(2), np.full(20, 2.0), [2] * 20):
        agree(getattr(ours, name)().fit(X, y, sample_weight=weight), doubled, X, X)
