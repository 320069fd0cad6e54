"""Evidence in decibans: it adds up to the odds of the joints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deciban.errors import InputError
from deciban.explanation import DECIBANS, decibans, position

logs = st.floats(-1e4, 0)


@settings(deadline=None)
@given(
    st.integers(2, 6).flatmap(
        lambda K: st.tuples(
            arrays(np.float64, (4, K), elements=logs), arrays(np.float64, K, elements=logs)
        )
    ),
    st.data(),
)
def test_evidence_and_prior_add_up_to_the_odds(parts, data):
    columns, prior = parts
    joint = prior + columns.sum(axis=0)
    against = data.draw(st.one_of(st.none(), st.integers(0, len(prior) - 1)))
    total = decibans(columns, against).sum(axis=0) + decibans(prior, against)
    others = [
        joint[against] if against is not None else np.delete(joint, c).mean()
        for c in range(len(prior))
    ]
    np.testing.assert_allclose(total, DECIBANS * (joint - others), rtol=1e-9, atol=1e-6)


def test_one_deciban_is_a_tenth_of_a_power_of_ten():
    np.testing.assert_allclose(decibans(np.log([0.5, 0.05])), [10, -10], rtol=1e-14)
    np.testing.assert_allclose(decibans(np.log([100.0, 1.0, 1.0])), [20, -10, -10], atol=1e-12)


def test_two_classes_are_exact_opposites():
    rng = np.random.default_rng(0)
    found = decibans(rng.standard_normal((50, 2)) * 1e3)
    assert np.array_equal(found[:, 0], -found[:, 1])


@pytest.mark.parametrize(
    ("likelihoods", "against", "expected"),
    [
        ([0.5, 0.0], None, [np.inf, -np.inf]),
        ([0.5, 0.5, 0.0], None, [np.inf, np.inf, -np.inf]),
        ([0.5, 0.0, 0.0], None, [np.inf, 0, 0]),
        ([0.0, 0.0], None, [0, 0]),
        ([0.5, 0.0, 0.0], 1, [np.inf, 0, 0]),
        ([0.5, 0.5, 0.0], 0, [0, 0, -np.inf]),
        ([0.5], None, [0]),
        ([0.0], None, [0]),
    ],
)
def test_what_is_impossible_is_infinitely_unlikely(likelihoods, against, expected):
    with np.errstate(divide="ignore"):
        found = decibans(np.log(likelihoods), against)
    np.testing.assert_array_equal(found, expected)


def test_the_class_that_is_compared_against():
    assert position(None, np.array([1, 2])) is None
    assert position(2, np.array([1, 2])) == 1
    classes = np.empty(2, dtype=object)
    classes[:] = ["a", ("b", 1)]
    assert position(("b", 1), classes) == 1
    with pytest.raises(InputError, match=r"unknown class 'c'.*one of a"):
        position("c", classes)
