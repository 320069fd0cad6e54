"""The objective and its solvers: derivatives, agreement, priors, offsets, sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import check_grad

from deciban.errors import ParameterError
from deciban.logistic.solvers import (
    Prior,
    Problem,
    choose,
    dual_newton,
    sampled_newton,
    solve,
    two_valued,
)
from deciban.logistic.solvers import sparse as logistic_sparse
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.sparse import Sparse

few = settings(max_examples=15, deadline=None, derandomize=True)
SOLVERS = ["newton", "newton-cg", "lbfgs", "gradient"]
shapes = given(
    columns=st.integers(1, 5),
    scores=st.sampled_from([1, 3, 4]),
    held=st.sampled_from(["dense", "sparse", "binary"]),
    intercept=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
)


def problem(columns, scores, held, intercept, weighted, seed, rows=40):
    """A problem with everything that one can have: weights, offsets, uneven penalties, a centre."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.7)
    X = (X > 0).astype(float) if held == "binary" else X
    design = Dense(X, intercept) if held == "dense" else Sparse(sparse.csr_array(X), intercept)
    y = rng.integers(0, max(scores, 2), rows)
    prior = Prior.l2(
        rng.uniform(0.5, 2, columns),
        columns,
        scores,
        centre=rng.normal(size=(columns, scores)),
        intercept=intercept,
    )
    weight = rng.uniform(0, 2, rows) if weighted else None
    return Problem(design, y, prior, weight, rng.normal(size=(rows, scores)) if weighted else None)


@shapes
@few
def test_derivatives(**case):
    given_ = problem(**case)
    rng = np.random.default_rng(1)
    shape = given_.prior.centre.shape
    W, V = rng.normal(size=(2, *shape))
    error = check_grad(
        lambda w: given_.at(w.reshape(shape)).value,
        lambda w: given_.at(w.reshape(shape)).gradient.ravel(),
        W.ravel(),
    )
    assert error < 1e-4
    point = given_.at(W)
    change = given_.at(W + 1e-6 * V).gradient - given_.at(W - 1e-6 * V).gradient
    np.testing.assert_allclose(given_.hessian_product(point, V), change / 2e-6, atol=1e-5)
    hessian = given_.hessian(point)
    np.testing.assert_allclose(
        hessian @ V.ravel(), given_.hessian_product(point, V).ravel(), atol=1e-10
    )
    np.testing.assert_allclose(
        np.diagonal(hessian), given_.hessian_diagonal(point).ravel(), atol=1e-10
    )


@shapes
@few
def test_every_solver_finds_the_same_optimum(**case):
    given_ = problem(**case)
    start = np.zeros_like(given_.prior.centre)
    found = [solve(given_, start, name, 1e-10, 50_000) for name in SOLVERS]
    assert all(solution.converged for solution in found)
    d = given_.design.X.shape[1]
    for solution in found[1:]:
        np.testing.assert_allclose(solution.point.W[:d], found[0].point.W[:d], atol=1e-6)
        assert solution.point.value == pytest.approx(found[0].point.value, rel=1e-12)


@pytest.mark.parametrize("scores", [1, 3])
def test_the_loss_by_hand(scores):
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    W = np.array([[0.5, -0.25, 1.0][:scores]])
    at = Problem(Dense(X, False), y, Prior.l2(2.0, 1, scores, intercept=False)).at(W)
    scored = X @ W if scores > 1 else np.column_stack([[0, 0], X @ W])
    proba = np.exp(scored) / np.exp(scored).sum(axis=1, keepdims=True)
    assert at.value == pytest.approx(-np.log(proba[[0, 1], y]).sum() + np.sum(W**2))


def test_far_scores_neither_overflow_nor_underflow():
    X = np.array([[1e4], [-1e4]])
    for scores in (1, 3):
        W = np.array([[1.0, -1.0, 0.0][:scores]])
        at = Problem(Dense(X, False), np.array([1, 0]), Prior.l2(0.0, 1, scores, intercept=False))
        assert np.isfinite(at.at(W).value)
        assert np.isfinite(at.at(W).gradient).all()
    assert at.at(W).value == pytest.approx(4e4)


def test_an_offset_is_a_column_whose_coefficient_is_one():
    rng = np.random.default_rng(0)
    X, extra = rng.normal(size=(50, 2)), rng.normal(size=(50, 1))
    y = rng.integers(0, 2, 50)
    fixed = Problem(Dense(X), y, Prior.l2(1.0, 2, 1), offset=extra)
    stiff = Problem(
        Dense(np.hstack([X, extra])),
        y,
        Prior.l2([1.0, 1.0, 1e12], 3, 1, centre=[[0], [0], [1.0]]),
    )
    a, b = (solve(p, np.zeros_like(p.prior.centre)).point.W.ravel() for p in (fixed, stiff))
    np.testing.assert_allclose(a, b[[0, 1, 3]], atol=1e-6)


@pytest.mark.parametrize("scores", [1, 3])
@pytest.mark.parametrize("kind", [Dense, lambda X: Sparse(sparse.csr_array(X))])
def test_a_sample_leads_to_the_optimum_of_all_rows(scores, kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 3))
    X[:, 2] = np.arange(4000) % 1000 == 0  # what matters is in four rows
    y = (X[:, 0] + rng.logistic(size=4000) > 0).astype(np.intp) + (scores > 1) * (X[:, 1] > 1)
    whole = Problem(kind(X), y, Prior.l2(0.1, 3, scores))
    assert sampled_newton.applies(whole)
    start = np.zeros((4, scores))
    exact = solve(problem=whole, start=start, solver="lbfgs", tol=1e-10, max_iter=10_000)
    found = sampled_newton.solve(whole, start, 1e-9, 50)
    assert found.converged
    np.testing.assert_allclose(found.point.W, exact.point.W, atol=1e-5)


@pytest.mark.parametrize("scores", [1, 3])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", ["free", "bound", "none"])
@pytest.mark.parametrize("held", ["sparse", "binary"])
def test_fewer_rows_than_columns(scores, weighted, intercept, held):
    wide = problem(30, scores, held, intercept != "none", weighted, 5, rows=12)
    if intercept == "bound":
        wide.prior.precision[-1] = 0.3
        wide.prior.centre[-1] = 0.7
    start = np.random.default_rng(6).normal(size=wide.prior.centre.shape)
    assert dual_newton.applies(wide)
    found = dual_newton.solve(wide, start, 1e-10, 50)
    exact = solve(wide, start, "newton", 1e-12)
    assert found.converged
    assert found.n_iter < 20
    np.testing.assert_allclose(found.point.W[:-1], exact.point.W[:-1], atol=1e-7)
    assert found.point.value == pytest.approx(exact.point.value, rel=1e-14)


def test_a_step_over_the_rows_is_newtons():
    wide = problem(30, 3, "sparse", True, True, 7, rows=12)
    point = wide.at(np.random.default_rng(8).normal(size=wide.prior.centre.shape))
    step = dual_newton.DualProblem.of(wide).newton_direction(point, 1e-20)
    np.testing.assert_allclose(wide.hessian_product(point, step), -point.gradient, atol=1e-7)


def test_rows_do_not_serve_without_a_penalty_on_every_column():
    wide = problem(30, 1, "sparse", True, False, 9, rows=12)
    wide.prior.precision[3] = 0.0
    assert not dual_newton.applies(wide)
    assert not dual_newton.applies(problem(5, 1, "sparse", True, False, 9, rows=12))


def test_the_kernel_product_by_hand():
    rng = np.random.default_rng(10)
    X = sparse.random_array((30, 50), density=0.08, format="csr", rng=rng)
    unit, R = rng.uniform(size=(51, 2)), rng.normal(size=(30, 2))
    for some in (X, (X > 0).astype(float)):
        found = Sparse(some).kernel_product(unit)(R)
        for k in (0, 1):
            np.testing.assert_allclose(found[:, k], some * unit[:-1, k] @ some.T @ R[:, k])


def marked_table(rows=2500, seed=11, intercept=True):
    """Numbers and scaled one-hot columns in one matrix, and the same split."""
    rng = np.random.default_rng(seed)
    kinds = np.eye(6)[rng.integers(0, 6, rows)] * [1, 2, 3, 4, 5, 6] - 0.25
    X = np.column_stack([rng.normal(size=rows), kinds, np.full(rows, 2.0), rng.normal(size=rows)])
    return X, two_valued.design(X, intercept)


@pytest.mark.parametrize("scores", [1, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_split_matrix_has_the_same_products(scores, intercept):
    X, parts = marked_table(intercept=intercept)
    assert isinstance(parts, two_valued.TwoValued)
    assert parts.at_numbers.tolist() == [0, 8]
    rng = np.random.default_rng(12)
    W, R = rng.normal(size=(X.shape[1] + intercept, scores)), rng.normal(size=(len(X), scores))
    proba, weight = rng.dirichlet(np.ones(4), len(X))[:, :scores].copy(), rng.uniform(size=len(X))
    some = np.flatnonzero(rng.random(len(X)) < 0.3)
    for a, b, at in (
        (parts, Dense(X, intercept), slice(None)),
        (parts.take(some), Dense(X[some], intercept), some),
    ):
        np.testing.assert_allclose(a.product(W), b.product(W), atol=1e-12)
        np.testing.assert_allclose(
            a.transposed_product(R[at]), b.transposed_product(R[at]), atol=1e-9
        )
        np.testing.assert_allclose(
            a.squared_transposed_product(R[at]), b.squared_transposed_product(R[at]), atol=1e-9
        )
        np.testing.assert_allclose(a.squared_product(W), b.squared_product(W), atol=1e-12)
        for w in (None, weight[at]):
            np.testing.assert_allclose(a.hessian(proba[at], w), b.hessian(proba[at], w), atol=1e-9)


def test_only_matrices_of_many_rows_and_mostly_marks_are_split():
    X, _ = marked_table()
    assert isinstance(two_valued.design(X[:100]), Dense)
    assert isinstance(two_valued.design(X[:, [0, 8, 1]].copy()), Dense)
    assert isinstance(two_valued.design(np.random.default_rng(0).normal(size=(3000, 4))), Dense)


def test_a_split_matrix_of_marks_alone_and_constants():
    X = np.zeros((2500, 3))
    X[::3, 1] = 1.0
    parts = two_valued.design(X)
    assert isinstance(parts, two_valued.TwoValued)
    W = np.array([[1.0], [2.0], [3.0], [0.5]])
    np.testing.assert_array_equal(parts.product(W).ravel()[:4], [2.5, 0.5, 0.5, 2.5])


@pytest.mark.parametrize("scores", [1, 3])
def test_a_split_matrix_has_the_same_optimum(scores):
    X, parts = marked_table(rows=6000)
    rng = np.random.default_rng(13)
    y = (X[:, 0] + X[:, 6] + rng.logistic(size=6000) > 0).astype(np.intp)
    y += (scores > 1) * (X[:, 8] > 1)
    given_ = [Problem(design, y, Prior.l2(0.1, 9, scores)) for design in (parts, Dense(X))]
    assert sampled_newton.applies(given_[0])
    a, b = (solve(p, np.zeros((10, scores)), tol=1e-10) for p in given_)
    assert a.converged
    np.testing.assert_allclose(a.point.W[:9], b.point.W[:9], atol=1e-6)


def test_two_samples_come_before_all_rows(monkeypatch):
    X, parts = marked_table(rows=9000)
    y = (X[:, 0] > X[:, 6]).astype(np.intp)
    sizes, draw_sample = [], sampled_newton.draw_sample
    monkeypatch.setattr(
        sampled_newton, "draw_sample", lambda p, per: sizes.append(per) or draw_sample(p, per)
    )
    monkeypatch.setattr(sampled_newton, "SAMPLES", ((10, 1e-3), (40, 1e-5), (10**6, 1e-5)))
    whole = Problem(parts, y, Prior.l2(1.0, 9, 1))
    found = sampled_newton.solve(whole, np.zeros((10, 1)), 1e-9, 50)
    assert found.converged
    assert found.n_iter <= 8
    assert sizes == [10, 40]


def test_a_full_precision_is_a_prior_too():
    rng = np.random.default_rng(3)
    given_ = problem(2, 3, "dense", True, False, 3)
    matrix = Prior(given_.prior.centre, given_.prior.matrix())
    full = Problem(given_.design, given_.y, matrix)
    W = rng.normal(size=given_.prior.centre.shape)
    np.testing.assert_allclose(full.at(W).gradient, given_.at(W).gradient)
    np.testing.assert_allclose(full.hessian(full.at(W)), given_.hessian(given_.at(W)))
    np.testing.assert_allclose(full.prior.diagonal(), given_.prior.diagonal())


def test_threads_change_nothing():
    rng = np.random.default_rng(4)
    X = sparse.random_array((3000, 4000), density=0.1, format="csr", rng=rng)
    W, R = rng.normal(size=(4001, 2)), rng.normal(size=(3000, 2))
    from deciban import threads

    alone, shared = Sparse(X), Sparse(X, run=threads.run)
    np.testing.assert_array_equal(alone.product(W), shared.product(W))
    np.testing.assert_array_equal(alone.transposed_product(R), shared.transposed_product(R))
    np.testing.assert_allclose(alone.product(W), X @ W[:-1] + W[-1])
    np.testing.assert_allclose(alone.transposed_product(R)[:-1], X.T @ R)


@pytest.mark.parametrize("scores", [1, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("plain", [True, False])
def test_products_by_rows_are_those_by_columns(monkeypatch, scores, intercept, plain):
    rng = np.random.default_rng(7)
    X = (rng.random((30, 8)) < 0.3) * (1.0 if plain else rng.normal(size=(30, 8)))
    W, R = rng.normal(size=(8 + intercept, scores)), rng.normal(size=(30, scores))
    narrow = Sparse(sparse.csr_array(X), intercept)
    assert narrow.all_ones == plain
    found = narrow.product(W), narrow.transposed_product(R), narrow.squared_transposed_product(R)
    monkeypatch.setattr(logistic_sparse, "MAX_ROWWISE_COEFFICIENTS", 0)
    wide = narrow.product(W), narrow.transposed_product(R), narrow.squared_transposed_product(R)
    for a, b in zip(found, wide, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_hessian_is_kept_while_it_serves(monkeypatch):
    p = problem(4, 1, "dense", True, False, 5, rows=400)
    taken, hessian = [], Problem.hessian
    monkeypatch.setattr(Problem, "hessian", lambda *a: taken.append(1) or hessian(*a))
    found = solve(p, np.zeros((5, 1)), "newton", tol=1e-12)
    assert found.converged
    assert len(taken) < found.n_iter


def test_no_such_solver():
    with pytest.raises(ParameterError, match="solver must be one of 'auto'"):
        choose("simplex", 3, 1)
