"""AODE answers as its formula says: an oracle in plain Python, leave-one-out, evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import AODE, explanation
from internals import discount_prior
from mixed import part, records, table
from pairs import Oracle

values = st.sampled_from(["a", "b", "c", None])


@st.composite
def tables(draw, most=12):
    d = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[values] * d), min_size=2, max_size=most))
    y = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(y), max_size=len(y)))
    return [list(row) for row in rows], y, weight


def frame(rows):
    return {f"x{j}": [row[j] for row in rows] for j in range(len(rows[0]))}


def fitted(rows, y, weight=None, **how):
    kinds = {f"x{j}": "categorical" for j in range(len(rows[0]))}
    how = {"smoothing": 1.0, "calibrate": False, "missing": "skip", "kinds": kinds, **how}
    return AODE(**how).fit(frame(rows), y, sample_weight=weight)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(["skip", "value"]), st.sampled_from([0.3, 1.0, 7.0]))
def test_joints_are_those_of_the_formula(data, missing, m):
    rows, y, weight = data
    model = fitted(rows, y, weight, smoothing=m, missing=missing)
    oracle = Oracle(rows, y, weight, m, missing == "value")
    seen = [*rows, ["new", *rows[0][1:]], [None] * len(rows[0])]
    expected = [oracle.joint(row) for row in seen]
    np.testing.assert_allclose(
        model.predict_joint_log_proba(frame(seen)), expected, rtol=1e-10, atol=1e-10
    )


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from([1.5, 4.0]))
def test_a_parent_needs_support(data, least):
    rows, y, weight = data
    model = fitted(rows, y, weight, support=least)
    expected = [Oracle(rows, y, weight).joint(row, least) for row in rows]
    np.testing.assert_allclose(
        model.predict_joint_log_proba(frame(rows)), expected, rtol=1e-10, atol=1e-10
    )


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from(["skip", "value"]), st.sampled_from([0.3, 1.0, 7.0]))
def test_leaving_a_row_out_is_never_having_counted_it(data, missing, m):
    rows, y, weight = data
    model = fitted(rows, y, weight, smoothing=m, missing=missing)
    oracle = Oracle(rows, y, weight, m, missing == "value")
    found = model.leave_one_out(frame(rows), y, sample_weight=weight)
    for r, row in enumerate(rows):
        joint = np.array(oracle.without(r).joint(row))
        expected = joint - np.logaddexp.reduce(joint)
        np.testing.assert_allclose(found[r], expected, rtol=1e-10, atol=1e-10)


def test_leaving_a_row_out_is_refitting_on_a_mixed_table():
    X, y = table(n=80, n_classes=3)
    model = AODE(smoothing=2, calibrate=False, missing="value").fit(X, y)
    left_out = model.leave_one_out(X, y)
    for r in range(0, 80, 9):
        rest = part(X, y, [i for i in range(80) if i != r])
        other = AODE(smoothing=2, calibrate=False, missing="value", bins=model.bins_).fit(*rest)
        row, _ = part(X, y, [r])
        expected = other.predict_log_proba(row)[0]
        if (
            other.model_.pair_counts.layout == model.model_.pair_counts.layout
        ):  # no value went with the row
            np.testing.assert_allclose(left_out[r], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("how", [{}, {"missing": "skip"}, {"calibrate": False}, {"support": 30}])
@pytest.mark.parametrize("against", [None, "spam"])
def test_evidence_adds_up_to_the_log_odds(how, against):
    X, y = table(n=90, n_classes=3)
    model = AODE(**how).fit(X, y)
    X["size"][0], X["age"][1] = "XXL", 1000
    said = model.evidence(X, against)
    assert said.shape == (90, len(X), 3)
    total = said.sum(axis=1) + model.prior_evidence(against)
    joint = model.predict_joint_log_proba(X)
    at = None if against is None else list(model.classes_).index(against)
    np.testing.assert_allclose(total, explanation.decibans(joint, at), rtol=0, atol=1e-9)


def test_pairs_say_what_no_column_says_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3)).astype(str)
    y = (X[:, 0] == X[:, 1]).astype(int)
    assert np.mean(AODE().fit(X, y).predict(X) == y) == 1.0


def test_a_missing_row_is_the_prior_and_one_class_is_certain():
    X, y = table()
    model = AODE(missing="skip").fit(X, y)
    nothing = {name: [None] for name in X}
    np.testing.assert_allclose(model.predict_log_proba(nothing)[0], model.model_.log_prior)
    alone = AODE().fit(X, ["ham"] * len(y))
    assert set(alone.predict(X)) == {"ham"}
    np.testing.assert_array_equal(alone.predict_proba(X), 1.0)


def test_hundreds_of_columns_do_not_underflow():
    rng = np.random.default_rng(1)
    d = 170
    X = rng.integers(0, 40, (20, d)).astype(str)
    y = np.arange(20) % 2
    model = AODE(smoothing=1, calibrate=False, kinds={f"x{j}": "categorical" for j in range(d)})
    joint = model.fit(X, y).predict_joint_log_proba(X)
    assert np.all(np.isfinite(joint))
    assert joint.min() < -750  # exp of which is 0
    oracle = Oracle(X.tolist(), y.tolist())
    row = X[0].tolist()
    assert joint[0, 1] == pytest.approx(oracle.log_prior(1) + oracle.log_likelihood(row, 1), 1e-11)


def test_decide_and_probabilities_agree():
    X, y = table(n=100, n_classes=3)
    model = AODE().fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    assert None in model.decide(X, abstain=0.01).tolist()


def test_what_is_chosen_has_the_least_leave_one_out_loss():
    X, y = table(n=200, n_classes=2)
    model = AODE().fit(X, y)
    own = np.searchsorted(model.classes_, y)

    def loss(model):
        return -model.leave_one_out(X, y)[np.arange(200), own].mean()

    losses = model.model_.calibration
    judged = losses.loss + discount_prior(200, len(X), 2)
    assert loss(model) == pytest.approx(losses.loss.flat[judged.argmin()] / losses.rows)
    pure = AODE(calibrate=False).fit(X, y)
    assert pure.temperature_ == 1.0
    assert loss(pure) == pytest.approx(losses.loss[:, 92].min() / losses.rows)


def test_every_source_gives_the_same_answers(tmp_path):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, y = table(n=50)
    expected = AODE().fit(X, y).predict_proba(X)
    csv = tmp_path / "rows.csv"
    pd.DataFrame({**X, "label": y}).to_csv(csv, index=False)
    for source in (pd.DataFrame(X), pl.DataFrame(X), records(X)):
        np.testing.assert_allclose(AODE().fit(source, y).predict_proba(source), expected)
    read = AODE().fit(str(csv), target="label")
    assert read.predict_proba(str(csv)).shape == expected.shape
    one_by_one = AODE().fit(iter(records({**X, "label": y})), target="label")
    np.testing.assert_allclose(one_by_one.predict_proba(X), expected)
