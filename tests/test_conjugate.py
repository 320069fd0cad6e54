"""Laws, oracles and edges of deciban.conjugate (rows M12 and M13)."""

import copy
import dataclasses
import doctest
import itertools
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from deciban import conjugate
from deciban.conjugate import Beta, Dirichlet, MuVar, NormalInverseGamma, StudentT
from deciban.errors import DecibanError, InputError, MissingValueError, ParameterError, ShapeError

weights = st.floats(1e-3, 1e6)
counts = st.integers(0, 10**6)
values = st.floats(-1e6, 1e6)
triples = st.lists(counts, min_size=3, max_size=3)
samples = st.lists(values, max_size=8)
betas = st.builds(Beta, weights, weights)
dirichlets = st.builds(Dirichlet, st.lists(weights, min_size=3, max_size=3))
nigs = st.builds(NormalInverseGamma, values, weights, weights, weights)

COIN = Beta(8, 4)
DIE = Dirichlet([5, 1, 2.5])
GAUSS = NormalInverseGamma(loc=1.5, kappa=4, a=3.5, b=5.5)
T5 = StudentT(df=5, loc=-1, scale=2)


def law(*strategies):
    """A property test without a deadline: the first call of scipy is slow."""
    return lambda test: settings(deadline=None)(given(*strategies)(test))


def fields(thing):
    return np.hstack([np.asarray(v) for v in dataclasses.astuple(thing)])


def same(left, right, scale=1.0):
    return np.allclose(fields(left), fields(right), rtol=1e-9, atol=1e-9 * scale)


def nig_logpdf(g, mu, var):
    return stats.norm.logpdf(mu, g.loc, np.sqrt(var / g.kappa)) + stats.invgamma.logpdf(
        var, g.a, scale=g.b
    )


# The coin, by hand


def test_m13_the_coin():
    posterior = Beta(1, 1).update(successes=7, failures=3)
    assert posterior == Beta(8, 4)
    assert posterior.mode == 7 / 10  # the frequentist estimate, the prior being flat
    assert posterior.mean == posterior.predictive() == 8 / 12
    assert posterior.variance == pytest.approx(8 * 4 / (12**2 * 13))
    assert posterior.interval(0.95) == pytest.approx(stats.beta(8, 4).interval(0.95), rel=1e-10)
    map_estimate = Beta(5, 5).update(successes=7, failures=3).mode
    assert map_estimate == 11 / 18


def test_m12_three_ways_to_estimate_a_category():
    seen = [4, 0, 1]
    likelihood = Dirichlet.symmetric(3, lam=0).update(seen).mean
    posterior = Dirichlet.symmetric(3, lam=2).update(seen)
    np.testing.assert_allclose(likelihood, [4 / 5, 0, 1 / 5])
    np.testing.assert_allclose(Dirichlet.symmetric(3).update(seen).mode, likelihood)
    np.testing.assert_allclose(posterior.mode, [5 / 8, 1 / 8, 2 / 8])
    np.testing.assert_allclose(posterior.predictive(), [6 / 11, 2 / 11, 3 / 11])


def test_m12_three_ways_to_estimate_a_gaussian():
    data = np.array([2.0, 4.0, 9.0])
    flat = NormalInverseGamma(loc=123.0, kappa=0, a=-1.5, b=0).update(data)
    assert flat.mode == pytest.approx(MuVar(5.0, data.var()))
    posterior = NormalInverseGamma(loc=1, kappa=1, a=2, b=3).update(data)
    assert posterior.loc == 4.0
    assert posterior.kappa == 4.0
    assert posterior.a == 3.5
    assert posterior.b == pytest.approx(3 + 26 / 2 + 3 / 4 * 4**2 / 2)
    assert posterior.mode == pytest.approx(MuVar(4.0, 22 / 5))
    assert posterior.mean == pytest.approx(MuVar(4.0, 22 / 2.5))


def test_reference_prior_gives_the_classical_t_interval():
    data = np.array([2.0, 4.0, 9.0, 9.5])
    posterior = NormalInverseGamma(loc=1e300, kappa=0, a=-0.5, b=0).update(data)
    classical = stats.ttest_1samp(data, 0).confidence_interval(0.9)
    assert posterior.interval(0.9).mu == pytest.approx(tuple(classical), rel=1e-12)
    assert posterior.predictive().df == 3.0


def test_marginal_likelihood_by_hand():
    assert Beta(1, 1).log_predictive(successes=2, failures=1) == pytest.approx(math.log(1 / 12))
    assert Dirichlet([1, 1, 1]).log_predictive([1, 1, 0]) == pytest.approx(math.log(1 / 12))
    assert Beta(2, 3).log_predictive() == 0.0


# Laws of updating


@law(betas, counts, counts, counts, counts)
def test_beta_updates_add_and_commute(prior, s, f, s2, f2):
    once = prior.update(successes=s + s2, failures=f + f2)
    assert same(prior.update(successes=s, failures=f).update(successes=s2, failures=f2), once)
    assert same(prior.update(successes=s2, failures=f2).update(successes=s, failures=f), once)
    assert prior.update() == prior


@law(dirichlets, triples, triples)
def test_dirichlet_updates_add_and_commute(prior, x, y):
    once = prior.update(np.add(x, y))
    assert same(prior.update(x).update(y), once)
    assert same(prior.update(y).update(x), once)
    assert prior.update([0, 0, 0]) == prior


@law(nigs, samples, samples)
def test_gaussian_updates_add_and_commute(prior, x, y):
    once = prior.update(x + y)
    scale = 1 + max(map(abs, [*x, *y, prior.loc])) ** 2
    assert same(prior.update(x).update(y), once, scale)
    assert same(prior.update(y).update(x), once, scale)
    assert prior.update([]) == prior


@law(nigs, st.lists(values, min_size=1, max_size=8))
def test_moments_and_data_agree(prior, x):
    m2 = float(np.sum((np.asarray(x) - np.mean(x)) ** 2))
    scale = 1 + max(map(abs, [*x, prior.loc])) ** 2
    assert same(prior.update(x), prior.update_moments(len(x), np.mean(x), m2), scale)


@law(nigs, st.integers(1, 50), values)
def test_weight_k_equals_k_copies(prior, k, x):
    copies = prior.update([x] * k)
    assert same(copies, prior.update_moments(k, x, 0.0), 1 + x**2 + prior.loc**2)
    halves = prior.update_moments(k / 2, x, 0.0).update_moments(k / 2, x, 0.0)
    assert same(copies, halves, 1 + x**2 + prior.loc**2)


def test_nothing_seen_needs_no_mean():
    assert GAUSS.update_moments(0, math.nan, 0.0) == GAUSS


@law(betas, counts, counts)
def test_beta_is_the_dirichlet_of_two_categories(prior, s, f):
    coin, both = prior.update(successes=s, failures=f), Dirichlet([prior.a, prior.b]).update([s, f])
    assert (coin.a, coin.b) == both.alpha
    assert coin.mean == both.mean[0]
    assert coin.variance == both.variance[0]
    np.testing.assert_array_equal(coin.interval(0.8), both.interval(0.8)[0])
    assert prior.log_predictive(successes=s, failures=f) == pytest.approx(
        Dirichlet([prior.a, prior.b]).log_predictive([s, f])
    )


@law(betas, st.integers(0, 1000), st.integers(0, 1000))
def test_evidence_obeys_the_chain_rule(prior, s, f):
    then = prior.update(successes=s)
    chained = prior.log_predictive(successes=s) + then.log_predictive(failures=f)
    assert prior.log_predictive(successes=s, failures=f) == pytest.approx(chained, abs=1e-8)
    assert math.exp(prior.log_predictive(successes=1)) == pytest.approx(prior.predictive())


@pytest.mark.parametrize("x", [0.5, 99.0, 101.0, 1e6, 1e15])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_evidence_of_large_counts_does_not_cancel(x, n):
    toss_by_toss = math.fsum(math.log((x + i) / (2 * x + i)) for i in range(n))
    assert Beta(x, x).log_predictive(successes=n) == pytest.approx(toss_by_toss, abs=1e-12 * n)


# scipy as the oracle


@law(betas, st.floats(0.01, 0.99))
def test_beta_against_scipy(beta, level):
    oracle = stats.beta(beta.a, beta.b)
    assert beta.mean == pytest.approx(oracle.mean())
    assert beta.variance == pytest.approx(oracle.var(), rel=1e-6)
    lo, hi = beta.interval(level)
    assert 0 <= lo <= hi <= 1
    for end, mass in ((lo, (1 - level) / 2), (hi, (1 + level) / 2)):
        if 1e-300 < end < 1 - 1e-9:  # elsewhere the floats of p are too far apart
            assert oracle.cdf(end) == pytest.approx(mass, abs=1e-6)


def test_dirichlet_against_scipy():
    oracle = stats.dirichlet(DIE.alpha)
    np.testing.assert_allclose(DIE.mean, oracle.mean())
    np.testing.assert_allclose(DIE.variance, oracle.var())
    total = sum(DIE.alpha)
    expected = [stats.beta(a, total - a).interval(0.9) for a in DIE.alpha]
    np.testing.assert_allclose(DIE.interval(0.9), expected)


def test_beta_binomial_and_dirichlet_multinomial_evidence():
    ways = math.log(math.comb(9, 6))
    oracle = stats.betabinom.logpmf(6, 9, 8, 4)
    assert COIN.log_predictive(successes=6, failures=3) + ways == pytest.approx(oracle)
    ways = math.log(math.factorial(6) / (math.factorial(3) * math.factorial(2)))
    oracle = stats.dirichlet_multinomial.logpmf([3, 2, 1], DIE.alpha, 6)
    assert DIE.log_predictive([3, 2, 1]) + ways == pytest.approx(oracle)


def test_fractional_evidence_is_the_ratio_of_beta_functions():
    ratio, _ = integrate.quad(lambda p: p**0.5 * (1 - p) ** 1.5 * stats.beta.pdf(p, 8, 4), 0, 1)
    assert COIN.log_predictive(successes=0.5, failures=1.5) == pytest.approx(math.log(ratio))


@law(st.floats(0.2, 1e9), values, st.floats(1e-3, 1e3), st.floats(-50, 50))
def test_student_density_against_scipy(df, loc, scale, z):
    x = loc + scale * z
    t = StudentT(df, loc, scale)
    assert t.logpdf(x) == pytest.approx(stats.t.logpdf(x, df, loc, scale), rel=1e-9, abs=1e-6)


def test_student_density_of_many_degrees_is_the_normal():
    x = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(StudentT(1e15, 0, 1).logpdf(x), stats.norm.logpdf(x), rtol=1e-12)


def test_student_density_far_out_and_in_any_shape():
    cauchy = StudentT(1, 0, 1)
    assert cauchy.logpdf(1e300) == pytest.approx(-math.log(math.pi) - 600 * math.log(10))
    assert cauchy.logpdf([[0.0, 1.0], [2.0, 3.0]]).shape == (2, 2)
    assert isinstance(cauchy.logpdf(0), float)


@pytest.mark.parametrize("df", [0.5, 1, 1.5, 2, 2.5, 30, 1e8])
def test_student_summaries_against_scipy(df):
    t, oracle = StudentT(df, -1, 2), stats.t(df, -1, 2)
    assert t.interval(0.9) == pytest.approx(oracle.interval(0.9))
    if df > 1:
        assert t.mean == oracle.mean()
        assert t.variance == pytest.approx(oracle.var())
    else:
        assert t.variance == math.inf
        with pytest.raises(ParameterError, match="df > 1"):
            _ = t.mean


def test_gaussian_intervals_against_scipy():
    interval = GAUSS.interval(0.9)
    scale = math.sqrt(GAUSS.b / (GAUSS.a * GAUSS.kappa))
    assert interval.mu == pytest.approx(stats.t(2 * GAUSS.a, GAUSS.loc, scale).interval(0.9))
    assert interval.var == pytest.approx(stats.invgamma(GAUSS.a, scale=GAUSS.b).interval(0.9))


def test_gaussian_mean_against_numerical_integration():
    mean, _ = integrate.quad(lambda v: v * stats.invgamma.pdf(v, 3.5, scale=5.5), 0, np.inf)
    assert GAUSS.mean == pytest.approx(MuVar(1.5, mean))
    assert NormalInverseGamma(0, 1, 1, 1).mean == MuVar(0.0, math.inf)


@pytest.mark.parametrize("x", [-4.0, 1.5, 3.0, 20.0])
def test_gaussian_predictive_integrates_mu_and_var_out(x):
    mu, log_var = np.meshgrid(np.linspace(-20, 40, 3001), np.linspace(-4, 8, 401))
    var = np.exp(log_var)
    density = np.exp(nig_logpdf(GAUSS, mu, var) + stats.norm.logpdf(x, mu, np.sqrt(var))) * var
    total = density.sum() * (60 / 3000) * (12 / 400)
    assert math.exp(GAUSS.predictive().logpdf(x)) == pytest.approx(total, rel=1e-4)


def test_gaussian_predictive_is_the_ratio_of_posterior_to_prior():
    # Bayes: p(x) = p(x | mu, var) p(mu, var) / p(mu, var | x), at any mu and var
    x, mu, var = 2.25, 0.5, 1.75
    log_ratio = (
        stats.norm.logpdf(x, mu, var**0.5)
        + nig_logpdf(GAUSS, mu, var)
        - nig_logpdf(GAUSS.update([x]), mu, var)
    )
    assert GAUSS.predictive().logpdf(x) == pytest.approx(log_ratio)


# Modes: no point of a grid is denser


WEIGHTS = [0.2, 0.5, 1.0, 1.5, 3.0, 40.0]
EDGE = 1e-9


def no_point_is_denser(log_density, points, mode):
    inner = (1 - points.shape[1] * EDGE) * np.vstack([mode, points]) + EDGE
    found = log_density(inner)
    return found[0] >= found[1:].max() - 1e-6


@pytest.mark.parametrize(("a", "b"), list(itertools.product(WEIGHTS, repeat=2)))
def test_beta_mode_is_the_peak(a, b):
    if a == b < 1:
        with pytest.raises(ParameterError, match="one above the others"):
            _ = Beta(a, b).mode
        return
    p = np.linspace(0, 1, 1001)
    mode = Beta(a, b).mode
    assert no_point_is_denser(
        lambda q: (a - 1) * np.log(q[:, 0]) + (b - 1) * np.log(q[:, 1]),
        np.column_stack([p, 1 - p]),
        [mode, 1 - mode],
    )


@pytest.mark.parametrize("alpha", list(itertools.product(WEIGHTS[:5], repeat=3)))
def test_dirichlet_mode_is_the_peak(alpha):
    if max(alpha) < 1 and alpha.count(max(alpha)) > 1:
        with pytest.raises(ParameterError, match="one above the others"):
            _ = Dirichlet(alpha).mode
        return
    steps = np.arange(41) / 40
    grid = np.array([(x, y, 1 - x - y) for x in steps for y in steps if x + y <= 1 + 1e-12])
    mode = Dirichlet(alpha).mode
    assert mode.sum() == pytest.approx(1)
    power = np.asarray(alpha) - 1
    assert no_point_is_denser(lambda q: np.log(np.maximum(q, EDGE)) @ power, grid, mode)


def test_edge_modes_by_hand():
    assert Beta(1, 1).mode == 0.5
    assert Beta(0.5, 1).mode == Beta(1, 2).mode == Beta(0.2, 0.7).mode == Beta(0, 3).mode == 0.0
    assert Beta(1, 0.5).mode == Beta(2, 1).mode == Beta(0.7, 0.2).mode == Beta(3, 0).mode == 1.0
    np.testing.assert_array_equal(Dirichlet([1, 1, 1, 1]).mode, [0.25] * 4)
    np.testing.assert_array_equal(Dirichlet([1, 1, 0.5]).mode, [0.5, 0.5, 0])
    np.testing.assert_array_equal(Dirichlet([0.3, 0.4, 0.2]).mode, [0, 1, 0])
    np.testing.assert_array_equal(Dirichlet([0.3]).mode, [1])


def test_gaussian_mode_is_the_peak():
    mode = GAUSS.mode
    mu, var = np.meshgrid(np.linspace(-3, 6, 401), np.linspace(0.05, 10, 401))
    assert nig_logpdf(GAUSS, *mode) >= nig_logpdf(GAUSS, mu, var).max()
    assert nig_logpdf(GAUSS, *mode) > nig_logpdf(GAUSS, mode.mu, mode.var * 1.001)


# Zero weights and improper priors


@pytest.mark.parametrize(("coin", "p"), [(Beta(0, 3), 0.0), (Beta(3, 0), 1.0)])
def test_a_zero_weight_is_certainty(coin, p):
    assert coin.mean == coin.mode == coin.predictive() == p
    assert coin.variance == 0.0
    assert coin.interval(0.9) == (p, p)
    assert coin.sample(rng=0) == p
    assert coin.log_predictive(successes=2 * p, failures=2 * (1 - p)) == 0.0
    assert coin.log_predictive(successes=1 - p, failures=p) == -math.inf


def test_a_zero_weight_is_the_limit_of_small_ones():
    zero, small = Dirichlet([0, 2, 3]), Dirichlet([1e-12, 2, 3])
    np.testing.assert_allclose(zero.mean, small.mean, atol=1e-9)
    np.testing.assert_allclose(zero.variance, small.variance, atol=1e-9)
    np.testing.assert_allclose(zero.interval(), small.interval(), atol=1e-9)
    assert zero.log_predictive([0, 4, 1]) == pytest.approx(small.log_predictive([0, 4, 1]))


def test_a_small_weight_beside_a_large_one_is_not_lost():
    heavy = Dirichlet([1e17, 1.0])
    np.testing.assert_allclose(heavy.interval(0.9)[1], stats.expon.interval(0.9, scale=1e-17))
    assert Dirichlet([1e10, 1e-5]).variance == pytest.approx([1e-25, 1e-25], rel=1e-9, abs=0)
    variance = Dirichlet([1, 1e10, 1e-5]).variance
    assert variance[1] == pytest.approx(1.00001e-20, rel=1e-9, abs=0)
    assert Dirichlet([0.5, 1e10]).interval(0.9)[1, 0] < 1.0


QUESTIONS = ["mean", "mode", "variance", "interval", "predictive", "log_predictive", "sample"]


def ask(thing, name):
    answer = getattr(thing, name)
    if name == "log_predictive":
        return answer([1, 1]) if isinstance(thing, Dirichlet) else answer(successes=1)
    return answer() if callable(answer) else answer


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("empty", [Beta(0, 0), Dirichlet([0, 0])])
def test_without_weights_nothing_is_defined(empty, name):
    with pytest.raises(ParameterError, match=r"some weight must be > 0, got \(0.0, 0.0\). Hint: "):
        ask(empty, name)


@pytest.mark.parametrize("name", ["mean", "mode", "interval", "predictive", "sample"])
@pytest.mark.parametrize("a", [-1.5, -0.5, 0])
def test_improper_gaussians_answer_nothing_until_updated(name, a):
    prior = NormalInverseGamma(0, 0, a, 0)
    with pytest.raises(ParameterError, match="needs kappa > 0, a > "):
        ask(prior, name)
    ask(prior.update([1.0, 2.0, 4.0, 8.0, 16.0]), name)


def test_constant_data_without_a_prior_have_no_density():
    posterior = NormalInverseGamma(0, 0, 0, 0).update([3.0] * 5)
    assert posterior.mode == posterior.mean == MuVar(3.0, 0.0)
    with pytest.raises(ParameterError, match="b > 0"):
        posterior.predictive()


# Drawing


def fits(draws, cdf):
    return stats.kstest(draws, cdf).pvalue > 0.01


def test_draws_follow_the_distribution():
    assert fits(COIN.sample(4000, rng=1), stats.beta(8, 4).cdf)
    rolls = DIE.sample(4000, rng=1)
    assert all(fits(rolls[:, i], stats.beta(a, 8.5 - a).cdf) for i, a in enumerate(DIE.alpha))
    np.testing.assert_allclose(rolls.sum(axis=1), 1)
    assert fits(T5.sample(4000, rng=1), stats.t(5, -1, 2).cdf)


def test_gaussian_draws_follow_the_distribution():
    mu, var = GAUSS.sample(4000, rng=1)
    assert fits(var, stats.invgamma(3.5, scale=5.5).cdf)
    assert fits((mu - 1.5) * np.sqrt(4 / var), stats.norm.cdf)
    next_value = np.random.default_rng(2).normal(mu, np.sqrt(var))
    t = GAUSS.predictive()
    assert fits(next_value, stats.t(t.df, t.loc, t.scale).cdf)


@pytest.mark.parametrize(("thing", "tail"), [(COIN, ()), (DIE, (3,)), (T5, ()), (GAUSS, ())])
def test_shapes_and_seeds_of_draws(thing, tail):
    def draw(size, rng):
        drawn = thing.sample(size, rng)
        return np.asarray(getattr(drawn, "mu", drawn))

    assert draw(None, None).shape == tail
    assert draw(4, 0).shape == (4, *tail)
    assert draw((2, 0, 3), 0).shape == (2, 0, 3, *tail)
    np.testing.assert_array_equal(draw(4, 7), draw(4, np.random.default_rng(7)))


@pytest.mark.parametrize("thing", [COIN, T5])
def test_one_draw_is_a_float(thing):
    assert isinstance(thing.sample(rng=0), float)


def test_draws_beyond_every_float_are_infinite():
    vague = NormalInverseGamma(0, 1, 1e-6, 1)
    assert np.isinf(vague.sample(3, rng=0).var).all()
    assert vague.interval(0.9).var[1] == math.inf


# Bad input


BAD_WEIGHTS = [(-1, "must be >= 0, got -1"), (math.nan, "finite, got nan"), (math.inf, "got inf")]
BAD_NUMBERS = [*BAD_WEIGHTS, ("3", "number"), (None, "number"), ([1, 2], "number"), (10**400, "")]


@pytest.mark.parametrize(("bad", "text"), BAD_NUMBERS)
def test_bad_weights(bad, text):
    for call in (
        lambda: Beta(bad, 1),
        lambda: Beta(1, bad),
        lambda: COIN.update(successes=bad),
        lambda: COIN.update(failures=bad),
        lambda: COIN.log_predictive(successes=bad),
        lambda: Dirichlet([1, bad]),
        lambda: Dirichlet.symmetric(3, bad),
        lambda: DIE.update([1, bad, 1]),
        lambda: DIE.log_predictive([1, bad, 1]),
        lambda: NormalInverseGamma(0, bad, 1, 1),
        lambda: NormalInverseGamma(0, 1, 1, bad),
        lambda: GAUSS.update_moments(bad, 0, 0),
        lambda: GAUSS.update_moments(1, 0, bad),
        lambda: StudentT(bad, 0, 1),
        lambda: StudentT(1, 0, bad),
    ):
        with pytest.raises(InputError, match=rf"{text}.* Hint: \w.*\.$"):
            call()


@pytest.mark.parametrize(("bad", "text"), BAD_NUMBERS[1:])
def test_bad_values(bad, text):
    for call in (
        lambda: NormalInverseGamma(bad, 1, 1, 1),
        lambda: NormalInverseGamma(0, 1, bad, 1),
        lambda: GAUSS.update([1.0, bad]),
        lambda: GAUSS.update_moments(1, bad, 0),
        lambda: StudentT(1, bad, 1),
        lambda: T5.logpdf([1.0, bad]),
    ):
        with pytest.raises(InputError, match=rf"{text}.* Hint: \w.*\.$"):
            call()


def test_the_kinds_of_error():
    with pytest.raises(ParameterError, match=r"kappa > 0, a > 0.5, got NormalInv"):
        _ = NormalInverseGamma(0, 1, 0.5, 1).mean
    with pytest.raises(MissingValueError, match="data must be finite, got nan"):
        GAUSS.update(np.array([*range(100), np.nan]))
    with pytest.raises(ShapeError, match="counts must have 3 values, got 2"):
        DIE.update([1, 2])
    with pytest.raises(ShapeError, match="must not be empty"):
        Dirichlet([])
    with pytest.raises(ParameterError, match=r"a must be >= -1.5, got -2"):
        NormalInverseGamma(0, 0, -2, 0)
    for zero in ((0, 0, 1), (1, 0, 0)):
        with pytest.raises(ParameterError, match="must be > 0"):
            StudentT(*zero)


@pytest.mark.parametrize("bad", [3, [[1, 2, 3]], [[1], [2, 3]], "abc", [1, None, 2], [1j, 2, 3]])
def test_lists_must_be_flat_and_of_numbers(bad):
    for call in (Dirichlet, DIE.update, DIE.log_predictive, GAUSS.update):
        with pytest.raises(InputError, match="must be a flat list of numbers, got "):
            call(bad)


@pytest.mark.parametrize("size", [0, -1, 2.5, "2", None, (2, 2)])
def test_symmetric_needs_a_size(size):
    with pytest.raises(ParameterError, match="size must be an int >= 1, got "):
        Dirichlet.symmetric(size)


@pytest.mark.parametrize("thing", [COIN, DIE, GAUSS, T5])
def test_settings_of_every_sibling_are_checked(thing):
    for level in (0, 1, -0.1, 95):
        with pytest.raises(ParameterError, match="level must be between 0 and 1, got "):
            thing.interval(level)
    for level in (math.nan, "0.9", None, [0.9]):
        with pytest.raises(InputError, match="level must be "):
            thing.interval(level)
    for size, rng in ((-1, None), (2.5, None), ("a", None), (2, -1), (2, "a"), (2, 1.5)):
        with pytest.raises(ParameterError, match="size and rng must be whole numbers"):
            thing.sample(size, rng)


def test_overflow_is_refused():
    for call in (
        lambda: Beta(1e308, 1).update(successes=1e308),
        lambda: Beta(1e308, 1e308).mean,
        lambda: Beta(1e308, 1e308).mode,
        lambda: GAUSS.update([1e308] * 3),
        lambda: GAUSS.update([1e200, -1e200]),
        lambda: NormalInverseGamma(1e308, 1, 1, 1).update([-1e308]),
    ):
        with pytest.raises(DecibanError, match="must be finite, got inf"):
            call()


# The objects


THINGS = [COIN, DIE, GAUSS, T5]


@pytest.mark.parametrize("thing", THINGS)
def test_immutable_equal_hashable_and_copied(thing):
    for field in dataclasses.fields(thing):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field.name, 1.0)
    assert not hasattr(thing, "__dict__")
    for twin in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), eval(repr(thing))):
        assert twin == thing
        assert hash(twin) == hash(thing)


def test_alpha_is_not_the_callers_array():
    alpha = np.ones(3)
    prior = Dirichlet(alpha)
    alpha[0] = 9
    prior.mean[0] = 9
    assert prior == Dirichlet([1, 1, 1]) == Dirichlet.symmetric(3)
    assert prior != Dirichlet([1, 1, 2])


def test_numpy_numbers_become_floats():
    assert repr(Beta(np.int8(100), np.float32(0.5)).update(successes=np.int8(100))) == (
        "Beta(a=200.0, b=0.5)"
    )
    prior = NormalInverseGamma(0, 0.1, 0.1, 1)
    assert repr(prior.update_moments(np.float32(1), np.float32(0), np.int8(0))) == (
        "NormalInverseGamma(loc=0.0, kappa=1.1, a=0.6, b=1.0)"
    )


@pytest.mark.parametrize("thing", THINGS[:3])
@pytest.mark.parametrize("name", ["update", "mean", "mode", "interval", "predictive", "sample"])
def test_siblings_share_their_names(thing, name):
    assert getattr(type(thing), name).__doc__


def test_import_leaves_scipy_alone():
    code = "import sys, deciban.conjugate; sys.exit('scipy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_class_has_an_example_that_runs():
    finder = doctest.DocTestFinder(recurse=False)
    for name in conjugate.__all__:
        (found,) = finder.find(getattr(conjugate, name))
        assert found.examples, name
    result = doctest.testmod(conjugate)
    assert result.attempted > 10
    assert result.failed == 0
