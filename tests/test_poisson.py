"""Counts as Poisson: by hand, against SciPy, its laws, when it is chosen, and what uses it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import deciban
from deciban import Counts, NaiveBayes, families
from deciban.errors import ParameterError
from deciban.families.poisson import POISSON
from deciban.families.rate import MAX_COUNT, CountDistribution, PoissonSettings
from deciban.families.settings import Settings
from deciban.stats.moments import MOMENTS
from deciban.stats.table import Table

METHODS = ("ml", "map", "bayes")
NAN = np.nan


def table(X, y, n_classes=None, weight=None):
    """The moments of some columns."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    K = n_classes or y.max() + 1
    cells = MOMENTS.empty(np.array([f"x{j}" for j in range(X.shape[1])]), K)[0]
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    rows = np.bincount(y, weight, K)
    return Table(MOMENTS, cells, rows, MOMENTS.count(X, y, K, weight, cells))


def estimated(X, y, method="bayes", lam=1.0, bounded=False, **how):
    return POISSON.estimate(table(X, y, **how), PoissonSettings(method, lam, bounded=bounded))


def log_likelihood(parameters, X):
    X = np.asarray(X, dtype=np.float64)
    out = np.zeros((len(X), parameters.mean.shape[1]))
    parameters.add(X, out)
    return out


def counts_of(rng, n=200, rates=(3.0, 12.0)):
    y = rng.integers(0, len(rates), n)
    return rng.poisson(np.array(rates)[y]), y


# ------------------------------------------------------------------ by hand, and against SciPy


def test_one_column_by_hand():
    """Counts 1, 2, 6 and 3: classes have n = 3 and 1, sums 9 and 3, and the column the mean 3."""
    X, y = [[1], [2], [6], [3]], [0, 0, 0, 1]
    assert estimated(X, y, "ml").mean.tolist() == [[3, 3]]
    # The prior is worth 2 rows: shape 6, rate 2.
    assert estimated(X, y, "map", 2).mean.tolist() == [[14 / 5, 8 / 3]]
    assert estimated(X, y, "bayes", 2).mean.tolist() == [[3, 3]]
    # Without a prior class 1 is Gamma(3, 1), so that x = 0 has (1 / 2)**3 and x = 1 3 (1 / 2)**4.
    found = np.exp(log_likelihood(estimated(X, y, "bayes", 0), [[0], [1]]))
    np.testing.assert_allclose(found[:, 1], [1 / 8, 3 / 16])
    np.testing.assert_allclose(found[0, 0], (3 / 4) ** 9)


@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, 4.0])
def test_against_scipy(lam):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 8)
    X = rng.poisson([[0.7, 40.0]], (24, 2)) * (1 + y[:, None])
    new = np.arange(0.0, 120.0).repeat(2).reshape(-1, 2)
    n, total = 8.0, np.stack([X[y == c].sum(axis=0) for c in range(3)], axis=1)
    a, b = total + lam * X.mean(axis=0)[:, None], n + lam
    rates = {"ml": total / n, "map": np.maximum(a - 1, 0) / b}
    for method, rate in rates.items():
        want = stats.poisson.logpmf(new[:, :, None], rate)
        np.testing.assert_allclose(estimated(X, y, method, lam).contributions(new), want, 1e-11)
    want = stats.nbinom.logpmf(new[:, :, None], a, b / (b + 1))
    np.testing.assert_allclose(estimated(X, y, "bayes", lam).contributions(new), want, 1e-11)


def test_much_data_is_nearly_poisson():
    """Gamma functions of huge shapes would cancel to nothing."""
    x = np.array([0.0, 1.0, 5.0, 1000.0, 3e6])
    for mean in (0.5, 1000.0, 3e6):
        found = CountDistribution(np.array(mean), np.array(1e15)).log(x)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(found, stats.poisson.logpmf(x, mean), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("a", [49.0, 49.999, 50.001, 51.0, 400.0])
def test_the_series_goes_on_where_gamma_functions_end(a):
    x = np.arange(0.0, 300.0)
    found = CountDistribution(np.array(a / 7), np.array(7.0)).log(x)
    np.testing.assert_allclose(found, stats.nbinom.logpmf(x, a, 7 / 8), rtol=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_sum_to_one(method):
    found = estimated([[0, 4], [3, 9], [1, 4]], [0, 0, 1], method, 2.0)
    every = np.arange(0.0, 4000.0).repeat(2).reshape(-1, 2)
    np.testing.assert_allclose(np.exp(found.contributions(every)).sum(axis=0), 1.0)


@pytest.mark.parametrize("largest", [39, 40, 2 * MAX_COUNT])
@pytest.mark.parametrize("method", METHODS)
def test_one_row_scores_as_among_many(method, largest):
    """Counts below the number of rows are looked up where they lie, others where they sort."""
    X = np.random.default_rng(0).poisson(5, (40, 6)).astype(np.float64)
    found = estimated(X, np.arange(40) % 3, method)
    X[3, 2], X[4:8, 3], X[9] = NAN, [0.5, -1.0, np.inf, -np.inf], largest
    many = log_likelihood(found, X)
    each = np.concatenate([log_likelihood(found, row[None]) for row in X])
    np.testing.assert_allclose(many, each, rtol=1e-13)
    np.testing.assert_allclose(many, found.contributions(X).sum(axis=1), rtol=1e-13)


# ------------------------------------------------------------------ little or odd data


def test_one_count_says_no_more_than_the_rows():
    """Five rows, so that no class is more than 51 times as likely as another by one count."""
    X, y = [[0], [1], [0], [4], [7]], [0, 0, 1, 1, 2]
    far, near = [[500], [58]], [[0], [1], [4]]
    free, bounded = (estimated(X, y, bounded=some) for some in (False, True))
    np.testing.assert_array_equal(log_likelihood(bounded, near), log_likelihood(free, near))
    loose, log = log_likelihood(free, far), log_likelihood(bounded, far)
    assert np.ptp(loose, axis=1).min() > np.log(51) + 1
    np.testing.assert_allclose(np.ptp(log, axis=1), np.log(1 + 10 * 5))
    np.testing.assert_array_equal(log.max(axis=1), loose.max(axis=1))
    np.testing.assert_allclose(log, np.maximum(loose, loose[:, [2]] - np.log(51)))
    # A row more is a row more, whatever its class.
    more = estimated([*X, [0]], [*y, 0], bounded=True)
    np.testing.assert_allclose(np.ptp(log_likelihood(more, far), axis=1), np.log(61))


@pytest.mark.parametrize(
    ("how", "bounded"),
    [({}, True), ({"smoothing": 0}, False), ({"method": "ml"}, False), ({"method": "map"}, False)],
)
def test_what_is_bounded_in_a_model(how, bounded):
    """With no prior, as with maximum likelihood, what is impossible stays so."""
    x, y = [0, 1, 0, 0, 5, 7, 6, 5], list("aaaabbbb")
    model = NaiveBayes(numeric="poisson", calibrate=False, **how).fit({"x": x}, y)
    a, b = np.log(np.maximum(model.predict_proba({"x": [90]})[0], 1e-300))
    assert bool(np.isclose(b - a, np.log(81))) is bounded
    explained = model.explain({"x": 90}).probability
    assert explained == pytest.approx(model.predict_proba({"x": [90]}).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lam", [0.0, 1.0, 3.0])
def test_a_class_without_data_looks_like_the_whole_column(method, lam):
    found = estimated([[2], [4], [NAN]], [0, 0, 1], method, lam)
    assert found.mean[0, 1] == 3.0
    assert np.isfinite(log_likelihood(found, [[0], [1], [50]])).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_a_column_without_data_says_nothing(method, lam):
    found = estimated([[2, NAN], [4, NAN]], [0, 1], method, lam)
    assert not found.contributions(np.array([[2.0, 7.0]]))[:, 1].any()
    assert not found.leave_one_out_by_column(np.array([[2.0, NAN]]), np.array([0]), np.ones(1))[
        :, 1
    ].any()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_count_says_nothing(method):
    found = estimated([[2], [4], [1]], [0, 1, 1], method)
    odd = [[-1], [0.5], [NAN], [2 * MAX_COUNT], [1e300], [-np.inf], [np.inf]]
    assert not log_likelihood(found, odd).any()
    assert (log_likelihood(found, [[0], [MAX_COUNT]]) < 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_only_zeros_allow_only_zeros(method):
    """Without a prior, or where the whole column is zero, a rate is zero."""
    found = log_likelihood(estimated([[0], [0], [5]], [0, 0, 1], method, 0.0), [[0], [1]])
    assert found[:, 0].tolist() == [0.0, -np.inf]
    alike = log_likelihood(estimated([[0], [0]], [0, 1], method), [[0], [1]])
    assert alike.tolist() == [[0, 0], [-np.inf, -np.inf]]


def test_numbers_that_are_no_counts_break_nothing():
    """Choices may outlive the counts that they were made on."""
    for X in ([[-5.0], [2.0], [1.5]], [[1e300], [3.0], [1e300]], [[-1e308], [-1e308], [-1e308]]):
        for method in METHODS:
            found = estimated(X, [0, 1, 1], method)
            assert np.all((found.mean >= 0) & (found.mean <= MAX_COUNT))
            assert not np.isnan(log_likelihood(found, [[0], [3]])).any()


# ------------------------------------------------------------------ laws

values = st.one_of(st.integers(0, 6), st.integers(0, 2000), st.just(NAN))
rows = st.lists(st.tuples(values, values, st.integers(0, 2)), min_size=2, max_size=12)
methods = st.sampled_from(METHODS)
strengths = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def split(some):
    data = np.array(some, dtype=np.float64)
    return data[:, :2].copy(), data[:, 2].astype(np.intp)


@given(rows, methods, strengths, st.booleans(), st.sampled_from([1.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_leaving_one_out_is_estimating_without_it(some, method, lam, bounded, weight):
    X, y = split(some)
    weights = np.full(len(y), weight)
    whole = estimated(X, y, method, lam, bounded, n_classes=3, weight=weights)
    by_column = whole.leave_one_out_by_column(X, y, weights)
    np.testing.assert_array_equal(whole.leave_one_out(X, y, weights), by_column.sum(axis=1))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        how = {"n_classes": 3, "weight": weights[rest]}
        without = estimated(X[rest], y[rest], method, lam, bounded, **how)
        want = without.contributions(X[i : i + 1])[0]
        np.testing.assert_allclose(by_column[i], want, rtol=1e-8, atol=1e-8)


@given(rows, rows, methods)
@settings(max_examples=30, deadline=None)
def test_merging_is_counting_together(some, more, method):
    X, y = split(some)
    Z, z = split(more)
    parts = table(X, y, 3) + table(Z, z, 3)
    merged = POISSON.estimate(parts, Settings(method))
    together = estimated(np.vstack([X, Z]), np.concatenate([y, z]), method, n_classes=3)
    np.testing.assert_array_equal(merged.mean, together.mean)
    np.testing.assert_array_equal(log_likelihood(merged, X), log_likelihood(together, X))
    left = parts.subtract(table(Z, z, 3))
    np.testing.assert_array_equal(
        POISSON.estimate(left, Settings(method)).mean, estimated(X, y, method, n_classes=3).mean
    )


@given(rows, methods)
@settings(max_examples=30, deadline=None)
def test_weight_two_is_two_copies(some, method):
    X, y = split(some)
    double = estimated(X, y, method, n_classes=3, weight=np.full(len(y), 2.0))
    copies = estimated(np.vstack([X, X]), np.concatenate([y, y]), method, n_classes=3)
    np.testing.assert_array_equal(double.mean, copies.mean)


# ------------------------------------------------------------------ when it is chosen


def choice(x, y, **how):
    return NaiveBayes(**how).fit({"x": x}, y).choices_["x"]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_chosen_for_few_counts(seed):
    x, y = counts_of(np.random.default_rng(seed), 60, (2.0, 5.0))
    chosen = choice(x, y)
    assert (chosen.shape, chosen.smoothing, chosen.describe()) == ("poisson", 1.0, "Poisson counts")
    others = [choice(x, y, numeric=how).loss for how in ("gaussian", "histogram")]
    assert chosen.loss < min(others) - 1e-3


def test_it_is_not_chosen_for_what_is_none():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    parity = 2 * rng.integers(0, 10, 600) + y  # even or odd: every value by itself
    humps = np.where(y == 1, rng.choice([10, 90], 600) + rng.integers(0, 9, 600), 50)
    narrow = 1000 + 2 * y + rng.integers(0, 2, 600)  # much narrower than Poisson
    for x in (parity, humps, narrow):
        asked = choice(x, y, numeric="poisson")
        assert asked.shape == "poisson"
        assert choice(x, y).shape != "poisson"
        assert choice(x, y).loss < asked.loss - 0.1


def test_the_loss_is_that_of_rows_taken_away():
    x, y = counts_of(np.random.default_rng(3), 30)
    weight = np.bincount(y)
    losses = []
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        log = log_likelihood(estimated(x[rest, None], y[rest], bounded=True), [[x[i]]])[0]
        log += np.log(weight - (np.arange(2) == y[i]) + 1.0)
        losses.append(np.logaddexp.reduce(log) - log[y[i]])
    assert choice(x, y, numeric="poisson").loss == pytest.approx(np.mean(losses), abs=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        np.array([-1.0, 2, 3, 4] * 10),
        np.array([0.5, 2, 3, 4] * 10),
        np.array([1e10, 2, 3, 4] * 10),
        np.array([f"2024-01-0{d}" for d in (1, 2, 3, 4)] * 10, dtype="datetime64[D]"),
    ],
    ids=["negative", "not whole", "too large", "times"],
)
def test_columns_that_are_no_counts_are_chosen_freely(x):
    y = [0, 1, 1, 0] * 10
    asked = NaiveBayes(numeric="poisson").fit({"x": x, "k": [0, 1, 2, 3] * 10}, y).choices_
    free = NaiveBayes().fit({"x": x, "k": [0, 1, 2, 3] * 10}, y).choices_
    assert asked["k"].shape == "poisson"
    assert asked["x"] == free["x"]


def test_a_grid_that_is_not_exact_tells_no_counts():
    rng = np.random.default_rng(0)
    x, y = rng.permutation(10_000), rng.integers(0, 2, 10_000)
    assert choice(x, y, numeric="poisson").shape != "poisson"


def test_forgetting_what_was_no_count_makes_counts():
    x, y = counts_of(np.random.default_rng(0), 60)
    model = NaiveBayes(numeric="poisson", calibrate=False).fit({"x": x.astype(float)}, y)
    before = model.predict_proba({"x": x.astype(float)})
    odd = {"x": [0.5, -3.0]}, [0, 1]
    model.partial_fit(*odd)
    assert model.choices_["x"].shape != "poisson"
    model.forget(*odd)
    assert model.choices_["x"].shape == "poisson"
    np.testing.assert_allclose(model.predict_proba({"x": x.astype(float)}), before, rtol=1e-9)


def test_ties_keep_the_older_family():
    assert list(families.FAMILIES).index("poisson") > list(families.FAMILIES).index("histogram")
    assert choice([1, 2, 3, 5], [0, 0, 0, 0]).shape != "poisson"  # one class: no family is better


# ------------------------------------------------------------------ what it is used for


def test_a_model_with_it_is_written_and_read(tmp_path):
    x, y = counts_of(np.random.default_rng(0), 80)
    model = NaiveBayes(numeric="poisson").fit({"x": x}, y)
    model.save(tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    assert again.choices_ == model.choices_
    np.testing.assert_array_equal(again.predict_proba({"x": x}), model.predict_proba({"x": x}))


@pytest.mark.parametrize("method", METHODS)
def test_reasons(method):
    rng = np.random.default_rng(0)
    x, y = counts_of(rng, 80)
    model = NaiveBayes(numeric="poisson", method=method, calibrate=False)
    model.fit({"x": x, "size": rng.choice(["S", "L"], 80)}, y)
    p = model.predict_proba({"x": [3, 14], "size": ["S", "L"]})
    for row, want in zip(({"x": 3, "size": "S"}, {"x": 14, "size": "L"}), p, strict=True):
        assert model.explain(row).probability == pytest.approx(want.max())
    curve = model.curve("x")
    assert curve.x == tuple(sorted(set(x.tolist())))
    assert np.all(curve.low <= curve.high)
    assert model.importance()
    assert model.nomogram() is not None


def test_curves_without_the_histogram():
    found = estimated([[2], [4], [20]], [0, 0, 1])
    piece = found.curve(0)
    x = np.array(piece.values)
    assert np.array_equal(x, np.arange(x[0], x[-1] + 1))
    assert (x[0], x[-1]) == (0, 33)
    np.testing.assert_array_equal(piece.log_likelihood, log_likelihood(found, x[:, None]))
    np.testing.assert_allclose(piece.share.sum(axis=0), 1.0)
    draws = piece.draws(np.random.default_rng(0), 4000)
    # The rate of class 0 is Gamma(6.5, 2): the mean of log P(0) is its mean, negated.
    assert draws[:, 0, 0].mean() == pytest.approx(-3.25, abs=0.1)


def test_missing_labels():
    rng = np.random.default_rng(0)
    x, y = counts_of(rng, 400, (3.0, 15.0))
    hidden = [None if i > 20 else int(label) for i, label in enumerate(y)]
    odd = np.concatenate([x, [-4.0, 2.5]])
    for method in METHODS:
        for lam in ("auto", 0, 2):
            how = {"numeric": "poisson", "method": method, "smoothing": lam, "tol": 1e-9}
            model = NaiveBayes(**how).fit({"x": x}, hidden)
            assert np.all(np.diff(model.likelihood_) >= 0)
            assert len(model.likelihood_) > 2
            assert np.mean(model.predict({"x": x}) == y) > 0.95
    model = NaiveBayes(numeric="poisson").fit({"x": odd}, [*hidden, None, None])
    assert np.isfinite(model.predict_proba({"x": odd})).all()


def test_a_mixture_without_labels():
    x, y = counts_of(np.random.default_rng(0), 300, (2.0, 20.0))
    model = NaiveBayes(numeric="poisson", n_classes=2).fit({"x": x}, [None] * 300)
    same = np.mean(model.predict({"x": x}) == y)
    assert max(same, 1 - same) > 0.97


def test_em_reaches_the_maximum_of_what_it_climbs():
    """Without a prior J is the likelihood of a mixture, which SciPy can climb as well."""
    from scipy.optimize import minimize
    from scipy.special import expit

    x, y = counts_of(np.random.default_rng(5), 120, (2.0, 9.0))
    known = np.arange(120) < 20
    how = {"numeric": "poisson", "smoothing": 0, "method": "ml", "calibrate": False}
    labels = [int(c) if k else None for c, k in zip(y, known, strict=True)]
    model = NaiveBayes(**how, tol=0, max_rounds=2000).fit({"x": x}, labels)

    def negative(t):
        log = stats.poisson.logpmf(x[:, None], np.exp(t[1:])) + np.log([expit(-t[0]), expit(t[0])])
        return -np.where(known, log[np.arange(120), y], np.logaddexp.reduce(log, axis=1)).sum()

    best = minimize(negative, [0.0, 0.5, 2.0], tol=1e-12)
    factorials = stats.poisson.logpmf(x[known], 1.0) + 1.0  # J leaves those of labelled rows out
    assert model.likelihood_[-1] == pytest.approx(-best.fun - factorials.sum(), abs=1e-5)


# ------------------------------------------------------------------ bad input


def test_bad_settings():
    with pytest.raises(ParameterError, match=r"numeric must be one of .*'poisson'.* Hint: "):
        NaiveBayes(numeric="fish").fit({"x": [1, 2]}, [0, 1])
    with pytest.raises(ParameterError, match="smoothing must be a number >= 0"):
        PoissonSettings("bayes", -1.0)


def test_counting_by_name():
    counts = Counts.of({"x": [1, 2, 6]}, [0, 0, 1], family="poisson")
    assert families.get("poisson").estimate(
        counts.tables["poisson"], Settings("ml")
    ).mean.tolist() == [[1.5, 6.0]]
