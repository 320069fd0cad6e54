"""What the counts choose, by hand; and the one discount."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from deciban import NaiveBayes, families, labels, sources
from deciban.families.alone import SMOOTHING_GRID, empirical_smoothing
from deciban.models.calibration import DISCOUNT_GRID, Calibration
from deciban.sources.labelled import LabelledBatch


def likelihood(lam, amount):
    """The Dirichlet-multinomial log-likelihood of every class's counts."""
    S = amount.shape[1]
    totals = gammaln(S * lam) - gammaln(amount.sum(axis=1) + S * lam)
    return (totals + (gammaln(amount + lam) - gammaln(lam)).sum(axis=1)).sum()


@pytest.mark.parametrize("seed", range(12))
def test_smoothing_is_the_likeliest(seed):
    rng = np.random.default_rng(seed)
    S, K = rng.integers(2, 12), rng.integers(1, 5)
    lam = 10.0 ** rng.uniform(-1, 1)
    shares = rng.dirichlet([lam] * S, K)
    amount = np.stack([rng.multinomial(400, p) for p in shares]).astype(float)
    best = minimize_scalar(
        lambda t: -likelihood(np.exp(t), amount),
        bounds=(np.log(SMOOTHING_GRID[0]), np.log(SMOOTHING_GRID[-1])),
        method="bounded",
    )
    step = SMOOTHING_GRID[1] / SMOOTHING_GRID[0]
    assert 1 / step <= empirical_smoothing(amount) / np.exp(best.x) <= step


def test_smoothing_of_next_to_nothing():
    for amount in (np.zeros((2, 0)), np.ones((2, 1)), np.zeros((2, 5)), np.zeros((0, 3))):
        assert empirical_smoothing(amount) == 1.0


def choice(x, y, **how):
    return NaiveBayes(**how).fit({"x": x}, y).choices_["x"]


def test_a_bell_curve_where_it_is_one():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    assert choice(rng.normal(size=500) + 3 * y, y).shape == "gaussian"


def test_bins_where_it_is_none():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    x = np.where(y == 1, rng.choice([-9.0, 9.0], 500) + rng.normal(size=500), rng.normal(size=500))
    assert choice(x, y).shape == "histogram"


def test_few_values_by_themselves():
    rng = np.random.default_rng(0)
    x = np.minimum(rng.geometric(0.5, 2000), 8)  # the rarest would share a bin
    chosen = choice(x.astype(float), x % 2)
    assert (chosen.shape, chosen.bins) == ("histogram", 0)
    assert chosen.loss < 0.05


def test_what_is_stated_is_done():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=100), rng.integers(0, 2, 100)
    assert choice(x, y, numeric="gaussian").shape == "gaussian"
    assert choice(x, y, numeric="mdl").bins == -1
    assert choice(x, y, numeric="histogram").bins in (5, 10, 20)
    assert choice(x, y, smoothing=0.0, numeric="gaussian").smoothing == 0.0
    assert choice(x, y, smoothing={"x": 7.0}, numeric="mdl").smoothing == 7.0
    assert choice(x, y, smoothing={"x": "auto"}, numeric="mdl").smoothing == pytest.approx(
        choice(x, y, numeric="mdl").smoothing
    )


def test_what_does_not_apply_is_chosen_freely(monkeypatch):
    """A family that is asked for models the columns it has candidates for, and no others."""

    class Positive(type(families.get("gaussian"))):
        name, shape, options = "positive", "positive", ("positive",)

        def candidates(self, columns):
            pairs = zip(columns.names, super().candidates(columns), strict=True)
            return [some if name == "+" else [] for name, some in pairs]

    monkeypatch.setitem(families.FAMILIES, "positive", Positive())
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = {"bell": rng.normal(size=500) + 3 * y, "few": rng.integers(0, 2, 500), "+": rng.random(500)}
    free = NaiveBayes().fit(X, y).choices_
    asked = NaiveBayes(numeric="positive").fit(X, y).choices_
    assert asked["+"].shape == "positive"
    assert [asked[name] for name in ("bell", "few")] == [free[name] for name in ("bell", "few")]


def test_the_loss_by_hand():
    """Two values, two classes: every row judged by the three others."""
    found = choice(["a", "a", "b", "b"], [0, 0, 1, 1], smoothing=1.0)
    # Left: one (a, 0), two of class 1. Prior 2/5, 3/5; P(a|0) = 2/3, P(a|1) = 1/4.
    joint = np.array([2 / 5 * 2 / 3, 3 / 5 * 1 / 4])
    assert found.loss == pytest.approx(-np.log(joint[0] / joint.sum()))


def test_weights_below_one_are_rows_too():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    x = rng.normal(size=200) + 6 * y
    for how in ("auto", "gaussian"):
        small = NaiveBayes(numeric=how).fit({"x": x}, y, sample_weight=np.full(200, 0.05))
        assert small.choices_["x"].loss < 0.3
        assert np.all(np.isfinite(small.predict_proba({"x": x})))


# The discount


def made(n, seed):
    rng = np.random.default_rng(seed)
    prior, said = np.log(rng.dirichlet([2, 2, 2], n)), rng.normal(size=(n, 3)) * 4
    return prior, said, rng.integers(0, 3, n), rng.uniform(0, 2, n)


def test_calibration_adds_up():
    prior, said, y, w = made(60, 0)
    whole = Calibration.of(prior, said, y, w)
    parts = [Calibration.of(prior[s], said[s], y[s], w[s]) for s in (slice(0, 25), slice(25, None))]
    total = Calibration.empty() + parts[0] + parts[1]
    np.testing.assert_allclose(total.loss, whole.loss)
    assert total.rows == pytest.approx(whole.rows)
    assert (whole * 0.5).discount() == whole.discount()
    np.testing.assert_allclose((whole * 3).loss, whole.loss * 3)


def test_calibration_plainly():
    prior, said, y, w = made(40, 1)
    found = Calibration.of(prior, said, y, w)
    for i in (0, 40, 92, 120):
        joint = np.exp(prior + DISCOUNT_GRID[i] * said)
        want = -w @ np.log(joint[np.arange(40), y] / joint.sum(axis=1))
        assert found.loss[i] == pytest.approx(want)
    assert found.discount() == DISCOUNT_GRID[np.argmin(found.loss)]


def test_calibration_of_nothing_and_of_the_impossible():
    assert Calibration.empty().discount() == 1.0
    said = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    found = Calibration.of(np.log(np.full((2, 2), 0.5)), said, np.array([0, 1]), np.ones(2))
    assert np.all(np.isfinite(found.loss))
    assert found.loss[0] == pytest.approx(700 + np.log(2))
    even = Calibration.of(np.zeros((1, 1)), np.zeros((1, 1)), np.array([0]), np.ones(1))
    assert even.discount() == 1.0


def test_of_equal_discounts_that_nearest_to_one():
    """The evidence is left as it is unless rows say otherwise, in either direction."""
    loss = np.ones(len(DISCOUNT_GRID))
    assert Calibration(loss, 3.0).discount() == 1.0
    loss[[10, 80, 110]] = 0.5
    assert Calibration(loss, 3.0).discount() == DISCOUNT_GRID[80]
    loss[100] = 0.5
    assert Calibration(loss, 3.0).discount() == DISCOUNT_GRID[100]


def test_evidence_that_is_too_weak_is_enlarged():
    """Three of four rows are right, each at odds of 1.5: the truth is odds of 3."""
    said = np.tile([np.log(1.5), 0.0], (400, 1))
    y = (np.arange(400) % 4 == 0).astype(np.intp)
    found = Calibration.of(np.log(np.full((400, 2), 0.5)), said, y, np.ones(400))
    assert found.discount() == pytest.approx(np.log(3) / np.log(1.5), rel=0.03)


# Rows of batches


def rows(start, stop):
    some = range(start, stop)
    texts = [None if i % 5 == 0 else f"row {i}" for i in some]
    columns = {
        "i": sources.Integers(np.array(some, dtype=np.int64), np.zeros(len(some), dtype=bool)),
        "name": next(iter(sources.scan({"x": ["z", *texts]}))).columns["x"],
    }
    columns["name"] = columns["name"].slice(1, len(some) + 1)
    classes, codes = labels.factorise(np.array([i % 3 for i in some], dtype=np.int64))
    return LabelledBatch(sources.Batch(len(some), columns), classes, codes, None)


def test_parts_are_joined():
    whole = LabelledBatch.concatenate([rows(0, 4), rows(4, 9)])
    assert whole.batch.n_rows == 9
    assert whole.batch.columns["name"].tolist()[5:] == [None, "row 6", "row 7", "row 8"]
    assert whole.weight is None
