"""Posteriors from log joints: normalised in log space, never NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import logsumexp

from deciban import NaiveBayes
from deciban.models import scores
from deciban.models.calibration import DISCOUNT_GRID, Calibration

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


@pytest.mark.parametrize("discount", [1.0, DISCOUNT_GRID[40]])
def test_joints_are_the_prior_plus_every_block(discount):
    X = {
        "x": [1.0, 2.0, 4.0, 3.0, None, 2.5],
        "z": ["S", "L", "S", "S", "M", None],
        "note": ["good film", "bad", "good", "", "bad plot", "fine"],
    }
    estimator = NaiveBayes(numeric="gaussian", missing="value", kinds={"note": "text"})
    estimator.fit(X, [0, 0, 1, 1, 0, 1])
    loss = 1e6 * np.abs(DISCOUNT_GRID - discount)
    model = estimator.model_.with_calibration(Calibration(loss, 6.0))
    batch = next(iter(estimator._rows(X).batches()))
    rows, parts = model.encode(batch), []
    assert {block.name for block in model.blocks} == set(rows)
    assert len(model.blocks) == 4  # categories, numbers, missing values and words
    for block in model.blocks:
        parts.append(np.zeros((6, 2)))
        block.parameters.add(rows[block.name], parts[-1])
        assert parts[-1].any()
    joint = np.full((6, 2), np.nan)
    model.log_joint(batch, joint)
    assert model.discount == discount
    expected = model.log_prior + discount * sum(parts)
    np.testing.assert_allclose(joint, expected, rtol=1e-12)
