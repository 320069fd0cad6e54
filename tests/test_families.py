"""The mathematics of the families: one protocol, formulas by hand, posteriors as the oracle."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deciban import families
from deciban.conjugate import Dirichlet, NormalInverseGamma
from deciban.errors import ParameterError
from deciban.families import FAMILIES
from deciban.families.bell import GaussianSettings
from deciban.families.categorical import CategoricalSettings
from deciban.families.complement import ComplementSettings
from deciban.families.protocol import Family, Parameters
from deciban.families.settings import Settings
from deciban.models import scores
from deciban.models.prior import class_prior
from deciban.stats.categories import CATEGORIES
from deciban.stats.cells import Cells
from deciban.stats.counts import Counts
from deciban.stats.registry import STATISTICS
from deciban.stats.statistic import Statistic
from deciban.stats.table import DenseSum, Table

METHODS = ("ml", "map", "bayes")
siblings = pytest.mark.parametrize("name", sorted(FAMILIES))
matrices = pytest.mark.parametrize("name", sorted({*FAMILIES} - {"words"}))  # its rows are bags


def estimated(name, X, y, how=None):
    """Parameters of one block, from the matrix that a family counts."""
    counts = Counts.of(X, y, family=name)
    return families.get(name).estimate(counts.tables[name], how or Settings())


def data(name, seed=0, n=12, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) if name == "gaussian" else rng.integers(0, 2, (n, d))
    return X, rng.integers(0, 3, n)


def encoded(name, X):
    return np.ascontiguousarray(X, dtype=np.int64 if name == "categorical" else np.float64)


# One protocol


def obeys(thing, protocol):
    """Whether all members of a protocol are there: attributes, and functions of its arguments."""
    members = {name: member for name, member in vars(protocol).items() if name[0] != "_"}
    assert members
    for name, member in members.items():
        if isinstance(member, property):
            assert getattr(thing, name) is not None, name
            continue
        found = getattr(type(thing), name)
        assert _arguments(found) == _arguments(member), name
        assert inspect.getdoc(found), name


def _arguments(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@siblings
def test_siblings_obey_one_protocol(name):
    family = families.get(name)
    obeys(family, Family)
    assert family.name == name
    assert family.shape
    assert STATISTICS[family.statistic.name] is family.statistic
    assert inspect.getdoc(type(family))
    X = {"x": ["good film", "bad"]} if name == "words" else {"x": [1, 0]}
    parameters = estimated(name, X, [0, 1])
    obeys(parameters, Parameters)
    assert inspect.getdoc(type(parameters))


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_statistics_obey_one_protocol(name):
    obeys(STATISTICS[name], Statistic)
    assert STATISTICS[name].name == name
    assert inspect.getdoc(type(STATISTICS[name]))


def test_registering_a_name_twice_is_refused():
    class Other(type(families.get("gaussian"))):
        """Another family of that name."""

    families.register(families.get("gaussian"))
    with pytest.raises(ParameterError, match=r"'gaussian' is registered already.* Hint: "):
        families.register(Other())
    assert type(families.get("gaussian")) is not Other


@matrices
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, 3.0])
def test_explanations_add_up_to_the_likelihood(name, method, lam):
    X, y = data(name)
    found = estimated(name, X, y, Settings(method, lam))
    rows = encoded(name, X)
    if name in ("gaussian", "categorical"):
        rows[0, 0] = -1 if name == "categorical" else np.nan
    out = np.zeros((len(X), 3))
    found.add(rows, out)
    parts = found.contributions(rows)
    assert parts.shape == (*X.shape, 3)
    assert not np.isnan(parts).any()
    assert not np.isnan(out).any()
    np.testing.assert_allclose(parts.sum(axis=1), out, rtol=1e-12, atol=1e-12)
    wide, at = np.ones((len(X), 6, 3)), np.array([5, 0, 2, 3])
    found.add_contributions(rows, at, wide)
    np.testing.assert_allclose(wide[:, at], 1 + parts, rtol=1e-12, atol=1e-12)
    assert np.all(wide[:, [1, 4]] == 1)


@matrices
def test_parameters_know_their_columns(name):
    assert estimated(name, *data(name)).n_columns == 4


def test_bags_score_rows_with_few_columns_alike():
    from scipy.sparse import csr_array

    X, y = data("multinomial")
    for name in ("bernoulli", "multinomial", "complement"):
        found = estimated(name, X, y)
        dense, sparse = np.zeros((12, 3)), np.zeros((12, 3))
        found.add(encoded(name, X), dense)
        found.add(csr_array(X.astype(np.float64)), sparse)
        np.testing.assert_allclose(dense, sparse, rtol=1e-13)


# Against the posteriors


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any),
    st.floats(0.01, 20),
)
def test_categorical_is_a_dirichlet(seen, lam):
    cells = Cells.of_values(["x"], [np.arange(len(seen))])
    sums, rows = {"count": DenseSum(np.array([seen], dtype=float))}, np.array([float(sum(seen))])
    table = Table(CATEGORIES, cells, rows, sums)
    posterior = Dirichlet([lam] * len(seen)).update(seen)

    def shares(method):
        found = families.get("categorical").estimate(table, Settings(method, lam))
        return np.exp(found.log_prob[:-1, 0])

    np.testing.assert_allclose(shares("bayes"), posterior.predictive(), rtol=1e-12)
    np.testing.assert_allclose(shares("ml"), np.array(seen) / sum(seen), rtol=1e-12)
    if min(seen) + lam > 1:
        np.testing.assert_allclose(shares("map"), posterior.mode, rtol=1e-9, atol=1e-12)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=8),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.floats(0.1, 10),
)
@settings(max_examples=60, deadline=None)
def test_gaussian_is_a_normal_inverse_gamma(a, b, lam):
    column = np.array([*a, *b])
    if column.std() < 1e-3:
        return
    y = [0] * len(a) + [1] * len(b)
    posterior = NormalInverseGamma(
        loc=column.mean(), kappa=lam, a=lam / 2, b=lam / 2 * column.var()
    ).update(a)
    x = np.array([[-1.0], [0.0], [2.5]])
    bayes = estimated("gaussian", {"x": column}, y, Settings("bayes", lam))
    density = bayes.contributions(x)[:, 0, 0]
    t = posterior.predictive()
    np.testing.assert_allclose(density, t.logpdf(x[:, 0]), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(density, stats.t.logpdf(x[:, 0], t.df, t.loc, t.scale), rtol=1e-8)
    found = estimated("gaussian", {"x": column}, y, Settings("map", lam))
    np.testing.assert_allclose(found.mean[0, 0], posterior.mode.mu, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(1 / found.precision[0, 0], posterior.mode.var, rtol=1e-9)


def test_gaussian_maximum_likelihood_is_mean_and_variance():
    X, y = data("gaussian", n=30)
    found = estimated("gaussian", X, y, GaussianSettings("ml", floor=0.5))
    for c in range(3):
        np.testing.assert_allclose(found.mean[:, c], X[y == c].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(
            1 / found.precision[:, c], X[y == c].var(axis=0) + 0.5, rtol=1e-12
        )
    density = found.contributions(X[:1])[0, :, 1]
    normal = stats.norm(X[y == 1].mean(axis=0), np.sqrt(X[y == 1].var(axis=0) + 0.5))
    np.testing.assert_allclose(density, normal.logpdf(X[0]), rtol=1e-12)


def test_student_keeps_its_accuracy_for_much_data():
    from deciban.families.bell import student_constant

    for df in (1.0, 99.0, 101.0, 1e3, 1e6, 1e12):
        want = stats.norm.logpdf(0) if df > 1e9 else stats.t.logpdf(0, df)
        tolerance = 1e-9 if 1e3 < df < 1e9 else 1e-12
        assert student_constant(np.array(df)) == pytest.approx(want, rel=tolerance)


# By hand


def test_bernoulli_by_hand():
    found = estimated("bernoulli", {"x": [1, 1, 0, 0]}, [0, 0, 0, 1], Settings("bayes", 1.0))
    np.testing.assert_allclose(np.exp(found.present), [[3 / 5, 1 / 3]])
    np.testing.assert_allclose(np.exp(found.absent), [[2 / 5, 2 / 3]])


def test_m5_multinomial_by_hand():
    found = estimated("multinomial", {"x": [2, 0], "z": [1, 3]}, [0, 1], Settings("bayes", 1.0))
    np.testing.assert_allclose(np.exp(found.present), [[3 / 5, 1 / 5], [2 / 5, 4 / 5]])


def test_complement_by_hand():
    found = estimated("complement", {"x": [2, 0], "z": [1, 3]}, [0, 1], Settings("bayes", 1.0))
    np.testing.assert_allclose(found.present, -np.log([[1 / 5, 3 / 5], [4 / 5, 2 / 5]]))


@pytest.mark.parametrize("columns", [{"x": [2, 1]}, {"x": [2, 0], "z": [0, 3]}])
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("y", [[0, 1], [0, 0]])
def test_complement_is_finite_without_smoothing(columns, normalise, y):
    found = estimated(
        "complement", columns, y, ComplementSettings("bayes", 0.0, normalise=normalise)
    )
    assert np.all(np.isfinite(found.present))


@pytest.mark.parametrize("lam", [0.5, [0.5, 2.0]])
def test_smoothing_may_differ_by_column(lam):
    X, y = {"x": ["S", "L"], "z": ["red", "red"]}, [0, 0]
    found = estimated("categorical", X, y, Settings("bayes", lam))
    one, two = np.broadcast_to(lam, 2)
    want = [(1 + one) / (2 + 2 * one)] * 2 + [one / (2 + 2 * one), 1.0, two / (2 + two)]
    np.testing.assert_allclose(np.exp(found.log_prob[:, 0]), want)


# A class without data takes every value to be equally likely


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_data_in_a_column(method):
    """Maximum likelihood has 0 / 0 there, which must not favour the class."""
    X, y = {"x": ["S", "L", None], "z": ["a", "a", "a"]}, [0, 0, 1]
    lam = 1.0 if method == "map" else 0.0
    found = estimated("categorical", X, y, Settings(method, lam))
    np.testing.assert_allclose(np.exp(found.log_prob[:2, 1]), [0.5, 0.5])
    wide = Counts.of({"x": [1]}, [0], family="bernoulli").align(np.array([0, 1]), {})
    absent = families.get("bernoulli").estimate(wide.tables["bernoulli"], Settings("ml"))
    np.testing.assert_allclose(np.exp([absent.present[0, 1], absent.absent[0, 1]]), [0.5, 0.5])


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_numbers_looks_like_the_column(method):
    X, y = {"x": [1.0, 2.0, 4.0, np.nan], "z": [np.nan] * 4}, [0, 0, 0, 1]
    found = estimated("gaussian", X, y, Settings(method, 0.0))
    assert found.mean[0, 1] == pytest.approx(7 / 3)
    assert 1 / found.precision[0, 1] == pytest.approx(np.var([1, 2, 4]))
    out = np.zeros((2, 2))
    found.add(np.array([[np.nan, 1e10], [np.nan, 1e200]]), out)
    np.testing.assert_allclose(out[0], 0.0, atol=1e-300)
    assert not np.isnan(out).any()


# Rows of the teaching texts

X1 = [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]
X2 = [*"SMMSSSMMLLLMMLL"]
Y = [-1, -1, 1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1]


def joints(lam, x=(2, "S"), sizes=None):
    counts = Counts.of({"x1": X1, "x2": X2}, Y)
    how = CategoricalSettings("bayes", lam, sizes=sizes, unseen="smooth")
    fitted = families.get("categorical").estimate(counts.tables["categorical"], how)
    values = counts.tables["categorical"].cells.values
    codes = [[v.tolist().index(a) if a in v else len(v) for v, a in zip(values, x, strict=True)]]
    out = class_prior(counts.weight, lam)[None, :]
    fitted.add(np.array(codes, dtype=np.int64), out)
    return np.exp(out[0])


def test_m4_the_worked_example():
    np.testing.assert_allclose(joints(1.0), [7 / 17 * 3 / 9 * 4 / 9, 10 / 17 * 4 / 12 * 2 / 12])
    np.testing.assert_allclose(joints(1.0).round(4), [0.0610, 0.0327])
    np.testing.assert_allclose(joints(0.0), [1 / 15, 1 / 45])


def test_m3_a_value_never_seen_has_its_share():
    """With S_2 = 4 sizes stated, XL has (0 + 1) / (N_c + 4)."""
    want = [7 / 17 * 3 / 9 * 1 / 10, 10 / 17 * 4 / 12 * 1 / 13]
    np.testing.assert_allclose(joints(1.0, x=(2, "XL"), sizes=[3, 4]), want)
    want = [7 / 17 * 3 / 9 * 4 / 10, 10 / 17 * 4 / 12 * 2 / 13]
    np.testing.assert_allclose(joints(1.0, sizes=[3, 4]), want)


def test_m12_three_estimates_side_by_side():
    shares = {
        method: np.exp(estimated("categorical", {"x2": X2}, Y, Settings(method, 2.0)).log_prob[:3])
        for method in METHODS
    }
    np.testing.assert_allclose(shares["ml"][:, 0], np.array([1, 2, 3]) / 6)  # L, M, S in -1
    np.testing.assert_allclose(shares["map"][:, 0], np.array([2, 3, 4]) / 9)
    np.testing.assert_allclose(shares["bayes"][:, 0], np.array([3, 4, 5]) / 12)


@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "gaussian", "categorical"])
def test_m11_a_hundred_thousand_features(name):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4, 100_000)).astype(np.int64)
    cells = (
        Cells(np.arange(100_000), tuple([np.arange(2)] * 100_000))
        if name == "categorical"
        else Cells.of_columns(100_000)
    )
    rows, y = encoded(name, X), np.array([0, 0, 1, 1])
    family = families.get(name)
    sums = family.statistic.count(rows, y, 2, None, cells)
    table = Table(family.statistic, cells, np.array([2.0, 2.0]), sums)
    found = family.estimate(table, Settings("bayes", 1.0))
    out = np.zeros((4, 2))
    found.add(rows, out)
    assert np.all(np.isfinite(out))
    scores.normalise(out, np.log([0.5, 0.5]))
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert out.argmax(axis=1).tolist() == [0, 0, 1, 1]
