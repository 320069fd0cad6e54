"""Dual coordinate ascent: the optimum of Newton's method, the duality gap, weights and copies."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from deciban.logistic.solvers import Prior, Problem, dual_ascent, dual_newton, selection, solve
from deciban.logistic.solvers.dense import Dense
from deciban.logistic.solvers.dual_ascent import Ascent
from deciban.logistic.solvers.sparse import Sparse

LOGITS = pytest.mark.parametrize("m", [1, 3, 8, 19])
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


def texts(m, *, intercept=True, n=120, d=200, penalty=1.0, seed=0):
    """Sparse rows, fewer than columns, with weights, offsets and uneven penalties."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(sparse.random(n, d, 0.06, random_state=seed, format="csr"))
    y = rng.integers(0, max(m, 2), n)
    precision = penalty * np.exp(rng.normal(size=(d + intercept, m)))
    if intercept:
        precision[-1] = 0.01
    weight, offset = rng.integers(1, 4, n).astype(float), rng.normal(size=(n, m))
    prior = Prior(np.zeros_like(precision), precision)
    return Problem(Sparse(X, intercept), y, prior, weight, offset)


def zero(problem):
    return np.zeros_like(problem.prior.centre)


def optimum(problem):
    return dual_newton.solve(problem, zero(problem), 1e-10, 200).point


def climbed(problem, tol=1e-5, max_iter=500):
    ascent = Ascent.of(problem)
    assert ascent.climb(tol, max_iter)[1]
    return ascent


def dual_value(problem, ascent):
    """The dual objective of the duals: never above the primal one, whatever its coefficients."""
    m, weight = problem.n_logits, problem.weight
    A = ascent.duals[:, :m].astype(float)
    if m == 1:
        second = np.clip((problem.y == 1) - A[:, 0] / weight, 0, 1)
        proba = np.stack([1 - second, second], axis=1)
    else:
        proba = np.clip(np.eye(m)[problem.y] - A / weight[:, None], 0, 1)
    entropy = -np.sum(proba * np.log(np.maximum(proba, 1e-300)), axis=1)
    moved = problem.design.transposed_product(A)
    penalty = np.sum(moved**2 / problem.prior.precision) / 2
    return weight @ entropy - np.sum(A * problem.offset) - penalty


@LOGITS
@INTERCEPT
def test_it_approaches_newtons_optimum_as_the_tolerance_shrinks(m, intercept):
    problem = texts(m, intercept=intercept)
    best = optimum(problem)
    gaps = []
    for tol in (1e-1, 1e-3, 1e-5):
        solution = dual_ascent.solve(problem, zero(problem), tol, 500)
        assert solution.converged
        gaps.append(solution.point.value - best.value)
    assert gaps[0] > gaps[1] > gaps[2] >= -1e-8
    assert gaps[2] < 1e-8 * best.value
    np.testing.assert_allclose(solution.point.W, best.W, atol=2e-3)


@LOGITS
@INTERCEPT
def test_the_duality_gap_closes(m, intercept):
    problem = texts(m, intercept=intercept)
    best, gaps = optimum(problem).value, []
    for tol in (1e-1, 1e-3, 1e-5):
        ascent = climbed(problem, tol)
        gaps.append((problem.at(ascent.W).value - dual_value(problem, ascent)) / best)
    assert gaps[0] > gaps[1] > gaps[2] > -1e-6  # single precision
    assert gaps[2] < 1e-5


@LOGITS
def test_the_coefficients_are_those_that_the_duals_make(m):
    problem = texts(m)
    ascent = climbed(problem, 1e-2)
    made = problem.design.transposed_product(ascent.duals[:, :m].astype(float))
    np.testing.assert_allclose(
        ascent.W[:-1], (made / problem.prior.precision)[:-1], rtol=1e-3, atol=1e-5
    )
    again = Ascent.of(problem, ascent.duals)
    np.testing.assert_allclose(again.W[:-1], ascent.W[:-1], rtol=1e-3, atol=1e-5)


@LOGITS
def test_a_weight_is_so_many_copies(m):
    problem = texts(m)
    times = problem.weight.astype(int)
    rows = np.repeat(np.arange(len(times)), times)
    copies = problem.take(rows, np.ones(len(rows)))
    np.testing.assert_allclose(climbed(copies).W, climbed(problem).W, atol=2e-3)


@LOGITS
def test_rows_in_another_order_have_the_same_optimum(m):
    problem = texts(m)
    order = np.random.default_rng(5).permutation(len(problem.y))
    other = problem.take(order, problem.weight[order])
    np.testing.assert_allclose(climbed(other).W, climbed(problem).W, atol=2e-3)


@LOGITS
def test_rows_of_no_weight_have_no_part(m):
    problem = texts(m)
    some = np.arange(0, len(problem.y), 2)
    weight = np.zeros(len(problem.y))
    weight[some] = problem.weight[some]
    apart = climbed(replace(problem, weight=weight))
    np.testing.assert_allclose(
        apart.W, climbed(problem.take(some, problem.weight[some])).W, atol=2e-3
    )
    assert not apart.duals[1::2].any()


@LOGITS
def test_another_penalty_goes_on_from_the_coefficients_of_the_last(m):
    problem = texts(m)
    first = climbed(problem, 1e-2)
    second = first.penalised(0.1)
    np.testing.assert_array_equal(second.W, first.W)
    second.climb(1e-5, 500)
    weaker = problem.prior.precision.copy()
    weaker[:-1] *= 0.1
    best = optimum(replace(problem, prior=Prior(problem.prior.centre, weaker)))
    np.testing.assert_allclose(second.W, best.W, atol=1e-2)
    np.testing.assert_array_equal(first.W, climbed(problem, 1e-2).W)  # it stayed as it was


@pytest.mark.parametrize("m", [1, 3])
def test_rows_far_from_their_class_do_not_leap_over_the_optimum(m):
    problem = texts(m, penalty=1e-4)
    far = replace(problem, offset=30.0 * problem.offset)
    solution = dual_ascent.solve(far, zero(far), 1e-3, 500)
    assert solution.converged
    assert solution.point.value < 1.02 * optimum(far).value


def test_empty_rows_and_columns_that_no_row_has():
    problem = texts(3)
    X = problem.design.X.tolil()
    X[:10], X[:, 5] = 0, 0
    emptied = replace(problem, design=Sparse(sparse.csr_array(X)))
    W = climbed(emptied).W
    np.testing.assert_allclose(W, optimum(emptied).W, atol=2e-3)
    assert not W[5].any()


def test_no_values_at_all():
    problem = texts(3)
    bare = replace(problem, design=Sparse(sparse.csr_array(problem.design.X.shape)))
    np.testing.assert_allclose(climbed(bare).W[-1], optimum(bare).W[-1], atol=2e-3)


def test_what_coefficients_add_to_rows():
    problem = texts(3)
    ascent, rows = climbed(problem, 1e-2), np.array([7, 3])
    expected = problem.design.take(rows).product(ascent.W)
    np.testing.assert_allclose(ascent.added(rows), expected, atol=1e-5)


def test_too_few_passes_are_told():
    problem = texts(3)
    solution = dual_ascent.solve(problem, zero(problem), 1e-5, 2)
    assert (solution.n_iter, solution.converged) == (2, False)


def test_it_applies_to_sparse_rows_under_a_penalty_around_zero():
    problem = texts(3)
    assert dual_ascent.applies(problem)
    free, centred = problem.prior.precision.copy(), zero(problem)
    free[0], centred[0] = 0.0, 1.0
    for prior in (Prior(zero(problem), free), Prior(centred, problem.prior.precision)):
        assert not dual_ascent.applies(replace(problem, prior=prior))
    dense = replace(problem, design=Dense(problem.design.X.toarray()))
    assert not dual_ascent.applies(dense)
    with pytest.raises(TypeError, match="must be sparse, got Dense"):
        Ascent.of(dense)


@pytest.mark.parametrize("m", [1, 3])
def test_regressions_of_more_columns_than_rows_begin_with_it(m, monkeypatch):
    monkeypatch.setattr(selection, "MAX_HESSIAN_COEFFICIENTS", 1)
    monkeypatch.setattr(selection, "MAX_CG_COEFFICIENTS", 1)
    problem = texts(m)
    solution = solve(problem, zero(problem))
    assert solution.converged
    assert solution.n_iter <= 4  # L-BFGS takes dozens, Newton from zero six and more
    np.testing.assert_allclose(solution.point.W, optimum(problem).W, atol=1e-5)


def test_a_start_that_is_better_stays(monkeypatch):
    monkeypatch.setattr(selection, "MAX_HESSIAN_COEFFICIENTS", 1)
    problem = texts(3)
    assert solve(problem, optimum(problem).W).n_iter == 0


def test_numbers_beyond_single_precision_are_left_to_newton(monkeypatch):
    monkeypatch.setattr(selection, "MAX_HESSIAN_COEFFICIENTS", 1)
    problem = texts(3)
    precision = problem.prior.precision.copy()
    precision[:-1] *= 1e120
    design = Sparse(sparse.csr_array(problem.design.X * 1e60))
    scaled = replace(problem, design=design, prior=Prior(zero(problem), precision))
    expected = optimum(problem).W * 1e-60
    W = solve(scaled, zero(problem), tol=1e-10).point.W
    np.testing.assert_allclose(W[:-1], expected[:-1], rtol=1e-2, atol=1e-65)
