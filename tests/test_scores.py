"""Posteriors from log joints: normalised in log space, never NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import logsumexp

from deciban import Counts
from deciban.errors import InputError, ShapeError
from deciban.models import params, scores

joints = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.one_of(st.floats(-1e300, 1e300), st.just(-np.inf), st.floats(-800, 0)),
)


@settings(deadline=None)
@given(joints)
def test_posteriors_are_normalised_in_log_space(joint):
    prior = np.log(np.full(joint.shape[1], 1 / joint.shape[1]))
    impossible = np.isneginf(joint).all(axis=1)
    expected = np.where(impossible[:, None], prior, joint)
    expected = expected - expected.max(axis=1, keepdims=True)
    expected = expected - logsumexp(expected, axis=1, keepdims=True)
    logs, shares = joint.copy(), joint.copy()
    scores.normalise(logs, prior, logarithm=True)
    scores.normalise(shares, prior)
    rounding = 4 * np.spacing(np.abs(joint[np.isfinite(joint)]).max(initial=1.0))
    np.testing.assert_allclose(logs, expected, rtol=1e-12, atol=rounding)
    np.testing.assert_allclose(shares, np.exp(expected), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert scores.likeliest(joint).tolist() == joint.argmax(axis=1).tolist()


def test_a_row_that_no_class_can_have_produced_is_given_the_prior():
    joint = np.full((2, 3), -np.inf)
    joint[1, 2] = -1e308
    prior = np.log([0.2, 0.3, 0.5])
    scores.normalise(joint, prior)
    np.testing.assert_allclose(joint, [[0.2, 0.3, 0.5], [0, 0, 1]])


def test_no_rows_and_no_classes():
    for shape in ((0, 3), (3, 0)):
        joint = np.empty(shape)
        scores.normalise(joint, np.zeros(shape[1]))
        assert len(scores.likeliest(joint)) == shape[0]


def test_joints_are_the_prior_plus_every_block():
    X = {"x": [1.0, 2.0, 4.0, 3.0], "z": ["S", "L", "S", "S"]}
    counts = Counts.of(X, [0, 0, 1, 1], family={"x": "gaussian", "z": "categorical"})
    found = params.estimate(counts)
    rows = {"gaussian": np.array([[2.0]]), "categorical": np.array([[0]])}
    parts = []
    for names in (["gaussian"], ["categorical"], ["gaussian", "categorical"], []):
        out = np.empty((1, 2))
        scores.fill_log_joint(found, {name: rows[name] for name in names}, out)
        parts.append(out[0] - found.log_prior)
    np.testing.assert_allclose(parts[0] + parts[1], parts[2], rtol=1e-12)
    assert parts[3].tolist() == [0, 0]


def test_rows_of_another_shape_are_refused():
    found = params.estimate(Counts.of({"x": [1.0, 2.0]}, [0, 1], family="gaussian"))
    out = np.empty((1, 2))
    with pytest.raises(
        ShapeError, match=r"block 'gaussian' has shape \(1, 3\), needed is \(1, 1\)"
    ):
        scores.fill_log_joint(found, {"gaussian": np.zeros((1, 3))}, out)
    with pytest.raises(ShapeError):
        scores.fill_log_joint(found, {"gaussian": np.zeros((2, 1))}, out)
    with pytest.raises(InputError, match=r"unknown block 'text'.*one of gaussian"):
        scores.fill_log_joint(found, {"text": np.zeros((1, 1))}, out)
