"""Scores in order: p-values by counting, sums in any order, bounded so that p can only grow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.models.conformal import MAX_SCORES, RankedScores

SCORES = st.lists(st.integers(-5, 5), min_size=1, max_size=30)


@given(SCORES, st.data())
def test_a_p_value_counts_the_scores_that_are_not_greater_and_the_row_itself(scores, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(scores), max_size=len(scores)))
    ranked = RankedScores.of(np.array(scores, float), np.array(weight, float))
    copies = np.repeat(scores, weight)
    for new in range(-6, 7):
        expected = (1 + np.sum(copies <= new)) / (1 + len(copies))
        assert ranked.p_values(np.array([float(new)])) == pytest.approx(expected)


@given(SCORES, SCORES, SCORES)
def test_ranked_scores_add_up_in_any_order(a, b, c):
    a, b, c = (RankedScores.of(np.array(s, float), np.ones(len(s))) for s in (a, b, c))
    one, other = a + (b + c), (c + a) + b
    assert np.array_equal(one.score, other.score)
    assert np.array_equal(one.weight, other.weight)
    assert one.rows == other.rows


def test_too_many_scores_are_merged_so_that_p_can_only_grow():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=30_000), rng.integers(1, 4, 30_000).astype(float)
    ranked = RankedScores.of(scores, weight)
    new = rng.normal(size=2_000)
    exact = (1 + np.array([weight[scores <= s].sum() for s in new])) / (1 + weight.sum())
    assert len(ranked.score) <= MAX_SCORES
    assert ranked.rows == weight.sum()
    assert np.all(ranked.p_values(new) >= exact - 1e-12)
    assert np.all(ranked.p_values(new) <= exact + 2 / MAX_SCORES)


def test_a_sample_stands_for_more_rows_but_knows_no_more_than_it_scored():
    few, many = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    both = RankedScores.of(few, np.ones(2), stride=3.0) + RankedScores.of(many, np.ones(2))
    assert both.rows == 4
    assert both.p_values(np.array([1.0])) == pytest.approx((1 + 4 * 6 / 8) / 5)


def test_scaled_scores_rank_alike_but_know_less():
    ranked = RankedScores.of(np.arange(100.0), np.ones(100))
    less = ranked * 0.1
    assert less.rows == pytest.approx(10)
    assert less.p_values(np.array([-1.0])) == pytest.approx(1 / 11)
    assert (ranked * 0.0).p_values(np.array([-1.0])) == 1.0
