"""Von Mises distributions of cyclic columns: SciPy and refitting are the oracles."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import deciban
from commands import done
from deciban import NaiveBayes, families
from deciban.errors import ModelFileError, ParameterError
from deciban.families.alone import losses_alone
from deciban.families.circle import MAX_CONCENTRATION, TAU, concentrate
from deciban.families.settings import Settings
from deciban.families.von_mises import VON_MISES, VON_MISES_POINTS, VonMisesSettings
from deciban.models.options import Options
from deciban.models.selection import counted_columns
from deciban.stats.counts import Counts

PLAIN = {"smoothing": 1, "calibrate": False}
WIND = {"kinds": {"wind": "cyclic:360"}}


def directions(n, kappa=4.0, seed=0):
    """Winds around 0 and 180 degrees."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.degrees(rng.vonmises(np.pi * y, kappa)) % 360, y


def table(family, x, y, weight=None):
    return Counts.of({"x": x}, y, family=family.name, weight=weight).tables[family.name]


def coded(x):
    """The codes of whole numbers as they are counted, and back."""
    cells = table(VON_MISES_POINTS, x, np.zeros(len(x), dtype=int)).cells
    known = cells.values[0].tolist()
    return np.array([[known.index(value)] for value in x.tolist()], dtype=np.int64)


# Mathematics


def test_it_is_scipys_density():
    x, y = directions(80)
    found = VON_MISES.estimate(table(VON_MISES, x, y), VonMisesSettings("ml", period=360.0))
    at = np.array([[0.0], [90.0], [359.0], [-1.0]])
    for c in range(2):
        kappa, mu, _ = stats.vonmises.fit(np.radians(x[y == c]), fscale=1)
        want = stats.vonmises.logpdf(np.radians(at[:, 0]), kappa, mu) + np.log(TAU / 360)
        np.testing.assert_allclose(found.contributions(at)[:, 0, c], want, rtol=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 1))
def test_the_concentration_has_the_length(length):
    kappa = float(concentrate(np.array(length)))
    assert 0 <= kappa <= MAX_CONCENTRATION
    if kappa < 0.99 * MAX_CONCENTRATION:
        assert special.i1e(kappa) / special.i0e(kappa) == pytest.approx(length, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 359), min_size=1, max_size=12),
    st.integers(-720, 720),
    st.floats(0.1, 5),
)
def test_turning_everything_turns_the_density(values, turn, lam):
    x, y = np.array(values), np.arange(len(values)) % 2
    how = VonMisesSettings("bayes", lam, period=360.0)
    one = VON_MISES.estimate(table(VON_MISES, x, y), how)
    other = VON_MISES.estimate(table(VON_MISES, x + turn, y), how)
    at = np.array([[10.0], [200.0]])
    np.testing.assert_allclose(
        other.contributions(at + turn), one.contributions(at), rtol=1e-5, atol=1e-5
    )


def test_it_is_a_density():
    x, y = directions(50)
    found = VON_MISES.estimate(table(VON_MISES, x, y), VonMisesSettings(period=360.0))
    at = np.arange(0, 360, 0.01)[:, None]
    np.testing.assert_allclose(np.exp(found.contributions(at)).sum(axis=0) * 0.01, 1, rtol=1e-9)


@pytest.mark.parametrize("spread", [0, 1, 3, 11])
def test_points_have_probabilities(spread):
    rng = np.random.default_rng(spread)
    x, y = np.arange(24), np.zeros(24, dtype=int)
    often = np.where((x - 5) % 24 <= spread, rng.integers(50, 100, 24), 1e-9)
    counted = table(VON_MISES_POINTS, x, y, often)
    for lam in (0.0, 1.0):
        found = VON_MISES_POINTS.estimate(counted, VonMisesSettings("bayes", lam, period=24.0))
        shares = np.exp(found.contributions(coded(x)))
        assert shares.sum() == pytest.approx(1)
    assert shares.max() <= 1


def test_the_prior_looks_like_the_whole_column():
    x, y = np.array([10.0, 20, 30, 200]), np.array([0, 0, 0, 1])
    found = VON_MISES.estimate(table(VON_MISES, x, y), VonMisesSettings("map", 2.0, period=360.0))
    a = np.radians(x)
    mean = np.array([np.cos(a).mean(), np.sin(a).mean()])
    both = np.array([np.cos(a[3]), np.sin(a[3])]) + 2 * mean
    assert found.density[0].direction[1] == pytest.approx(np.arctan2(both[1], both[0]))
    kappa = found.density[0].concentration[1]
    assert special.i1(kappa) / special.i0(kappa) == pytest.approx(np.hypot(*both) / 3)


def test_a_class_without_data_looks_like_the_whole_column():
    x, y = np.array([10.0, 20, 40, np.nan]), np.array([0, 0, 1, 2])
    for lam in (0.0, 1.0):
        how = VonMisesSettings("bayes", lam, period=360.0)
        found = VON_MISES.estimate(table(VON_MISES, x, y), how)
        whole = VON_MISES.estimate(table(VON_MISES, x, np.zeros(4, dtype=int)), how)
        at = np.array([[15.0], [np.nan]])
        want = whole.contributions(at)[:, 0, 0]
        np.testing.assert_allclose(found.contributions(at)[:, 0, 2], want, rtol=1e-9)
        assert want[1] == 0


def test_without_any_data_all_directions_are_alike():
    x, y = np.full(3, np.nan), np.array([0, 1, 1])
    found = VON_MISES.estimate(table(VON_MISES, x, y), VonMisesSettings(period=8.0))
    np.testing.assert_allclose(found.contributions(np.array([[3.0]])), -np.log(8))
    assert np.isfinite(found.curve(0).log_likelihood).all()


# Leave-one-out


@pytest.mark.parametrize("method", ["ml", "map", "bayes"])
@pytest.mark.parametrize("family", [VON_MISES, VON_MISES_POINTS])
def test_leaving_one_out_is_refitting(family, method):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 24, 25) if family is VON_MISES_POINTS else rng.uniform(0, 24, 25)
    y, w = np.append(rng.integers(0, 3, 24), 3), rng.integers(1, 4, 25).astype(float)
    how = VonMisesSettings(method, 1.5, period=24.0)
    X = coded(x) if family is VON_MISES_POINTS else x[:, None]
    counted = table(family, x, y, w)
    found = family.estimate(counted, how).leave_one_out(X, y, w)
    for i in range(len(x)):
        less = np.where(np.arange(25) == i, 0.0, w)
        again = family.estimate(table(family, x, y, less), how).contributions(X[i : i + 1])
        np.testing.assert_allclose(found[i], again[0, 0], rtol=1e-7, atol=1e-9)


def test_leaving_one_out_of_many_values_takes_their_keys_away():
    x, y = directions(9000)
    counted = table(VON_MISES, x, y)
    assert counted.cells.drop[0] > 0
    found = VON_MISES.estimate(counted, VonMisesSettings(period=360.0))
    each = found.leave_one_out(x[:, None], y, np.ones(len(x)))
    np.testing.assert_allclose(each, found.contributions(x[:, None])[:, 0], atol=0.05)


def test_the_only_value_leaves_nothing():
    found = VON_MISES.estimate(table(VON_MISES, [3.0], [0]), VonMisesSettings(period=24.0))
    alone = found.leave_one_out(np.array([[3.0]]), np.array([0]), np.ones(1))
    np.testing.assert_allclose(alone, -np.log(24))


# What the counts choose


def test_it_is_chosen_across_the_wrap():
    x, y = directions(400)
    model = NaiveBayes(**WIND).fit({"wind": x}, y)
    choice = model.choices_["wind"]
    assert (choice.family, choice.shape) == ("von_mises", "von_mises")
    assert choice.describe() == "von Mises, period 360"
    assert (
        choice.loss
        < NaiveBayes(numeric="histogram", **WIND).fit({"wind": x}, y).choices_["wind"].loss
    )
    assert choice.loss < NaiveBayes(numeric="gaussian").fit({"wind": x}, y).choices_["wind"].loss
    assert model.predict({"wind": [355.0, 5.0, 175.0, 185.0, -3.0]}).tolist() == [0, 0, 1, 1, 0]
    own, times = y.astype(np.intp), np.ones(len(y))
    rows = model.model_.blocks[0].parameters.leave_one_out(x[:, None], y, times)
    column = np.array([0, len(own)])
    alone = losses_alone(rows, own, times, column, np.bincount(y) + 0.0)
    assert choice.loss == pytest.approx(alone[0])


def test_bins_are_chosen_where_there_are_two_peaks():
    x, y = directions(600)
    turned = np.where(y == 1, x + 180 * (np.arange(600) % 2), x + 90 + 180 * (np.arange(600) % 2))
    chosen = NaiveBayes(**WIND).fit({"wind": turned}, y).choices_["wind"]
    assert chosen.shape == "histogram"


def test_it_is_not_for_other_columns():
    x, y = directions(100)
    for numeric in ("auto", "von_mises"):
        assert NaiveBayes(numeric=numeric).fit({"x": x}, y).choices_["x"].shape != "von_mises"
    chosen = NaiveBayes(numeric="von_mises", **WIND).fit({"wind": x}, y).choices_["wind"]
    assert chosen.shape == "von_mises"


def weather(n=300):
    """Winds, and times around three in the afternoon or around midnight."""
    x, y = directions(n)
    hour = (np.random.default_rng(1).normal(np.where(y == 1, 0, 15), 4.0) % 24).astype(int)
    day = datetime.datetime(2026, 1, 5)
    t = [day + datetime.timedelta(hours=int(h), days=i % 7) for i, h in enumerate(hour)]
    return {"t": t, "wind": x}, y


def test_hours_compete():
    X, y = weather()
    model = NaiveBayes(calibrate=False).fit({"t": X["t"]}, y)
    choice = model.choices_["t (hour)"]
    assert (choice.family, choice.shape) == ("von_mises_points", "von_mises")
    assert choice.describe() == "von Mises, period 24"
    columns = next(counted_columns(model.model_.counts, model.schema_, Options()))
    assert columns.kinds == ["cyclic:24", "cyclic:7"]
    assert choice.loss < families.get("categorical").candidates(columns)[0][0].loss
    assert sorted(model.curve("t (hour)").x) == sorted({v.hour for v in X["t"]})
    assert model.curve("t (weekday)").labels[0] == "Mon"
    late = [datetime.datetime(2026, 1, 7, 23), datetime.datetime(2026, 1, 7, 14)]
    assert model.predict({"t": late}).tolist() == [1, 0]


# Models


def test_files_keep_it(tmp_path):
    X, y = weather()
    X["sky"] = ["clear", "grey"] * (len(y) // 2)
    model = NaiveBayes(**WIND).fit(X, y)
    path = tmp_path / "model.deciban"
    model.save(path)
    back = deciban.load(path)
    assert back.choices_ == model.choices_
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    shown = done("inspect", path)
    assert "cyclic:360" in shown
    assert "von Mises, period 24" in shown


def test_a_choice_needs_a_cyclic_column():
    x, y = directions(100)
    choice = NaiveBayes(numeric="gaussian").fit({"x": x}, y).choices_["x"]
    with pytest.raises(ParameterError, match=r"period must be a number > 0.* Hint: .*cyclic:360"):
        VON_MISES.settings("bayes", [choice])


def test_a_file_whose_column_is_not_cyclic_is_refused():
    from dataclasses import replace

    from deciban.naive_bayes.stored import from_stored, to_stored

    x, y = directions(100)
    model = NaiveBayes(**WIND).fit({"wind": x}, y)
    stored = to_stored(model.model_, {}, None, True)
    assert from_stored(stored).choices == model.choices_
    (column,) = stored.description["columns"]
    changed = {**stored.description, "columns": [{**column, "kind": "numeric"}]}
    with pytest.raises(ModelFileError, match="'wind' is numeric; 'von_mises' is for cyclic ones"):
        from_stored(replace(stored, description=changed))


def test_evidence_adds_up():
    x, y = directions(300)
    model = NaiveBayes(**WIND).fit({"wind": x}, y)
    for wind in (350.0, 100.0, -10.0, np.nan):
        p = np.sort(model.predict_proba({"wind": [wind]})[0])
        why = model.explain({"wind": wind})
        (term,) = why.terms
        assert why.prior + term.decibans == pytest.approx(10 * np.log10(p[1] / p[0]), abs=1e-9)
        assert (term.decibans == 0) == np.isnan(wind)
    curve = model.curve("wind")
    assert curve.kind == "number"
    assert np.all(curve.low <= curve.decibans)
    assert np.all(curve.decibans <= curve.high)


def test_merging_and_forgetting_leave_no_trace():
    X, y = weather()
    first, second = (
        NaiveBayes(**WIND, **PLAIN).fit({k: v[some] for k, v in X.items()}, y[some])
        for some in (slice(100), slice(100, None))
    )
    whole = NaiveBayes(**WIND, **PLAIN).fit(X, y)
    for other in (first + second, second + first, whole + first - first):
        np.testing.assert_array_equal(other.predict_proba(X), whole.predict_proba(X))


def test_rows_without_labels():
    x, y = directions(300)
    some = [int(label) if i < 60 else None for i, label in enumerate(y)]
    model = NaiveBayes(**WIND).fit({"wind": x}, some)
    assert np.all(np.diff(model.likelihood_) >= -1e-9)
    assert np.mean(model.predict({"wind": x}) == y) > 0.95


def test_plain_settings_are_radians():
    x, y = directions(50)
    counted = table(VON_MISES, np.radians(x), y)
    plain = VON_MISES.estimate(counted, Settings("bayes", 1.0))
    stated = VON_MISES.estimate(counted, VonMisesSettings("bayes", 1.0, period=TAU))
    at = np.array([[1.0]])
    np.testing.assert_array_equal(plain.contributions(at), stated.contributions(at))
