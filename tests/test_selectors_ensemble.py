"""What BayesClassifier selects on rows held out: penalties and weights, against scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp, softmax

from deciban.ensemble.bounded_newton import Derivatives, newton_above_zero
from internals import (
    TextProblem,
    evidence_weights,
    fit_linear,
    linear_penalties,
    pool_shares,
    pool_strengths,
    text_penalties,
)

SPLITS = 5


def splits_of(n):
    fold = np.arange(n) % SPLITS
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(SPLITS)]


def losses(logits, y):
    return -log_softmax(logits, axis=1)[np.arange(len(y)), y]


def as_logits(scores):
    """Of two classes there is one score, the second against the first."""
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


def solve(Z, y, offset, precision):
    """The coefficients (terms + 1, scores) of least loss and penalty; the last are constants."""
    A = np.hstack([Z, np.ones((len(Z), 1))])
    rows = np.arange(len(y))

    def objective(flat):
        W = flat.reshape(precision.shape)
        logits = offset + as_logits(A @ W)
        miss = softmax(logits, axis=1)
        miss[rows, y] -= 1.0
        slope = (miss[:, 1:] - miss[:, :1]) / 2 if W.shape[1] == 1 else miss
        value = losses(logits, y).sum() + 0.5 * np.sum(precision * W**2)
        return value, (A.T @ slope + precision * W).ravel()

    options = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    start = np.zeros(precision.size)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return best.x.reshape(precision.shape)


# ---------------------------------------------------------------------- penalties


def plane(seed, n, slope, columns=6, n_classes=2):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, columns))
    W = np.zeros((columns, n_classes))
    W[:2] = slope * rng.normal(size=(2, n_classes))
    y = (Z @ W + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return Z, y, np.log(np.bincount(y, minlength=n_classes) + 1.0)


PLANES = {
    "noise": (0, 100, 0.0),
    "weak": (1, 80, 0.4),
    "strong": (2, 150, 3.0),
    "stronger": (3, 200, 9.0),
    "three classes": (4, 150, 1.0, 4, 3),
    "many terms": (5, 60, 1.0, 12),
}


def held_out_loss(Z, y, start, penalty):
    """The loss of rows that the regression of the other folds has not seen."""
    n_scores = 1 if len(start) == 2 else len(start)
    offset = np.tile(start - start.mean(), (len(y), 1))
    if np.isinf(penalty):
        return losses(offset, y).sum()
    precision = np.full((Z.shape[1] + 1, n_scores), penalty)
    precision[-1] = 0.0
    total = 0.0
    for inside, held in splits_of(len(y)):
        W = solve(Z[inside], y[inside], offset[inside], precision)
        logits = offset[held] + as_logits(Z[held] @ W[:-1] + W[-1])
        total += losses(logits, y[held]).sum()
    return total


@pytest.fixture(scope="module")
def linear():
    """The loss under every penalty, and the penalty that is selected."""
    out = {}
    for name, how in PLANES.items():
        Z, y, start = plane(*how)
        tried = [np.inf, *linear_penalties()]
        expected = {penalty: held_out_loss(Z, y, start, penalty) for penalty in tried}
        offset = np.tile(start - start.mean(), (len(y), 1))
        out[name] = expected, fit_linear(Z, y, splits_of(len(y)), offset)
    return out


@pytest.mark.parametrize("name", PLANES)
def test_the_penalty_of_a_linear_learner_has_the_least_loss(name, linear):
    expected, selected = linear[name]
    assert selected == min(expected, key=expected.get)


def test_tables_differ_in_the_penalty_that_is_best(linear):
    assert len({selected for _, selected in linear.values()}) >= 4


def phrases(seed, n, own, n_classes=2, n_phrases=30):
    """Unit rows of phrases, some of which belong to a class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chance = np.full((n_classes, n_phrases), 0.15)
    for c in range(n_classes):
        chance[c, 5 * c : 5 * c + 5] += own
    X = (rng.random((n, n_phrases)) < chance[y]).astype(float)
    X[:, -1] = 1.0  # no text is empty
    X /= np.sqrt(X.sum(axis=1, keepdims=True))
    return X, y, np.zeros(n_classes)


COLLECTIONS = {
    "faint": (0, 60, 0.05),
    "some": (1, 80, 0.2),
    "clear": (2, 100, 0.6),
    "three classes": (3, 90, 0.3, 3),
    "many": (4, 200, 0.25),
}


def text_loss(problem, X, y, start, splits, penalty):
    """The loss of rows held out: regression and counts, each weighted as is best."""
    rows = np.concatenate([held for _, held in splits])
    said = np.zeros((2, len(y), len(start)))
    for inside, held in splits:
        precision = problem.precision(inside).copy()
        precision[:-1] *= penalty
        offset = np.tile(start, (len(inside), 1))
        W = solve(X[inside], y[inside], offset, precision)
        for learner, coef in enumerate((as_logits(W), problem.counted(inside))):
            said[learner, held] = X[held] @ coef[:-1] + coef[-1]
    offset = np.tile(start, (len(rows), 1))
    weights = best_strengths(said[:, rows], offset, y[rows], np.ones(len(rows)))
    return losses(offset + np.tensordot(weights, said[:, rows], 1), y[rows]).mean()


@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_penalty_of_texts_has_the_least_loss(name):
    X, y, start = phrases(*COLLECTIONS[name])
    problem = TextProblem(csr_array(X), y, start)
    splits = splits_of(len(y))[:2]
    expected = {
        penalty: text_loss(problem, X, y, start, splits, penalty) for penalty in text_penalties()
    }
    selected = problem.penalty(splits)
    weaker = [penalty for penalty in text_penalties() if penalty <= selected]
    stronger = [penalty for penalty in text_penalties() if penalty >= selected]
    # The search goes on while the loss falls by more than solvers are apart: the first least one
    # is taken.
    path = [expected[penalty] for penalty in stronger]
    assert path == sorted(path, reverse=True)
    assert len(weaker) == 1 or expected[weaker[1]] >= expected[selected] - 2e-4


def test_collections_differ_in_the_penalty_that_is_best():
    selected = set()
    for how in COLLECTIONS.values():
        X, y, start = phrases(*how)
        selected.add(TextProblem(csr_array(X), y, start).penalty(splits_of(len(y))[:2]))
    assert len(selected) >= 3


# ---------------------------------------------------------------------- weights


def learners(seed, n=60, n_classes=3, noise=(0.5, 1.5, 4.0)):
    """Logits of base learners, more and less noisy, of rows that they have not seen."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    truth = 2.0 * np.eye(n_classes)[y]
    logits = np.stack([truth + s * rng.normal(size=truth.shape) for s in noise])
    return logits, y, rng.uniform(0.5, 2.0, n)


def best_strengths(logits, offset, y, weight):
    """The weights b >= 0 of least loss plus half the squared distance to equal weights."""
    usual = 1 / len(logits)

    def objective(b):
        total = weight @ losses(offset + np.tensordot(b, logits, 1), y)
        return total + 0.5 * np.sum((b - usual) ** 2)

    bounds = [(0.0, None)] * len(logits)
    options = {"ftol": 1e-14, "gtol": 1e-9}
    return minimize(objective, np.full(len(logits), usual), bounds=bounds, options=options).x


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_add_up_to_one_are_the_optimum(seed):
    """Of the summed loss less 15 nats times the mean logarithm of the weights."""
    logits, y, weight = learners(seed)

    def objective(t):
        log_share = t - logsumexp(t)
        pooled = np.tensordot(np.exp(log_share), logits, 1)
        return weight @ losses(pooled, y) - 15.0 * np.mean(log_share)

    best = minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    share = pool_shares(list(logits), y, weight)
    np.testing.assert_allclose(share, softmax(best.x), atol=2e-4)
    np.testing.assert_allclose(gradient(objective, np.log(share)), 0.0, atol=2e-2)


def gradient(objective, at):
    """By differences."""
    eye = 1e-5 * np.eye(len(at))
    return np.array([(objective(at + step) - objective(at - step)) / 2e-5 for step in eye])


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_are_added_are_the_optimum(seed):
    """Of the summed loss plus half the squared distance to equal weights."""
    logits, y, weight = learners(seed, n=15, noise=(1.0, 3.0, 6.0))
    offset = np.tile([0.2, 0.0, -0.2], (len(y), 1))
    found = pool_strengths(logits, offset, y, weight)
    best = best_strengths(logits, offset, y, weight)
    np.testing.assert_allclose(found, best, atol=2e-4)


@pytest.mark.parametrize("seed", range(4))
def test_weights_of_evidence_are_the_optimum(seed):
    """Drawn to what tables of this size usually need, as strongly as to a half by three rows.

    Constants are drawn to the class frequencies, with one row more of each class, as if by one row.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    E = rng.normal(size=(60, 4, 3)) + np.eye(3)[y][:, None, :]
    weight = rng.uniform(0.5, 2, 60)
    usual = np.exp(-3.1 + 0.5 * np.log(weight.sum()) - 0.4 * np.log(4) + 0.5 * np.log(3))
    prior = np.log(np.bincount(y, weight) + 1)
    prior -= prior.mean()

    def objective(at):
        logits = np.tensordot(E, at[:4], (1, 0)) + at[4:]
        penalty = 3.0 * np.sum((0.5 / usual * (at[:4] - usual)) ** 2)
        return weight @ losses(logits, y) + 0.5 * (penalty + np.sum((at[4:] - prior) ** 2))

    best = minimize(objective, np.r_[np.full(4, usual), prior], options={"gtol": 1e-7})
    found = evidence_weights(E, y, weight)
    np.testing.assert_allclose(found[:4], best.x[:4], atol=2e-3)
    assert objective(found) <= best.fun + 1e-4


# ---------------------------------------------------------------------- Newton's method above zero


def steep(x):
    """``sum sqrt(1 + x**2) - x[1] / 2``: a whole Newton step from afar goes beyond all bounds."""
    root = np.sqrt(1 + x**2)
    slope = x / root - np.array([0.0, 0.5])
    return Derivatives(float(root.sum() - x[1] / 2), slope, np.diag(root**-3))


def test_newton_steps_are_halved_until_the_function_falls():
    assert newton_above_zero(steep, np.full(2, 5.0), 1e-15) == pytest.approx([0, 3**-0.5])


def test_a_number_at_zero_rises_where_that_lowers_the_function():
    assert newton_above_zero(steep, np.zeros(2), 1e-15) == pytest.approx([0, 3**-0.5])


def test_weights_do_not_depend_on_how_large_the_logits_are():
    """Of logits a thousand times as large, the first step would be far too long."""
    logits, y, weight = learners(0)
    offset = np.zeros_like(logits[0])
    logits = np.concatenate([1000 * logits, -logits])
    np.testing.assert_allclose(
        pool_strengths(logits, offset, y, weight),
        best_strengths(logits, offset, y, weight),
        atol=2e-4,
    )
