"""Beyond the numbers that were seen, one of them speaks for no more than the rows of its column."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

import deciban
from deciban import AODE, BayesClassifier, NaiveBayes, families
from deciban.families.bell import GaussianSettings
from deciban.families.bounded import MAX_FACTOR_PER_ROW
from deciban.families.rate import PoissonSettings
from deciban.families.von_mises import VonMisesSettings
from deciban.stats.counts import Counts

#: Of each family of curves: settings, numbers of three classes, some that may be of any, and some
#: of which a class is sure to have none.
CURVES = {
    "gaussian": (GaussianSettings, {}, [0] * 40 + [1, 3, 2, 2, 3], [[0.5]], [[2.0], [8.0]]),
    "poisson": (PoissonSettings, {}, [0] * 40 + [1, 4, 2, 7, 7], [[0], [1]], [[500], [58]]),
    "von_mises": (
        VonMisesSettings, {"period": 24.0}, [5] * 40 + [17, 16, 18, 17, 11], [[5.0]], [[17.0]],
    ),
}  # fmt: skip
curves = pytest.mark.parametrize("name", CURVES)
OWN = [0] * 40 + [1] * 4 + [2]


def likelihoods(name, at, x, y, **how):
    """Log likelihoods at some numbers, (numbers, classes), in three ways that must agree."""
    make, more, *_ = CURVES[name]
    table = Counts.of({"x": x}, y, family=name).tables[name]
    found = families.get(name).estimate(table, make(**more, **how))
    X = np.array(at, dtype=np.float64)
    log, each = np.zeros((len(X), 3)), found.contributions(X)[:, 0]
    found.add(X, log)
    np.testing.assert_allclose(*(np.maximum(a, -1e300) for a in (each, log)), rtol=1e-12)
    rows = [np.zeros((1, 3)) for _ in X]
    for x, out in zip(X, rows, strict=True):
        found.add(x[None], out)
    np.testing.assert_allclose(np.concatenate(rows), log, rtol=1e-12)
    return log


@curves
def test_a_number_says_no_more_than_the_rows(name):
    _, _, x, near, far = CURVES[name]
    for at in (near, far):
        free, log = (likelihoods(name, at, x, OWN, bounded=some) for some in (False, True))
        floor = free.max(axis=1, keepdims=True) - np.log(1 + MAX_FACTOR_PER_ROW * 45)
        np.testing.assert_allclose(log, np.maximum(free, floor), rtol=1e-12)
        assert ((np.ptp(free, axis=1) > np.log(451)) == (at is far)).all()
    more = likelihoods(name, far, [*x, x[0]], [*OWN, 0], bounded=True)
    np.testing.assert_allclose(np.ptp(more, axis=1), np.log(461), rtol=1e-12)


@curves
@pytest.mark.parametrize("how", [{"smoothing": 0.0}, {"method": "ml"}, {"method": "map"}])
def test_without_a_prior_or_by_a_point_there_is_no_bound(name, how):
    _, _, x, near, far = CURVES[name]
    with np.errstate(divide="ignore"):
        free, log = (likelihoods(name, near + far, x, OWN, bounded=b, **how) for b in (False, True))
    np.testing.assert_array_equal(log, free)


@curves
def test_the_band_of_a_curve_is_bounded_too(name):
    make, more, x, *_ = CURVES[name]
    table = Counts.of({"x": x}, OWN, family=name).tables[name]
    for bounded, some in ((True, np.less_equal), (False, np.greater)):
        piece = families.get(name).estimate(table, make(**more, bounded=bounded)).curve(0)
        drawn = piece.draws(np.random.default_rng(0), 100)
        most = max(np.ptp(drawn, axis=2).max(), np.ptp(piece.log_likelihood, axis=1).max())
        assert some(most, np.log(451) * (1 + 1e-12)), bounded


ZEROS = {"spots": [0.0] * 300 + [1.0, 2.0, 3.0, 2.0] * 5}, ["well"] * 300 + ["ill"] * 20


@pytest.mark.parametrize("numeric", ["gaussian", "auto"])
def test_what_a_class_never_had_is_not_impossible(numeric):
    """The first spot among 300 rows without: unlikely of those who are well, but no certainty."""
    X, y = ZEROS
    model = NaiveBayes(numeric=numeric, calibrate=False).fit(X, y)
    found = model.explain({"spots": 1.0})
    assert 10 < abs(found.total) < 10 * np.log10(1 + 10 * 320)
    assert found.probability == pytest.approx(model.predict_proba({"spots": [1.0]}).max())


def test_rows_left_out_are_bounded_as_refitting_says():
    X, y = {"x": [0.0, 0, 0, 0, 0, 0, 9, 1, 2, 3, 2]}, list("aaaaaaabbbb")
    options = {"numeric": "gaussian", "calibrate": False, "prior": "uniform"}
    found = NaiveBayes(**options).fit(X, y).leave_one_out(X, y)
    for i, x in enumerate(X["x"]):
        rest = np.arange(len(y)) != i
        model = NaiveBayes(**options).fit({"x": np.array(X["x"])[rest]}, np.array(y)[rest])
        want = np.log(model.predict_proba({"x": [x]})[0])
        np.testing.assert_allclose(found[i], want, rtol=1e-9)
    groups = np.arange(len(y)) // 2
    each = NaiveBayes(**options).fit(X, y).leave_one_out(X, y, groups=np.arange(len(y)))
    np.testing.assert_allclose(each, found, rtol=1e-9)
    by_group = NaiveBayes(**options).fit(X, y, groups=groups).leave_one_out(X, y, groups=groups)
    rest = groups != 3
    model = NaiveBayes(**options).fit({"x": np.array(X["x"])[rest]}, np.array(y)[rest])
    want = np.log(model.predict_proba({"x": [9.0, 1.0]}))
    np.testing.assert_allclose(by_group[~rest], want, rtol=1e-9)


def test_a_row_of_a_stream_is_bounded_too():
    X, y = ZEROS
    at_once = NaiveBayes(numeric="gaussian", calibrate=False).fit(X, y)
    stream = NaiveBayes(numeric="gaussian", calibrate=False)
    for x, label in zip(X["spots"], y, strict=True):
        stream.learn_one({"spots": x}, label)
    for x in (0.0, 1.0, -5.0, 400.0):
        found = list(stream.predict_proba_one({"spots": x}).values())
        want = list(at_once.predict_proba_one({"spots": x}).values())
        np.testing.assert_allclose(found, want, rtol=1e-9)


@pytest.mark.parametrize("kind", [NaiveBayes, AODE, BayesClassifier])
def test_one_absurd_number_does_not_settle_a_row(kind):
    """A wine of each class with one number in a wrong unit is not taken for certain."""
    X, y = load_wine(return_X_y=True)
    model = kind().fit(X, y)
    odd = X[[0, 70, 150]].copy()
    odd[:, 0] *= 1000
    proba = model.predict_proba(odd)
    assert np.isfinite(np.log(proba[np.arange(3), [0, 1, 2]])).all()
    assert -np.log(proba[np.arange(3), [0, 1, 2]]).max() < 9
    assert deciban.evaluate(model, X, y, bootstrap=0).accuracy > 0.97


@pytest.mark.parametrize("absurd", [1e10, 1e160, 1.7e308, -1.7e308])
def test_a_number_whose_square_fits_no_float_leaves_other_columns_their_say(absurd):
    """All classes are impossible at such a number, unless its distance is taken as finite."""
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 45)
    X = {"n": rng.normal(0, 1, 90), "c": np.where(rng.random(90) < 0.8, y, "w")}
    model = NaiveBayes(numeric="gaussian").fit(X, y)
    row = {"n": absurd, "c": "u"}
    p, one = model.predict_proba([row])[0], model.predict_proba_one(row)
    np.testing.assert_allclose(list(one.values()), p)
    of_number, of_text = (term.decibans for term in model.explain(row).terms)
    against = model.evidence([row], against="v")[0, :, 0]
    np.testing.assert_allclose(np.abs(against), np.abs([of_number, of_text]))
    log_odds = 10 * np.log10(p[0] / p[1])
    np.testing.assert_allclose(against.sum() + model.prior_evidence(against="v")[0], log_odds)
    assert against[1] > 10
    assert abs(against[0]) <= 10 * np.log10(1 + MAX_FACTOR_PER_ROW * 90)
