"""The loss under every discount: the compiled loop against scipy, and what is impossible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax

from deciban.families.discrete import MAX_ROW_LOSS
from deciban.models.calibration import DISCOUNT_GRID, Calibration


def plain(prior, said, y, weight):
    """The same, straight from the formula."""
    loss = []
    for beta in DISCOUNT_GRID:
        log = log_softmax(prior + beta * said, axis=1)[np.arange(len(y)), y]
        loss.append(weight @ np.minimum(-log, MAX_ROW_LOSS))
    return np.array(loss)


def rows(seed, n, K, spread):
    rng = np.random.default_rng(seed)
    prior = np.log(rng.dirichlet(np.ones(K), n))
    said = -rng.gamma(1.0, spread, (n, K)) - rng.uniform(0, 1e3)
    return prior, said, rng.integers(0, K, n), rng.uniform(0, 3, n)


@given(st.integers(0, 99), st.integers(1, 9), st.integers(1, 9), st.sampled_from([0.1, 10, 1e4]))
def test_it_is_the_loss_of_the_formula(seed, n, K, spread):
    given = rows(seed, n, K, spread)
    np.testing.assert_allclose(Calibration.of(*given).loss, plain(*given), rtol=1e-12, atol=1e-12)


def test_what_is_impossible():
    prior = np.log([[0.5, 0.5]])
    y, one = np.array([0]), np.ones(1)
    never = Calibration.of(prior, np.array([[-np.inf, 0.0]]), y, one)
    surely = Calibration.of(prior, np.array([[0.0, -np.inf]]), y, one)
    neither = Calibration.of(prior, np.full((1, 2), -np.inf), y, one)
    with np.errstate(divide="ignore"):
        excluded = Calibration.of(np.log([[0.0, 1.0]]), np.zeros((1, 2)), y, one)
    assert (never.loss == MAX_ROW_LOSS).all()
    assert surely.loss == pytest.approx(0.0, abs=1e-12)
    assert neither.loss == pytest.approx(np.log(2))
    assert (excluded.loss == MAX_ROW_LOSS).all()


def test_no_rows_say_nothing():
    none = Calibration.of(np.empty((0, 2)), np.empty((0, 2)), np.empty(0, np.intp), np.empty(0))
    assert none.discount() == 1.0
    assert not none.loss.any()


def test_a_row_that_is_sure_and_wrong_asks_for_a_discount():
    prior, said = np.log(np.full((3, 2), 0.5)), np.array([[0.0, -20], [0.0, -20], [0.0, -20]])
    y, weight = np.array([0, 0, 1]), np.ones(3)
    assert Calibration.of(prior, said, y, weight).discount() == pytest.approx(
        np.log(2) / 20, rel=0.1
    )
