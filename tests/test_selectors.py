"""Selectors take the best candidate: every candidate's loss, rows really taken away."""

import math

import numpy as np
import pytest

from deciban import NaiveBayes
from deciban.families.alone import least
from internals import cuts, empirical_smoothing, smoothings, try_only
from leaving import log_likelihood, loss_of_categories, loss_without

#: What a number may be: a bell curve, or so many bins; 0 is every value by itself.
CANDIDATES = ["bell", 5, 10, 20, 0]


def bell(rng):
    y = rng.integers(0, 2, 60)
    return np.round(rng.normal(size=60) + 1.5 * y, 1), y


def humps(rng):
    y = rng.integers(0, 2, 80)
    return np.round(np.where(y == 1, rng.choice([-3.0, 3.0], 80), 0.0) + rng.normal(size=80), 1), y


def saw(rng):
    """Ten teeth: fewer bins do not tell them apart."""
    x = rng.integers(0, 100, 120)
    return x / 10, (x // 10 + (rng.random(120) < 0.1)) % 2


def steps(rng):
    x = rng.integers(0, 100, 100)
    return x / 10, (x // 20 + (rng.random(100) < 0.1)) % 2


def fine_saw(rng):
    x = np.arange(300) % 100
    return x / 10, (x // 5 + (rng.random(300) < 0.03)) % 2


def parity(rng):
    x = np.minimum(rng.geometric(0.4, 90), 9)
    return x.astype(float), x % 2


TABLES = {
    "bell": bell,
    "humps": humps,
    "steps": steps,
    "saw": saw,
    "fine saw": fine_saw,
    "parity": parity,
}


def binned(x, y, bins):
    """The bin of every value, and how many there are."""
    values = np.unique(x)
    amount = np.array([[np.sum((x == v) & (y == c)) for v in values] for c in np.unique(y)])
    at = cuts(amount.astype(float), bins)
    code = np.searchsorted(at, np.searchsorted(values, x), side="right")
    counts = np.array([np.bincount(code[y == c], minlength=len(at) + 1) for c in np.unique(y)])
    return code.tolist(), counts


def likeliest(amount):
    """The smoothing of the grid under which counts are likeliest."""
    grid = smoothings()
    return float(grid[np.argmax([log_likelihood(amount, lam) for lam in grid])])


def loss_of(candidate, x, y):
    """The leave-one-out loss of a candidate for the shape of a number."""
    classes = np.unique(y).tolist()
    if candidate == "bell":
        return loss_without(
            NaiveBayes(numeric="gaussian", smoothing=1.0, calibrate=False).fit,
            {"x": x.tolist()},
            y.tolist(),
        )
    code, counts = binned(x, y, candidate)
    return loss_of_categories(code, y.tolist(), likeliest(counts), counts.shape[1], classes)


def selected(x, y, **how):
    return NaiveBayes(calibrate=False, kinds={"x": "numeric"}, **how).fit({"x": x}, y).choices_["x"]


@pytest.fixture(scope="module")
def losses():
    """The loss of every candidate on every table."""
    out = {}
    for name, make in TABLES.items():
        x, y = make(np.random.default_rng(0))
        some = [c for c in CANDIDATES if c != 0 or len(np.unique(x)) <= 30]
        out[name] = x, y, {candidate: loss_of(candidate, x, y) for candidate in some}
    return out


@pytest.mark.parametrize("name", TABLES)
def test_the_shape_of_a_number_has_the_least_loss(name, losses):
    x, y, expected = losses[name]
    choice = selected(x, y)
    best = min(expected, key=expected.get)
    assert (choice.shape, choice.bins) == (
        ("gaussian", 0) if best == "bell" else ("histogram", best)
    )
    assert choice.loss == pytest.approx(expected[best], rel=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_every_candidate_has_the_loss_of_rows_taken_away(name, losses, monkeypatch):
    x, y, expected = losses[name]
    for candidate, loss in expected.items():
        if candidate == "bell":
            choice = selected(x, y, numeric="gaussian")
        else:
            try_only(monkeypatch, candidate)
            choice = selected(x, y, numeric="histogram")
            assert choice.smoothing == likeliest(binned(x, y, candidate)[1])
        assert choice.loss == pytest.approx(loss, rel=1e-9), candidate


def test_every_shape_is_best_for_some_table(losses):
    best = {min(expected, key=expected.get) for _, _, expected in losses.values()}
    assert best == set(CANDIDATES)


def entropy(counts):
    shares = [n / sum(counts) for n in counts if n]
    return -math.fsum(p * math.log2(p) for p in shares)


def by_description(amount):
    """The cuts of Fayyad and Irani (1993), by trying each."""
    n_keys, whole = amount.shape[1], amount.sum(axis=1)
    if n_keys < 2 or whole.sum() < 2:
        return []

    def mixed(cut):
        parts = amount[:, :cut].sum(axis=1), amount[:, cut:].sum(axis=1)
        return math.fsum(sum(part) * entropy(part) for part in parts) / whole.sum()

    best = min(range(1, n_keys), key=mixed)
    sides = whole, amount[:, :best].sum(axis=1), amount[:, best:].sum(axis=1)
    k, k1, k2 = (np.count_nonzero(side) for side in sides)
    e, e1, e2 = map(entropy, sides)
    cost = math.log2(whole.sum() - 1) + math.log2(3**k - 2) - (k * e - k1 * e1 - k2 * e2)
    if e - mixed(best) <= cost / whole.sum():
        return []
    right = [best + cut for cut in by_description(amount[:, best:])]
    return [*by_description(amount[:, :best]), best, *right]


def test_bins_by_description_are_those_that_pay():
    lengths = set()
    for a in range(1, 12):
        for b in range(9):
            for last in ([1.0, 6.0], [2.0 * a, 0.0]):
                amount = np.array([[a, b, 0.0, last[0]], [b, 0.0, a, last[1]]])
                expected = by_description(amount)
                assert cuts(amount, -1).tolist() == expected, amount
                lengths.add(len(expected))
    assert lengths >= {0, 1, 2}
    assert cuts(np.array([[9.0, 0.0], [0.0, 9.0]]), -1).tolist() == [1]


@pytest.mark.parametrize("seed", range(6))
def test_the_smoothing_is_the_likeliest(seed):
    rng = np.random.default_rng(seed)
    n_values, n_classes = rng.integers(2, 7), rng.integers(1, 4)
    spread = [0.05, 0.3, 1.0, 3.0, 10.0, 100.0][seed]
    shares = rng.dirichlet([spread] * n_values, n_classes)
    amount = np.stack([rng.multinomial(60, p) for p in shares]).astype(float)
    assert empirical_smoothing(amount) == likeliest(amount)
    values = [v for row in amount for v, times in enumerate(row) for _ in range(int(times))]
    y = np.repeat(np.arange(n_classes), 60)
    m = NaiveBayes(calibrate=False, kinds={"x": "categorical"}).fit({"x": values}, y)
    used = amount[:, amount.any(axis=0)]
    assert m.choices_["x"].smoothing == likeliest(used)
    loss = loss_of_categories(
        values, y.tolist(), likeliest(used), used.shape[1], list(range(n_classes))
    )
    assert m.choices_["x"].loss == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
def test_holes_matter_where_they_lose_less_than_the_prior(kind):
    decided = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 50)
        hole = rng.random(50) < np.where(y == 1, 0.1 + 0.02 * (seed % 12), 0.1)
        x = [
            None if gone else v
            for gone, v in zip(hole, rng.choice([1, 2, 3], 50).tolist(), strict=True)
        ]
        here = [v is not None for v in x]
        amount = np.array([[np.sum(np.equal(here, side) & (y == c)) for side in (True, False)]
                           for c in (0, 1)])  # fmt: skip
        lam = likeliest(amount)
        alone = loss_of_categories(here, y.tolist(), lam, 2, [0, 1])
        nothing = loss_of_categories([0] * 50, y.tolist(), 1.0, 1, [0, 1])
        m = NaiveBayes(calibrate=False, kinds={"x": kind}).fit({"x": x}, y)
        assert m.choices_["x"].missing == (hole.any() and alone < nothing), (alone, nothing)
        decided.append(m.choices_["x"].missing)
    assert 3 <= sum(decided) <= 21


@pytest.mark.parametrize(
    ("losses", "taken"),
    [
        ([3.0, 1.0, 2.0], 1),
        ([1.0, 1.0 - 1e-12, 1.0 - 1e-6], 2),
        ([1.0, 1.0 - 1e-12], 0),
        ([math.inf, 5.0], 1),
        ([5.0, math.inf], 0),
        ([-1.0, -1.0 - 1e-12, -2.0], 2),
        ([0.0, 0.0], 0),
    ],
)
def test_of_losses_that_differ_by_rounding_alone_the_first_is_taken(losses, taken):
    assert least(range(len(losses)), losses.__getitem__) == taken
