"""What the teaching texts ask for, row by row, with their numbers.

The fifteen rows of the worked example are the data throughout.
"""

from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from deciban import Counts, decision
from deciban.conjugate import Beta, Dirichlet
from deciban.families.categorical import CATEGORICAL, CategoricalSettings
from deciban.families.settings import Settings
from deciban.models.prior import class_prior
from deciban.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

ROWS = [
    (1, "S", -1), (1, "M", -1), (1, "M", 1), (1, "S", 1), (1, "S", -1),
    (2, "S", -1), (2, "M", -1), (2, "M", 1), (2, "L", 1), (2, "L", 1),
    (3, "L", 1), (3, "M", 1), (3, "M", 1), (3, "L", 1), (3, "L", -1),
]  # fmt: skip
X = np.array([row[:2] for row in ROWS], dtype=object)
Y = np.array([row[2] for row in ROWS])
VALUES = [[1, 2, 3], ["S", "M", "L"]]


def joint_by_hand(x, label, lam, sizes=(3, 3)):
    """``P(c) * prod_j P(x_j | c)`` in fractions."""
    lam = Fraction(lam)
    inside = [row for row in ROWS if row[2] == label]
    result = (len(inside) + lam) / (len(ROWS) + 2 * lam)
    for j, size in enumerate(sizes):
        same = sum(row[j] == x[j] for row in inside)
        result *= (same + lam) / (len(inside) + size * lam)
    return result


def model(lam):
    counts = CategoricalNB().fit(X, Y).counts_
    prior = np.exp(class_prior(counts.weight, smoothing=lam))
    return CategoricalNB(alpha=lam, class_prior=prior / prior.sum()).fit(X, Y)


@pytest.mark.parametrize("lam", [0, 0.5, 1, 3])
def test_m1_prior_conditionals_argmax_and_normalised_posterior(lam):
    classifier = model(lam)
    for x1 in VALUES[0]:
        for x2 in VALUES[1]:
            x = np.array([[x1, x2]], dtype=object)
            by_hand = [float(joint_by_hand((x1, x2), label, lam)) for label in (-1, 1)]
            joint = np.exp(classifier.predict_joint_log_proba(x)[0])
            np.testing.assert_allclose(joint, by_hand, rtol=1e-12, atol=1e-15)
            if sum(by_hand):
                posterior = np.array(by_hand) / sum(by_hand)
                np.testing.assert_allclose(classifier.predict_proba(x)[0], posterior, atol=1e-12)
                assert classifier.predict(x)[0] == (-1, 1)[int(np.argmax(by_hand))]


def test_m2_maximum_likelihood_is_relative_frequency():
    classifier = model(0)
    shares = np.exp(classifier.feature_log_prob_[0])
    np.testing.assert_allclose(shares, [[3 / 6, 2 / 6, 1 / 6], [2 / 9, 3 / 9, 4 / 9]])
    np.testing.assert_allclose(np.exp(classifier.class_log_prior_), [6 / 15, 9 / 15])


def test_m3_smoothing_with_stated_sizes():
    counts = Counts.of({"x1": X[:, 0], "x2": X[:, 1]}, Y)
    np.testing.assert_allclose(np.exp(class_prior(counts.weight, 1.0)), [7 / 17, 10 / 17])
    how = CategoricalSettings("bayes", 1.0, sizes=np.array([3, 4]), unseen="smooth")
    block = CATEGORICAL.estimate(counts.tables["categorical"], how)
    # x2 may take a fourth value that no row has: it still has its share.
    never_seen = np.exp(block.log_prob[block.offsets[2] - 1])
    np.testing.assert_allclose(never_seen, [1 / (6 + 4), 1 / (9 + 4)])


def test_m4_the_worked_example():
    laplace, likelihood = model(1), model(0)
    np.testing.assert_allclose(np.exp(laplace.class_log_prior_), [7 / 17, 10 / 17])
    x = np.array([[2, "S"]], dtype=object)
    expected = [7 / 17 * 3 / 9 * 4 / 9, 10 / 17 * 4 / 12 * 2 / 12]
    np.testing.assert_allclose(np.exp(laplace.predict_joint_log_proba(x)[0]), expected)
    np.testing.assert_allclose(expected, [0.0610, 0.0327], atol=5e-5)
    joints = np.exp(likelihood.predict_joint_log_proba(x)[0])
    np.testing.assert_allclose(joints, [1 / 15, 1 / 45])
    assert laplace.predict(x)[0] == likelihood.predict(x)[0] == -1


def test_m10_the_answer_of_least_risk():
    classifier = model(1)
    posterior = classifier.predict_proba(X)
    loss = [[0, 5], [1, 0]]
    risk = decision.risk(posterior, loss)
    np.testing.assert_allclose(risk, posterior @ np.array(loss).T)
    np.testing.assert_array_equal(
        classifier.decide(X, loss=loss), classifier.classes_[risk.argmin(1)]
    )
    np.testing.assert_array_equal(classifier.decide(X), classifier.predict(X))
    paid = [loss[0 if answer == -1 else 1][0 if truth == -1 else 1]
            for answer, truth in zip(classifier.decide(X, loss=loss), Y, strict=True)]  # fmt: skip
    overall = decision.overall_risk(classifier.decide(X, loss=loss), Y, [-1, 1], loss)
    assert overall == pytest.approx(np.mean(paid))


@pytest.mark.parametrize("kind", [BernoulliNB, MultinomialNB, CategoricalNB, GaussianNB])
def test_m11_a_hundred_thousand_features_neither_underflow_nor_overflow(kind):
    rng = np.random.default_rng(11)
    wide = rng.integers(0, 2, (20, 100_000))
    classifier = kind().fit(wide, np.arange(20) % 2)
    joint, posterior = classifier.predict_joint_log_proba(wide), classifier.predict_proba(wide)
    assert np.all(np.isfinite(joint))
    assert joint.max() < -1e4
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)


def test_m12_three_ways_to_estimate_side_by_side():
    table = Counts.of({"x1": X[:, 0]}, Y).tables["categorical"]
    shares = {
        method: np.exp(CATEGORICAL.estimate(table, Settings(method, 2.0)).log_prob[:3].T)
        for method in ("ml", "map", "bayes")
    }
    observed = np.array([[3, 2, 1], [2, 3, 4]])
    for c in range(2):
        posterior = Dirichlet.symmetric(3, 2.0).update(observed[c])
        np.testing.assert_allclose(shares["ml"][c], observed[c] / observed[c].sum())
        np.testing.assert_allclose(shares["map"][c], posterior.mode)
        np.testing.assert_allclose(shares["bayes"][c], posterior.predictive())


def test_m13_the_coin():
    prior = Beta(2, 2)
    posterior = prior.update(successes=7, failures=3)
    assert posterior == Beta(9, 5)
    assert posterior.mode == pytest.approx(8 / 12)
    assert posterior.mean == posterior.predictive() == pytest.approx(9 / 14)
    np.testing.assert_allclose(posterior.interval(0.95), scipy.stats.beta(9, 5).interval(0.95))
    flat = Beta(1, 1).update(successes=7, failures=3)
    assert (flat.mean, flat.mode) == (pytest.approx(8 / 12), pytest.approx(7 / 10))
